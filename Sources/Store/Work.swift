package import Domain

/// A partition owned by this process: proof and deadline (design D5). Held by the worker, passed to all that writes.
package struct Lease: Hashable, Sendable {
  package var partition: Int
  package var epoch: Int64
  package var nonce: UInt64
  /// Monotonic; three quarters of the lease after the request for it was sent. No write to a socket after it.
  package var deadline: Instant
}

/// A stream of jobs: one per partition, credential and urgency, existing only while it holds some.
package struct StreamID: Hashable, Sendable {
  package var partition: Int
  package var credential: CredentialID
  package var urgency: Urgency
}

package struct JobID: Hashable, Sendable {
  package var stream: StreamID
  /// Ascending within a partition over all its streams: the order of acceptance.
  package var sequence: UInt64
}

/// Names a delivery: a message and the place of the target in the partition's list.
package struct DeliveryID: Hashable, Sendable {
  package var message: MessageID
  package var partition: Int
  package var index: Int
}

/// A job as claimed: only targets that still need work.
package struct ClaimedJob: Sendable {
  package var id: JobID
  package var message: MessageID
  package var targets: [ClaimedTarget]
}

package struct ClaimedTarget: Sendable {
  package var delivery: DeliveryID
  package var device: DeviceID
  package var credential: CredentialID
  /// Order of acceptance within the partition.
  package var sequence: UInt64
  /// Read now. Nil: the device is gone, `gone` says why (`device_deleted`, a tombstone's reason).
  package var address: Address?
  package var gone: String?
  /// Attempts already made and flushed.
  package var attempts: [Attempt]
  /// The stored slice it belongs to, if one was stored before (OneSignal): it goes again with the same members and key.
  package var slice: StoredSlice?
}

/// One request for a delivery, as kept.
package struct Attempt: Hashable, Sendable {
  package var at: WallTime
  /// `accepted`, `retry` … (`Verdict.word`)
  package var verdict: String
  package var reason: String?
  /// HTTP status; 0 without an answer.
  package var status: Int
  package init(at: WallTime, verdict: String, reason: String?, status: Int) {
    self.at = at
    self.verdict = verdict
    self.reason = reason
    self.status = status
  }
}

/// The members of one OneSignal request, stored before its first attempt, never changed (design D17).
package struct StoredSlice: Hashable, Sendable {
  package var message: MessageID
  package var partition: Int
  package var number: Int
  /// 0, then one more for each set of members refused by name.
  package var revision: Int
  package var members: [Int]
}

/// The message of claimed jobs.
package struct StoredMessage: Sendable {
  package var id: MessageID
  package var app: AppID
  package var body: [UInt8]
  package var acceptedAt: WallTime
  /// Sending starts with acceptance until scheduling exists.
  package var startedAt: WallTime
  package var cancelled: Bool
}

/// Outcomes of one partition, written together (design D9).
package struct Flush: Sendable {
  package var lease: Lease
  /// One more than the flush before under this lease; a repeated one has no effect.
  package var number: UInt64
  package var finals: [Final] = []
  package var retries: [RetryEntry] = []
  /// Jobs each of whose deliveries is final or in the retry set by the end of this flush.
  package var finishedJobs: [JobID] = []
  package var prunes: [Prune] = []
  package init(lease: Lease, number: UInt64) {
    self.lease = lease
    self.number = number
  }

  package struct Final: Sendable {
    package var delivery: DeliveryID
    package var device: DeviceID
    package var provider: ProviderName
    package var outcome: Outcome
    package var reason: String?
    /// The provider's own id (FCM name, OneSignal id).
    package var providerID: String?
    /// Attempts since the claim; earlier ones are kept already.
    package var attempts: [Attempt]
    /// Later ones passed it while it waited (design D6).
    package var overtaken: Bool
    package init(
      delivery: DeliveryID, device: DeviceID, provider: ProviderName, outcome: Outcome, reason: String?,
      providerID: String? = nil, attempts: [Attempt] = [], overtaken: Bool = false
    ) {
      self.delivery = delivery
      self.device = device
      self.provider = provider
      self.outcome = outcome
      self.reason = reason
      self.providerID = providerID
      self.attempts = attempts
      self.overtaken = overtaken
    }
  }

  package struct RetryEntry: Sendable {
    package var target: ClaimedTarget
    package var due: WallTime
    package var reason: String
    package var attempts: [Attempt]
    package init(target: ClaimedTarget, due: WallTime, reason: String, attempts: [Attempt]) {
      self.target = target
      self.due = due
      self.reason = reason
      self.attempts = attempts
    }
  }

  /// Takes effect only if the device still holds this token and, with `since`, was registered before it.
  package struct Prune: Sendable {
    package var app: AppID
    package var device: DeviceID
    package var token: String
    package var reason: String
    package var since: WallTime?
    package var at: WallTime
    package init(app: AppID, device: DeviceID, token: String, reason: String, since: WallTime?, at: WallTime) {
      self.app = app
      self.device = device
      self.token = token
      self.reason = reason
      self.since = since
      self.at = at
    }
  }
}

