package import Domain

package enum MessageState: String, Hashable, Sendable, CaseIterable {
  case scheduled, queued, sending, paused, completed, cancelled
}

/// Where a delivery stands before it has an outcome.
package enum DeliveryState: String, Hashable, Sendable, CaseIterable {
  case pending, sending, retrying, blocked
}

package struct MessageReport: Sendable {
  package struct Key: Hashable, Sendable {
    package var provider: ProviderName
    package var outcome: Outcome
    package var reason: String?
    package var platform: String?
  }
  package var id: MessageID
  package var app: AppID
  package var kind: Kind
  package var state: MessageState
  package var acceptedAt: WallTime
  package var completedAt: WallTime?
  package var replayOf: MessageID?
  package var total: Int
  /// Final deliveries.
  package var counts: [Key: Int]
  package var retrying: Int
  /// When the first request was made and when the last outcome came, as far as flushed: rate and predicted end follow. Nil
  /// for a direct send that ended at once.
  package var firstAttemptAt: WallTime?
  package var lastOutcomeAt: WallTime?
}

package struct DeliveryReport: Sendable {
  package var device: DeviceID
  package var provider: ProviderName?
  /// A `DeliveryState` or an `Outcome`, as clients see it.
  package var state: String
  package var reason: String?
  package var attempts: [Attempt]
  /// `apns-id`, FCM name, OneSignal id.
  package var providerID: String?
  package var nextAttemptAt: WallTime?
  package var overtaken: Bool
}

package enum Cancellation: Hashable, Sendable {
  case cancelled
  case alreadyCancelled
  case alreadyCompleted
  case unknown
}

package struct QueueStatus: Sendable {
  package var jobs: [StreamID: Int]
  package var retries: Int
  /// Acceptance time of the oldest job.
  package var oldest: WallTime?
  /// Jobs, retries and parts that could not be read, ever; their deliveries ended as `failed: corrupt_record` where it
  /// was known which they were.
  package var quarantined: Int
}
