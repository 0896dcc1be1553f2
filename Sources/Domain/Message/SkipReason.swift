/// Why a delivery is not sent although no provider refused it. Stored and told by its word.
package enum SkipReason: String, Hashable, Sendable, CaseIterable {
  case tokenKind = "token_kind"
  case kindUnsupported = "kind_unsupported"
  case providerExcluded = "provider_excluded"
  case noCredential = "no_credential"
  case unknownDevice = "unknown_device"
  case deviceDisabled = "device_disabled"
  case deviceDeleted = "device_deleted"
  case moved
  case holdout
  case quietHours = "quiet_hours"
  case capped
  case attributeMissing = "attribute_missing"
  case noLiveActivityToken = "no_live_activity_token"

  /// The message, the app's settings or the operator asked for it: nothing is to be mended.
  package var isIntended: Bool {
    switch self {
    case .tokenKind, .providerExcluded, .deviceDisabled, .deviceDeleted, .moved, .holdout, .quietHours, .capped: true
    case .kindUnsupported, .noCredential, .unknownDevice, .attributeMissing, .noLiveActivityToken: false
    }
  }

  /// A push of this kind cannot go to the device. An audience selects devices by what is known of them, and not by what
  /// can go to them: of its members this is no fault.
  package var isOfKind: Bool { [.tokenKind, .kindUnsupported, .noLiveActivityToken].contains(self) }

  /// In plain words, of one device or of many.
  package var explanation: String {
    switch self {
    case .tokenKind: "the token is of another kind than this kind of push needs"
    case .kindUnsupported: "the provider does not support this kind of push"
    case .providerExcluded: "`providers` leaves this provider out"
    case .noCredential: "no credential of the app serves this address"
    case .unknownDevice: "no device is registered under this id"
    case .deviceDisabled: "the device is registered with `enabled: false`"
    case .deviceDeleted: "the device was deleted after the message was accepted"
    case .moved: "the device's token is now registered under another device id"
    case .holdout: "the device is in the holdout, which gets nothing"
    case .quietHours: "the device is in its quiet hours"
    case .capped: "the device has had as many messages of this topic as the cap allows"
    case .attributeMissing:
      "the device lacks an attribute of a placeholder without default: give a default, `{{name|default}}`"
    case .noLiveActivityToken: "the device has no `live_activity_token`"
    }
  }
}

extension Route {
  /// Ended before it began, as it is to be skipped.
  package static func skipped(_ reason: SkipReason) -> Route { .ended(.skipped, reason: reason.rawValue) }
}
