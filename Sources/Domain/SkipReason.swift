/// Why a delivery is not sent although no provider refused it. Stored and told by its word.
package enum SkipReason: String, Hashable, Sendable, CaseIterable {
  case tokenKind = "token_kind"
  case kindUnsupported = "kind_unsupported"
  case providerExcluded = "provider_excluded"
  case noCredential = "no_credential"
  case unknownDevice = "unknown_device"
  case deviceDisabled = "device_disabled"
  case deviceDeleted = "device_deleted"
  case holdout
  case quietHours = "quiet_hours"
  case capped
  case attributeMissing = "attribute_missing"
  case noLiveActivityToken = "no_live_activity_token"

  /// The message, the app's settings or the operator asked for it: nothing is to be mended.
  package var isIntended: Bool {
    switch self {
    case .tokenKind, .providerExcluded, .deviceDisabled, .deviceDeleted, .holdout, .quietHours, .capped: true
    case .kindUnsupported, .noCredential, .unknownDevice, .attributeMissing, .noLiveActivityToken: false
    }
  }

  /// In plain words, of one device or of many.
  package var explanation: String {
    switch self {
    case .tokenKind: "tokens of another kind than such a push goes to"
    case .kindUnsupported: "the provider has no such push"
    case .providerExcluded: "not among the message's `providers`"
    case .noCredential: "no credential of the app sends there"
    case .unknownDevice: "no device is registered under this id"
    case .deviceDisabled: "disabled by the app or the operator"
    case .deviceDeleted: "deleted meanwhile"
    case .holdout: "the share that gets nothing, to compare with"
    case .quietHours: "in their quiet hours"
    case .capped: "had as many of this topic as the cap allows"
    case .attributeMissing:
      "lack an attribute that a placeholder without default asks for: `{{name|default}}` reaches them"
    case .noLiveActivityToken: "have told no `live_activity_token`"
    }
  }
}

extension Fate {
  /// Ended before it began, as it is to be skipped.
  package static func skipped(_ reason: SkipReason) -> Fate { .ended(.skipped, reason: reason.rawValue) }
}
