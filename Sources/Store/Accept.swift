package import Domain

package enum Urgency: String, Hashable, Sendable, CaseIterable {
  case urgent
  case bulk
}

/// A validated message with its resolved targets, ready to be stored.
package struct Submission: Sendable {
  package var app: AppID
  /// The accepted request body: what is stored is what was asked for.
  package var body: [UInt8]
  package var kind: Kind
  package var ttl: Int
  package var collapseKey: String?
  package var ordered: Bool
  package var urgency: Urgency
  package var acceptedAt: WallTime
  package var targets: [SubmissionTarget]
  /// `Idempotency-Key` and the SHA-256 of the body.
  package var idempotency: (key: String, digest: [UInt8])?
  package var replayOf: MessageID?
  package init(app: AppID, body: [UInt8], kind: Kind, urgency: Urgency, acceptedAt: WallTime) {
    self.app = app
    self.body = body
    self.kind = kind
    self.urgency = urgency
    self.acceptedAt = acceptedAt
    ttl = Message.defaultTTL
    ordered = true
    targets = []
  }
}

package struct SubmissionTarget: Sendable {
  package var device: DeviceID
  /// True: the address is read from the registry when it is sent. False: a raw token, carried by the job.
  package var registered: Bool
  /// Nil only for an unknown device id, whose fate is `ended`.
  package var address: Address?
  package var fate: Fate
  package init(device: DeviceID, registered: Bool, address: Address?, fate: Fate) {
    self.device = device
    self.registered = registered
    self.address = address
    self.fate = fate
  }
}

package enum Acceptance: Hashable, Sendable {
  case accepted(MessageID)
  /// The idempotency key was used before with this body: the id of then.
  case repeated(MessageID)
  /// … with another body: 422.
  case keyReused
  /// … by a request that is still at work: 409.
  case inProgress
}
