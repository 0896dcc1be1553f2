package import Domain

/// Outcomes of one partition, written together (design D9).
package struct Flush: Sendable {
  package var lease: Lease
  /// One more than the flush before under this lease; a repeated one has no effect.
  package var number: UInt64
  package var finals: [Final] = []
  /// Of audiences: what leaves nothing but its code.
  package var accepted: [Accepted] = []
  package var retries: [RetryEntry] = []
  /// Jobs each of whose deliveries is final or in the retry set by the end of this flush.
  package var finishedJobs: [JobID] = []
  package var prunes: [Prune] = []
  /// `number` 0: not counted, so that a repetition is not recognised; for outcomes that come from no worker's memory.
  package init(lease: Lease, number: UInt64) {
    self.lease = lease
    self.number = number
  }

  /// A delivery that has ended, and how.
  package struct Final: Sendable {
    package var delivery: DeliveryID
    package var device: DeviceID
    package var provider: ProviderName
    package var outcome: Outcome
    package var reason: String?
    /// Of direct sends; members of an audience are counted as their snapshot has them.
    package var platform: String?
    /// The provider's own id (FCM name, OneSignal id).
    package var providerID: String?
    /// All of them; empty: none since the claim, and earlier ones stay as they are kept.
    package var attempts: AttemptLog
    /// Later ones passed it while it waited (design D6).
    package var overtaken: Bool
    /// It counts towards a cap, if it is accepted.
    package var cap: CapUse?
    /// Key of the slice in which it was requested; nil: it was requested by itself, or not at all.
    package var slice: UUIDBytes?
    /// `cap` and `slice` are set by who knows of one.
    package init(
      delivery: DeliveryID, device: DeviceID, provider: ProviderName, outcome: Outcome, reason: String?,
      platform: String? = nil, providerID: String? = nil, attempts: AttemptLog = [], overtaken: Bool = false
    ) {
      self.delivery = delivery
      self.device = device
      self.provider = provider
      self.platform = platform
      self.outcome = outcome
      self.reason = reason
      self.providerID = providerID
      self.attempts = attempts
      self.overtaken = overtaken
    }
  }

  /// Members of an audience whose requests were accepted, and of which no receipt is kept.
  package struct Accepted: Sendable {
    package var message: MessageID
    /// In any order.
    package var indexes: [UInt32]
    /// When the first of them was sent.
    package var firstAttempt: WallTime
    /// `indexes`: without doubles, in any order.
    package init(message: MessageID, indexes: [UInt32], firstAttempt: WallTime) {
      self.message = message
      self.indexes = indexes
      self.firstAttempt = firstAttempt
    }
  }

  /// A delivery that rests until `due`, by the wall clock.
  package struct RetryEntry: Sendable {
    package var target: ClaimedTarget
    package var due: WallTime
    package var reason: String
    /// As `Final.attempts`.
    package var attempts: AttemptLog
    package init(target: ClaimedTarget, due: WallTime, reason: String, attempts: AttemptLog) {
      self.target = target
      self.due = due
      self.reason = reason
      self.attempts = attempts
    }
  }

  /// Takes effect only if the device still holds this token and, with `since`, was registered before it. A device whose
  /// Live Activity token it is keeps its registration and loses that token.
  package struct Prune: Sendable {
    package var app: AppID
    package var device: DeviceID
    package var token: String
    package var reason: String
    package var since: WallTime?
    package var at: WallTime
    /// Who said so, about which message.
    package var credential: CredentialID?
    package var message: MessageID?
    /// The credential's brake is on: the operator decides; until then it is put aside.
    package var isHeld = false
    /// `since`: nil prunes unconditionally. `at`: when the provider's word came.
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

/// What the store knows better after a flush than the worker before.
package struct FlushResult: Sendable {
  /// Messages of this flush that an operator has touched, and what holds for them.
  package var controls: [MessageID: Control]
  package var pruned: Int
  /// Put aside for the operator, not counting those that were before.
  package var held = 0
}
