/// What a Live Activity shows next. What is said about it (title, body, sound) is the message's notification.
package struct LiveActivity: Hashable, Sendable {
  /// What becomes of the activity. Only `start` reaches devices that show none yet.
  package enum Event: String, Hashable, Sendable, CaseIterable { case start, update, end }
  package var event: Event
  /// The name by which OneSignal knows the activity; others know it by its token.
  package var activityID: String?
  package var contentState: [JSONMember]
  package var attributesType: String?
  package var attributes: [JSONMember]
  /// UNIX seconds, as all times here.
  package var timestamp: Int64
  package var staleDate: Int64?
  package var dismissalDate: Int64?
  /// Any finite number: the higher of several activities comes first.
  package var relevanceScore: Double?
  /// With `start`: the new activity gets an update token.
  package var inputPushToken: Bool
  /// With `start`: the new activity listens to this broadcast channel.
  package var inputPushChannel: String?
  /// `timestamp`: UNIX seconds. Apple's devices drop an update that is older than the one shown.
  package init(event: Event, contentState: [JSONMember], timestamp: Int64) {
    self.event = event
    self.contentState = contentState
    self.timestamp = timestamp
    attributes = []
    inputPushToken = false
  }
}

/// What has changed, for a File Provider extension.
package struct FileProvider: Hashable, Sendable {
  package var containerIdentifier: String
  package var domain: String?
  /// `domain`: nil for the extension's default domain.
  package init(containerIdentifier: String, domain: String? = nil) {
    self.containerIdentifier = containerIdentifier
    self.domain = domain
  }
}

/// Asks one managed device to report to its server.
package struct MDM: Hashable, Sendable {
  /// The device's own secret word, from its enrolment.
  package var pushMagic: String
  package init(pushMagic: String) { self.pushMagic = pushMagic }
}
