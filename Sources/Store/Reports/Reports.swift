package import Domain

/// How a message stands as a whole. `completed` and `cancelled` are final.
package enum MessageState: String, Hashable, Sendable, CaseIterable {
  case scheduled, queued, sending, paused, completed, cancelled
}

/// Where a delivery stands before it has an outcome.
package enum DeliveryState: String, Hashable, Sendable, CaseIterable {
  case pending, sending, retrying, blocked
}

/// What is known of a message: its settings, and how many of its deliveries stand where.
package struct MessageReport: Sendable {
  /// What deliveries are counted by.
  package struct Key: Hashable, Sendable {
    package var provider: ProviderName
    package var outcome: Outcome
    package var reason: String?
    package var platform: String?
    /// Of what was to be sent, where the message has variants.
    package var variant: String?
  }
  package var id: MessageID
  package var app: AppID
  package var kind: Kind
  package var state: MessageState
  package var acceptedAt: WallTime
  package var completedAt: WallTime?
  /// Of a message that was scheduled: when it starts, or did, or would have if it had not been cancelled. Of one for local
  /// times: when its first device gets it, as far as was known when that was looked at last.
  package var startsAt: WallTime?
  /// The zone of that device; nil: not known.
  package var startsAtZone: String?
  /// … and the time that each device's own clock shows then.
  package var startsAtLocal: LocalTime?
  /// While it may still be changed: one more with each change.
  package var version: Int?
  package var replayOf: MessageID?
  /// Its replays and the replays of these, a hundred at most, oldest first. Told of a single message only.
  package var replayedBy: [MessageID] = []
  /// The draft that became it, or that it tried out.
  package var draftOf: DraftID?
  package var testOf: DraftID?
  package var total: Int
  /// Final deliveries.
  package var counts: [Key: Int]
  package var retrying: Int
  /// Not final, of credentials that something stands against. Told of a single message only.
  package var waits: [CredentialWait] = []
  /// Never attempted, and waiting for quiet hours to end or for a local time. Told of a single message only.
  package var delay: Delay?
  /// When the first request was made and when the last outcome came, as far as flushed: rate and predicted end follow. Nil
  /// for a direct send that ended at once.
  package var firstAttemptAt: WallTime?
  package var lastOutcomeAt: WallTime?
  /// Of a paused message.
  package var pausedAt: WallTime?
  package var pausedReason: String?
  /// The pace that it keeps; nil: none.
  package var ratePerSecond: Int?
  package var labels = Labels()
  /// How its devices are shared out; nil: everyone gets the same.
  package var split: VariantSplit?
}

extension MessageReport {
  /// Held up by a blocked credential: by its reason.
  package var blocked: [String: Int] {
    waits.filter(\.condition.blocks).reduce(into: [:]) { $0[$1.condition.reason, default: 0] += $1.count }
  }
}

/// Deliveries of a message that were never attempted, as their time has not come.
package struct Delay: Hashable, Sendable {
  package var count = 0
  /// `quiet_hours` or `local_time`.
  package var reason: String
  /// When the first and the last of them may go. Nil: not known. Nobody knows the last while some parts of an audience
  /// have not decided their members; of very many single deliveries the times are not read.
  package var first: WallTime?
  package var last: WallTime?
}

/// Deliveries of a message that wait, and what stands against their credential.
package struct CredentialWait: Hashable, Sendable {
  package var credential: CredentialID
  package var condition: CredentialCondition
  /// Those that have not begun.
  package var count: Int
  /// Those that wait for a retry.
  package var retrying = 0
}

/// What is known of one delivery, finished or not.
package struct DeliveryReport: Sendable {
  /// Empty: a member of an audience that was deleted since.
  package var device: DeviceID
  package var provider: ProviderName?
  /// As it was when the message was accepted, or its audience started.
  package var platform: String?
  /// What the device gets of a message with variants; nil also in the holdout, and of what ended before it began.
  package var variant: String?
  /// A `DeliveryState` or an `Outcome`, as clients see it.
  package var state: String
  package var reason: String?
  /// Of successes of an audience only where receipts are kept.
  package var attempts: AttemptLog
  /// What the provider called it: FCM name, OneSignal id.
  package var providerID: String?
  /// The id under which it was requested, or its slice: APNs' `apns-id`, OneSignal's idempotency key. Derived, so that it is
  /// known of every delivery that was requested.
  package var requestID: UUIDBytes?
  package var nextAttemptAt: WallTime?
  package var overtaken: Bool
  /// Of an audience's success without a record of its own: when its partition had its first attempt and its last
  /// outcome.
  package var attemptedBetween: ClosedRange<WallTime>? = nil
  /// The device's, as it is registered now; nil also where nobody asked for it.
  package var user: String? = nil
  /// Which device has its token now, where it was skipped as that has moved; nil also where nobody asked for it.
  package var movedTo: DeviceID? = nil
}

/// Which deliveries to list; nil: any.
package struct DeliveryFilter: Hashable, Sendable {
  /// `DeliveryState`s or `Outcome`s, as clients see them.
  package var states: Set<String>?
  package var reason: String?
  package var provider: ProviderName?
  /// Empty: none was given.
  package var platform: String?
  package var variant: String?
  /// Any delivery.
  package init() {}

  func takes(_ provider: ProviderName?, _ platform: String?) -> Bool {
    (self.provider == nil || self.provider == provider) && (self.platform ?? platform ?? "") == (platform ?? "")
  }
  func takes(_ report: DeliveryReport) -> Bool {
    takes(report.provider, report.platform) && (variant == nil || variant == report.variant)
      && states?.contains(report.state) != false
      && (reason == nil || reason == report.reason)
  }
}

/// What is stored and not finished, of all partitions.
package struct QueueStatus: Sendable {
  package var jobs: [StreamID: Int]
  package var retries: Int
  /// Acceptance time of the oldest job of each.
  package var oldestByStream: [StreamID: WallTime] = [:]
  /// … and of all.
  package var oldest: WallTime?
  /// Jobs, retries and parts that could not be read, ever; their deliveries ended as `failed: corrupt_record` where it
  /// was known which they were.
  package var quarantined: Int
}