package struct FlushResult: Sendable {
  /// Messages of this flush that an operator has cancelled meanwhile.
  package var cancelled: Set<MessageID>
  package var pruned: Int
}

extension Store {
  /// Takes or renews the lease; nil: another owner holds it.
  package func lease(_ partition: Int, renewing: Lease? = nil) async throws(StoreError) -> Lease? {
    preconditionFailure("not built yet")
  }
  package func release(_ lease: Lease) async throws(StoreError) {}
  /// The streams of a partition that hold jobs, with their lengths.
  package func readyStreams(_ lease: Lease) async throws(StoreError) -> [(stream: StreamID, length: Int)] {
    preconditionFailure("not built yet")
  }
  /// Jobs behind `after` in order, at most `jobs`; jobs stay in the stream until a flush finishes them, so a new owner
  /// starts again from nil.
  package func claim(_ lease: Lease, _ stream: StreamID, after: JobID?, jobs: Int) async throws(StoreError)
    -> [ClaimedJob]
  { preconditionFailure("not built yet") }
  package func message(_ id: MessageID) async throws(StoreError) -> StoredMessage? {
    preconditionFailure("not built yet")
  }
  /// Retries due by `now` in order, at most `limit`; they stay in the set until a flush ends or moves them.
  package func dueRetries(_ lease: Lease, now: WallTime, limit: Int) async throws(StoreError) -> [ClaimedTarget] {
    preconditionFailure("not built yet")
  }
  /// All that wait for a retry, for the holds of a new owner (design D6), at most `limit`, earliest first.
  package func waitingRetries(_ lease: Lease, limit: Int) async throws(StoreError) -> [(
    target: ClaimedTarget, due: WallTime
  )] {
    preconditionFailure("not built yet")
  }
  /// When the next retry of the partition is due.
  package func nextRetry(_ lease: Lease) async throws(StoreError) -> WallTime? { preconditionFailure("not built yet") }
  /// Stores the members of a new slice; when it returns, its first attempt may be made. A revision above 0 replaces.
  package func storeSlice(_ lease: Lease, _ slice: StoredSlice) async throws(StoreError) {}
  package func flush(_ flush: Flush) async throws(StoreError) -> FlushResult { preconditionFailure("not built yet") }
  /// Repairs and ends: messages whose spreading stopped half-way, partitions that finished and did not tell home, records
  /// beyond retention. Called each second per owned partition.
  package func sweep(_ lease: Lease, now: WallTime) async throws(StoreError) {}
  /// Deliveries in the retry set of a message that was cancelled: ended here, as no lane holds them.
  package func cancelWaiting(_ lease: Lease, message: MessageID) async throws(StoreError) {}
  /// Writes or clears why a credential is suspended, shown on its pending deliveries and by `/readyz`.
  package func setBlocked(_ credential: CredentialID, reason: String?) async throws(StoreError) {}
  package func blockedCredentials() async throws(StoreError) -> [CredentialID: String] {
    preconditionFailure("not built yet")
  }

  /// Called on the loop when a stream got its first job, a message was cancelled, or (`.reconnected`) rings may have
  /// been lost.
  package func onBell(_ ring: @escaping (Bell) -> Void) {}
}

package enum Bell: Sendable {
  case work(StreamID)
  case cancelled(MessageID)
  case reconnected
}
