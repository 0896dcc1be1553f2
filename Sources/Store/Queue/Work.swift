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
  package init(partition: Int, credential: CredentialID, urgency: Urgency) {
    self.partition = partition
    self.credential = credential
    self.urgency = urgency
  }

  /// Looked up several times for each delivery.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(partition << 1 | (urgency == .urgent ? 1 : 0))
    hasher.combine(credential)
  }

  /// The sequence in the name of an entry, `sequence-1`.
  static func sequence(of entry: String) -> UInt64? { Whole.read(entry.prefix { $0 != "-" }, in: 0...UInt64.max) }
}

/// Names a job for as long as its stream holds it.
package struct JobID: Hashable, Sendable {
  package var stream: StreamID
  /// Ascending within a partition over all its streams: the order of acceptance.
  package var sequence: UInt64
  package init(stream: StreamID, sequence: UInt64) {
    self.stream = stream
    self.sequence = sequence
  }

  /// Two streams of a partition have no sequence in common.
  package func hash(into hasher: inout Hasher) { hasher.combine(sequence ^ UInt64(stream.partition) << 48) }
}

/// Names a delivery: a message and the place of the target in the partition's list.
package struct DeliveryID: Hashable, Sendable {
  package var message: MessageID
  package var partition: Int
  package var index: Int
  /// `partition` and `index` are those of the target, not of the message's home.
  package init(message: MessageID, partition: Int, index: Int) {
    self.message = message
    self.partition = partition
    self.index = index
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(message.low ^ UInt64(truncatingIfNeeded: partition) << 32 ^ UInt64(truncatingIfNeeded: index))
  }
}

/// How far a stream was claimed.
package struct ClaimPlace: Hashable, Sendable {
  package var job: JobID
  /// That job belongs to an audience and is claimed up to and including this member: go on behind it. `start`: claim
  /// the job, whosever it is, from its beginning. Nil: it is whole.
  package var member: Int?
  /// In place of a member's index, which is 0 or more.
  package static let start = -1
  /// `member` nil: the job is claimed whole.
  package init(job: JobID, member: Int? = nil) {
    self.job = job
    self.member = member
  }
}

/// A job as claimed: only targets that still need work.
package struct ClaimedJob: Sendable {
  package var id: JobID
  package var message: MessageID
  package var targets: [ClaimedTarget]
  /// Of an audience, where members were asked for as they stand.
  package var members: ClaimedMembers?
  package var count: Int { targets.count + (members?.whole ?? 0) }
  /// False: more members of this audience follow behind `lastMember`.
  package var isWhole = true
  /// Of an audience: the last index that was looked at.
  package var lastMember: Int?
  /// What the partition knows of the message's control.
  package var control: Control?
  /// The message, where it came with the job: nobody has touched it.
  package var stored: StoredMessage?

  /// Where the next claim goes on.
  package var place: ClaimPlace { ClaimPlace(job: id, member: isWhole ? nil : lastMember) }
}

/// A delivery as claimed: what is needed to send it, read from the registry at this moment.
package struct ClaimedTarget: Sendable {
  package var delivery: DeliveryID
  package var device: DeviceID
  /// False: a raw token, whose address came with the job.
  package var registered: Bool
  package var credential: CredentialID
  /// Order of acceptance within the partition.
  package var sequence: UInt64
  /// Read now. Nil: the device is gone, `gone` says why (`device_deleted`, a tombstone's reason).
  package var address: Address?
  package var gone: String?
  /// Of a registered device that is not gone, read now.
  package var facts: DeviceFacts?
  /// Of a registered device that is not gone.
  package var number: Int?
  /// Attempts already made and flushed.
  package var attempts: AttemptLog
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
  /// `status` 0: nobody answered.
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
  /// 0, then one more each time that members were left out: refused by name, or late after a take-over.
  package var revision: Int
  package var members: [Int]
  /// `members`: indexes of deliveries within the partition.
  package init(message: MessageID, partition: Int, number: Int, revision: Int, members: [Int]) {
    self.message = message
    self.partition = partition
    self.number = number
    self.revision = revision
    self.members = members
  }
}

/// The message of claimed jobs.
package struct StoredMessage: Sendable {
  package var id: MessageID
  package var app: AppID
  package var body: [UInt8]
  /// What was read of it, where this process has accepted it a moment ago.
  package var message: Message?
  package var acceptedAt: WallTime
  /// With acceptance, or when it was scheduled for. For devices with a time of their own sending starts then.
  package var startedAt: WallTime
  /// Nil: nobody touched it.
  package var control: Control?
  /// Nil: everyone gets the same.
  package var split: VariantSplit?
  /// Set for a message to an audience.
  package var audience: StoredAudience?
}

/// Whom an audience message is aimed at, as accepted.
package struct StoredAudience: Hashable, Sendable {
  /// Canonical, without named audiences.
  package var expression: String
  package var reach: Reach
}

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

/// What workers are woken for over the store's channel. Any of them may be lost with the connection: `reconnected` asks
/// to look for all.
package enum Wakeup: Sendable {
  case work(StreamID)
  /// An audience may be due to start in this partition.
  case start(Int)
  /// What holds for a message in this partition, as an operator wants it.
  case controlled(MessageID, partition: Int, Control)
  /// The owner of a partition has handed it over.
  case released(Int)
  /// A credential's prune brake went on or was released.
  case braked
  case reconnected
}
