package import Domain

/// Which of a credential's two streams a message joins. Urgent work is claimed before bulk (design D7).
package enum Urgency: String, Hashable, Sendable, CaseIterable {
  case urgent
  case bulk
}

/// A validated message with its resolved targets, ready to be stored.
package struct Submission: Sendable {
  package var app: AppID
  /// The accepted request body: what is stored is what was asked for.
  package var body: [UInt8]
  /// What was read of `body`, for a worker in the same process.
  package var message: Message?
  package var kind: Kind
  package var ttl: Int
  package var collapseKey: String?
  package var ordered: Bool
  package var urgency: Urgency
  package var acceptedAt: WallTime
  package var targets: [SubmissionTarget]
  /// Instead of targets: the message is aimed when it starts.
  package var audience: SubmissionAudience?
  /// Keep the provider's id and the times of attempts of an audience's successes as well.
  package var keepReceipts = false
  /// Its content is kept after its end, whatever becomes of it: it went to an audience, also if that was so small that its
  /// members are targets here.
  package var keepsContent = false
  /// `Idempotency-Key` and the SHA-256 of the body.
  package var idempotency: (key: String, digest: [UInt8])?
  package var labels = Labels()
  /// When that key ends, in milliseconds of Redis' clock; known once it is reserved.
  var keyedUntil: Int64?
  /// Its only target is a raw token, and nobody has looked yet whether a device is registered with it: if one may be, the
  /// message is not stored (`mayBeRegistered`). Not together with an idempotency key.
  package var asksOwner = false
  package var replayOf: MessageID?
  /// The draft that is sent, or that is tried out.
  package var draftOf: DraftID?
  package var testOf: DraftID?
  /// Chosen before, so that a repeated request stores nothing twice.
  package var id: MessageID?
  /// Deliveries a second; told by its report.
  package var ratePerSecond: Int?
  /// Nil: it goes on however many fail.
  package var errorBrake: ErrorBrake?
  /// Of Redis, that must have it before it counts as accepted.
  package var replicas = 0
  /// How its devices are shared out: in the holdout nothing is sent.
  package var shares: VariantShares?
  /// What decides who gets which variant, where that is another message: one that is sent again.
  package var sharedAs: MessageID?
  /// Absent: at once.
  package var schedule: Schedule?
  /// The rest is as for a direct send to nobody: the caller sets targets or an audience.
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

extension Submission {
  /// Deliveries that it makes.
  var count: Int { audience?.counts.values.reduce(0, +) ?? targets.count }
}

/// An audience that was resolved and counted.
package struct SubmissionAudience: Hashable, Sendable {
  /// Canonical, without named audiences.
  package var expression: String
  package var reach: Reach
  /// Members by partition when it was counted. Each of these partitions gets a part; a message for later names all of
  /// them, as members may come until then.
  package var counts: [Int: Int]
  /// `counts`: by partition; a partition that is missing has no member now.
  package init(expression: String, reach: Reach, counts: [Int: Int]) {
    self.expression = expression
    self.reach = reach
    self.counts = counts
  }
}

/// One device or raw token of a direct send, with what was decided about it.
package struct SubmissionTarget: Sendable {
  package var device: DeviceID
  /// True: the address is read from the registry when it is sent. False: a raw token, carried by the job.
  package var registered: Bool
  /// Nil only for an unknown device id, whose route is `ended`.
  package var address: Address?
  package var route: Route
  /// As registered; counted by it.
  package var platform: String?
  /// A registered device's address is read again when it is sent: the one given here only tells the route.
  package init(device: DeviceID, registered: Bool, address: Address?, route: Route, platform: String? = nil) {
    self.device = device
    self.registered = registered
    self.address = address
    self.route = route
    self.platform = platform
  }
}

/// What came of a submission. Only `accepted`, and an `unconfirmed` that is no repetition, have stored a message.
package enum Acceptance: Hashable, Sendable {
  case accepted(MessageID)
  /// The primary has it, and it is sent unless that is lost first; so many replicas of those asked for had it when the
  /// time was over. Repeating it with the same idempotency key asks once more, and makes no second message of one that
  /// is there.
  case unconfirmed(MessageID, replicas: Int, isRepeated: Bool)
  /// The idempotency key was used before with this body: the id of then.
  case repeated(MessageID)
  /// … with another body: 422.
  case keyReused
  /// … by a request that is still at work: 409.
  case inProgress
  /// Nothing was stored: who has the token of a message that `asksOwner` must be looked up first.
  case mayBeRegistered
}
