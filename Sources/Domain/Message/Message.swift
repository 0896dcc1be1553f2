/// One normalized send, valid in every field that its kind allows. Made by Intake only.
///
/// Copies share their fields: handing a message on costs one reference. To change a field copies all of them.
package struct Message: Hashable, Sendable {
  /// The same object in all copies.
  package private(set) var shared: Shared

  /// Takes the fields as they are: Intake has checked them.
  package init(_ fields: Fields) { shared = Shared(fields) }
  /// A message with the defaults of `Fields`.
  package init(to: Recipients, kind: Kind) { self.init(Fields(to: to, kind: kind)) }

  /// All of them, to be changed together.
  package var fields: Fields { shared.fields }

  mutating func change(_ body: (inout Fields) -> Void) {
    var fields = shared.fields
    body(&fields)
    shared = Shared(fields)
  }

  /// What copies of a message have in common.
  package final class Shared: Hashable, Sendable {
    package let fields: Fields
    fileprivate init(_ fields: Fields) { self.fields = fields }
    /// The same object, or equal fields: comparing copies costs nothing.
    package static func == (one: Shared, other: Shared) -> Bool { one === other || one.fields == other.fields }
    package func hash(into hasher: inout Hasher) { fields.hash(into: &hasher) }
  }

  /// Seconds, 3 days: of kinds that allow as much (`Kind.defaultTTL`).
  package static let defaultTTL = 259_200
  /// Milliseconds. `ttl: 0` means one attempt at once; this is how long "at once" may take.
  package static let atOnce: Int64 = 10_000
  /// Seconds, 28 days: the longest that FCM keeps a message.
  package static let maximumTTL = 2_419_200
  /// Bytes of a name, also of a draft's.
  package static let longestName = 128
  /// Deliveries a second.
  package static let maximumRate: Int64 = 1_000_000
}

extension Message {
  /// What a message says. A value of its own while it is read; a `Message` afterwards.
  package struct Fields: Hashable, Sendable {
    package var to: Recipients
    package var kind: Kind
    package var notification: Notification?
    /// The members of `data`: beside `aps` on APNs, JSON text for non-strings on FCM.
    package var data: [JSONMember]
    package var contentAvailable: Bool
    /// Absent: set only where an image, buttons or an encrypted body ask for it.
    package var mutableContent: Bool?
    /// Text that only the app can read: its service extension puts it in place of what the notification says. Carried as it
    /// is, under the key `encrypted_body`.
    package var encryptedBody: String?
    /// Of kind `live_activity` only, and always there. Its alert is `notification`.
    package var liveActivity: LiveActivity?
    /// Of kind `file_provider` only.
    package var fileProvider: FileProvider?
    /// Of kind `mdm` only.
    package var mdm: MDM?
    /// Absent: as the kind has it, `effectivePriority`.
    package var priority: Priority?
    /// Seconds from the start of sending, 0…2,419,200.
    package var ttl: Int
    package var collapseKey: String?
    package var ordered: Bool
    /// Absent: every provider.
    package var providers: [ProviderName]?
    /// Of an audience.
    package var reach: Reach
    /// Of an audience.
    package var oneSignalTargeting: OneSignalTargeting
    /// Keep the provider's id and the times of attempts of an audience's successes too.
    package var keepReceipts: Bool
    /// Replicas of Redis that have it before it is accepted; absent: as the app has it.
    package var replicas: Int?
    /// Deliveries a second; nil: as fast as it goes.
    package var ratePerSecond: Int?
    /// Absent: as the app has it. A share of 0: none.
    package var errorBrake: ErrorBrake?
    package var labels: [JSONMember]
    /// What people call it; no provider is told.
    package var name: String?
    /// Names the send in the vendors' own reports.
    package var analyticsLabel: String?
    package var overrides: Overrides
    /// Absent: at once.
    package var sendAt: SendTime?
    package var quietHours: MessageQuietHours
    package var cap: Cap?
    /// With them nobody gets `notification` and `data` as they stand here: each variant has its own.
    package var variants: [Variant]
    /// Hundredths of a percent of the devices that get nothing.
    package var holdout: Int

    /// As a request that says nothing else has them. The reader puts the kind's own `ttl` in place of `defaultTTL`.
    package init(to: Recipients, kind: Kind) {
      self.to = to
      self.kind = kind
      data = []
      contentAvailable = false
      ttl = Message.defaultTTL
      ordered = true
      reach = .allDevices
      oneSignalTargeting = .fanfare
      keepReceipts = false
      labels = []
      overrides = Overrides()
      quietHours = .ofApp
      variants = []
      holdout = 0
    }
  }
}

/// Whom a message is for: one of these ways. The first three are bounded by `limits.targets`, the others by nothing.
package enum Recipients: Hashable, Sendable {
  case devices([DeviceID])
  case users([String])
  case tokens([Address])
  /// An expression over tags and facts in its canonical form; it may name audiences.
  case audience(String)
  /// A broadcast channel: an address of kind `channel`. For updates and ends of Live Activities only.
  case channel(Address)
  case everyone
}

/// What a client adds to one provider's request in that provider's own words; merged last, never checked for sense, only
/// for safety (no header injection, no reserved names).
package struct Overrides: Hashable, Sendable {
  /// Members merged into `aps`, and request headers, lower-case names.
  package var aps: [JSONMember] = []
  package var apnsHeaders: [JSONMember] = []
  /// Members of FCM's `android`, `webpush` and `apns` blocks, merged deeply.
  package var fcmAndroid: [JSONMember] = []
  package var fcmWebpush: [JSONMember] = []
  package var fcmAPNs: [JSONMember] = []
  /// FCM checks the message and that the token still exists, and delivers nothing.
  package var fcmValidateOnly = false
  /// Members of OneSignal's create-notification body.
  package var oneSignal: [JSONMember] = []
  /// No provider's request is changed.
  package init() {}
}
