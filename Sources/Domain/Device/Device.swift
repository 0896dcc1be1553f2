/// What a token is for. A message reaches only tokens whose kind fits its own. An open set for readers, closed at
/// intake.
package enum TokenKind: String, Hashable, Sendable, CaseIterable {
  case device
  case fid
  case voip
  case pushToStart = "push_to_start"
  case activity
  case location
  case fileProvider = "file_provider"
  case complication
  case widgets
  case controls
  case pushToTalk = "push_to_talk"
  case mdm
  /// A broadcast channel of Live Activities: no device's own, aimed at by `to.channel` only.
  case channel
  /// All subscribers that a provider finds by its own filters; the token is those filters as JSON. No device's own,
  /// aimed at by an audience that the provider aims itself.
  case subscribers

  /// True if a device can be registered by such a token.
  package var isOfDevice: Bool { self != .channel && self != .subscribers }
}

/// Which of APNs' two worlds a token belongs to; other providers have only `production`.
package enum Environment: String, Hashable, Sendable, CaseIterable {
  case production
  case sandbox
}

/// All that is needed to aim one request: the token and what it is bound to.
package struct Address: Hashable, Sendable {
  package var provider: ProviderName
  /// The vendor's own opaque text, as registered (APNs: lower-case hex). Never logged whole.
  package var token: String
  package var tokenKind: TokenKind
  package var environment: Environment
  /// What the token is bound to. APNs: the app; nil: the credential's default topic. Else what the token itself says,
  /// as a browser's push service (`TokenRules.Token`).
  package var bundleID: String?
  /// Beside the token of a device: the token of its Live Activity, or of starting one (FCM).
  package var liveActivityToken: String?

  /// Nothing is checked: `token` has been read by the provider's `TokenRules`.
  package init(
    provider: ProviderName, token: String, tokenKind: TokenKind = .device, environment: Environment = .production,
    bundleID: String? = nil, liveActivityToken: String? = nil
  ) {
    self.provider = provider
    self.token = token
    self.tokenKind = tokenKind
    self.environment = environment
    self.bundleID = bundleID
    self.liveActivityToken = liveActivityToken
  }
}

/// One provider token of one app with its facts and tags (design: registry).
package struct Device: Hashable, Sendable {
  package var id: DeviceID
  package var address: Address
  package var platform: String?
  package var appVersion: String?
  /// A BCP 47 tag, as the app gave it.
  package var language: String?
  /// An IANA zone name.
  package var timeZone: String?
  package var user: String?
  package var tags: [String]
  /// Values are strings, numbers or booleans.
  package var attributes: [JSONMember]
  package var enabled: Bool
  /// What its notifications may do; empty: not told.
  package var permissions = Permissions()
  package var liveActivityToken: String? {
    get { address.liveActivityToken }
    set { address.liveActivityToken = newValue }
  }
  package var activityID: String?
  /// When the app last said that this token is its own: the 410 rule compares with it.
  package var registeredAt: WallTime
  package var lastSeen: WallTime?

  /// `enabled`, without tags and facts: the caller sets what it knows.
  package init(id: DeviceID, address: Address, registeredAt: WallTime) {
    self.id = id
    self.address = address
    self.registeredAt = registeredAt
    tags = []
    attributes = []
    enabled = true
  }
}

/// Why and when a device was pruned; it keeps this until it registers again or retention ends.
package struct Tombstone: Hashable, Sendable {
  /// The vendor's own word (`Unregistered`), or `movedPrefix` with the id of the device that the token moved to.
  package var reason: String
  /// What the reason of a token begins with that is now another device's.
  package static let movedPrefix = "moved:"
  package var at: WallTime
  /// Through which credential and by which message the provider said so; nil where nobody did.
  package var credential: CredentialID?
  package var message: MessageID?
  package init(reason: String, at: WallTime, credential: CredentialID? = nil, message: MessageID? = nil) {
    self.reason = reason
    self.at = at
    self.credential = credential
    self.message = message
  }

  /// The reason of a device whose token is registered under another id now.
  package static func moved(to owner: DeviceID) -> String { movedPrefix + owner.rawValue }

  /// The provider says nothing against the token: it is registered under another id.
  package var isMoved: Bool { reason.hasPrefix(Self.movedPrefix) }
  /// Which one; nil: its token has not moved.
  package var newOwner: DeviceID? {
    isMoved ? DeviceID(rawValue: String(reason.dropFirst(Self.movedPrefix.count))) : nil
  }
  /// Why a delivery to the device is not sent. It names no other device: counters are kept by reason.
  package var deliveryReason: String { isMoved ? SkipReason.moved.rawValue : reason }
}
