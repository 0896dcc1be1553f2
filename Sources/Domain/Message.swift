/// One normalized send, valid in every field that its kind allows (design section 4). Made by Intake only.
package struct Message: Hashable, Sendable {
  package var to: Recipients
  package var kind: Kind
  package var notification: Notification?
  /// The members of `data`: beside `aps` on APNs, JSON text for non-strings on FCM.
  package var data: [JSONMember]
  package var contentAvailable: Bool
  /// Absent: set only where an image asks for it.
  package var mutableContent: Bool?
  package var liveActivity: LiveActivity?
  /// Absent: high for alerts, normal for background messages.
  package var priority: Priority?
  /// Seconds from the start of sending, 0…2,419,200.
  package var ttl: Int
  package var collapseKey: String?
  package var ordered: Bool
  /// Absent: every provider.
  package var providers: [ProviderName]?
  /// Of an audience.
  package var reach: Reach
  package var labels: [JSONMember]
  package var overrides: Overrides

  package static let defaultTTL = 259_200
  package static let maximumTTL = 2_419_200

  package init(to: Recipients, kind: Kind) {
    self.to = to
    self.kind = kind
    data = []
    contentAvailable = false
    ttl = Self.defaultTTL
    ordered = true
    reach = .allDevices
    labels = []
    overrides = Overrides()
  }
}

package enum Kind: String, Hashable, Sendable, CaseIterable {
  case alert
  case background
  case liveActivity = "live_activity"
  case voip
  case location
  case complication
  case fileProvider = "file_provider"
  case mdm
  case pushToTalk = "push_to_talk"
  case widgets
  case controls
}

package enum Priority: String, Hashable, Sendable, CaseIterable {
  case high
  case normal
  /// APNs: never wakes the device. Elsewhere the same as normal.
  case low
}

package enum Recipients: Hashable, Sendable {
  case devices([DeviceID])
  case users([String])
  case tokens([Address])
  /// An expression over tags; accepted by a later version.
  case audience(String)
  case channel(String)
  case everyone
}

/// What a person sees or hears. Every part is optional; a provider carries what it can.
package struct Notification: Hashable, Sendable {
  package var title: String?
  package var subtitle: String?
  package var body: String?
  /// An https URL.
  package var image: String?
  package var link: String?
  package var category: String?
  package var threadID: String?
  package var badge: Int?
  package var sound: Sound?
  package var interruptionLevel: InterruptionLevel?
  /// 0…1
  package var relevanceScore: Double?
  package var titleKey: String?
  package var titleArgs: [String] = []
  package var subtitleKey: String?
  package var subtitleArgs: [String] = []
  package var bodyKey: String?
  package var bodyArgs: [String] = []
  package var launchImage: String?
  package var targetContentID: String?
  package var filterCriteria: String?
  package var androidChannel: String?
  package var icon: String?
  /// `#rrggbb`
  package var color: String?
  package var buttons: [Button] = []
  package var localized: [LocalizedText] = []

  package init() {}
}

package struct Sound: Hashable, Sendable {
  package var name: String
  package var critical: Bool
  /// 0…1
  package var volume: Double?
  package init(name: String, critical: Bool = false, volume: Double? = nil) {
    self.name = name
    self.critical = critical
    self.volume = volume
  }
}

package enum InterruptionLevel: String, Hashable, Sendable, CaseIterable {
  case passive
  case active
  case timeSensitive = "time-sensitive"
  case critical
}

package struct Button: Hashable, Sendable {
  package var id: String
  package var text: String
  package var icon: String?
  package var url: String?
  package init(id: String, text: String, icon: String? = nil, url: String? = nil) {
    self.id = id
    self.text = text
    self.icon = icon
    self.url = url
  }
}

/// The texts of a notification in one language (a BCP 47 tag).
package struct LocalizedText: Hashable, Sendable {
  package var language: String
  package var title: String?
  package var subtitle: String?
  package var body: String?
  package init(language: String, title: String? = nil, subtitle: String? = nil, body: String? = nil) {
    self.language = language
    self.title = title
    self.subtitle = subtitle
    self.body = body
  }
}

package struct LiveActivity: Hashable, Sendable {
  package enum Event: String, Hashable, Sendable, CaseIterable { case start, update, end }
  package var event: Event
  package var contentState: [JSONMember]
  package var attributesType: String?
  package var attributes: [JSONMember]
  /// UNIX seconds, as all times here.
  package var timestamp: Int64
  package var staleDate: Int64?
  package var dismissalDate: Int64?
  package init(event: Event, contentState: [JSONMember], timestamp: Int64) {
    self.event = event
    self.contentState = contentState
    self.timestamp = timestamp
    attributes = []
  }
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
  /// Members of OneSignal's create-notification body.
  package var oneSignal: [JSONMember] = []
  package init() {}
}
