import Domain
import Loop
import Store

/// A delivery in this process's memory, from its claim to its outcome or its move into the retry set. Owned by the lane
/// it waits in, or by the request in flight it is at work in.
final class Delivery {
  let target: ClaimedTarget
  let address: Address
  let message: LoadedMessage
  let partition: Partition
  unowned let sender: Sender
  /// Nil: it came from the retry set.
  let job: JobAtWork?
  let urgency: Urgency
  /// Which of the message's contents it gets.
  let content: Int
  /// The number of its lane.
  var lane = 0
  /// All requests made, those before the claim among them.
  private(set) var attempts: AttemptLog
  /// Some were made since the claim.
  private(set) var isTried = false
  var atOnce = 0
  /// Later ones passed it while it waited.
  var overtaken = false
  /// The connection to go round.
  var avoiding: Int?
  /// They let it go, each with a permission that is late behind that time, and count it until it is on the wire,
  /// gathered into a slice, or has ended.
  var rateQueues: [(queue: RateLimitedQueue, lateAt: Instant)] = []
  /// The last one's permission, until it is on the wire; behind that time it is late.
  var permission: (rateQueue: RateLimitedQueue, lateAt: Instant)?
  /// The slice it is a member of, once that is stored.
  var slice: StoredSlice?
  /// Its last request went out with settings that the credential has no more.
  var isOfEarlierAccount = false
  /// It counts towards a cap.
  var cap: CapUse?
  /// When its last request began.
  var began: Instant?

  init(
    _ target: ClaimedTarget, address: Address, message: LoadedMessage, partition: Partition, sender: Sender,
    job: JobAtWork?, urgency: Urgency
  ) {
    var address = address
    if address.liveActivityToken != nil, message.content?.kind != .liveActivity { address.liveActivityToken = nil }
    self.target = target
    self.address = address
    self.message = message
    self.partition = partition
    self.sender = sender
    self.job = job
    self.urgency = urgency
    content = message.content(for: target.device)
    slice = target.slice
    attempts = target.attempts
  }

  /// It keeps nobody behind it waiting any more.
  func passed() {
    for place in rateQueues { place.queue.opened() }
    rateQueues = []
  }

  /// It ends or rests without a request: others may go in its place.
  func refund() {
    for place in rateQueues { place.queue.refund(place.lateAt) }
    rateQueues = []
  }

  /// It is on the wire.
  func spent(at now: Instant) {
    passed()
    if let permission, now > permission.lateAt { permission.rateQueue.wasLate() }
    permission = nil
  }

  var id: DeliveryID { target.delivery }
  var place: Lane<Delivery>.Place {
    .init(
      message: target.delivery.message, partition: target.delivery.partition, sequence: target.sequence,
      index: target.delivery.index)
  }
  var entry: Lane<Delivery>.Entry {
    .init(
      ticket: self, place: place, ordered: message.ordered, collapseKey: message.collapseKey,
      supersedable: slice == nil)
  }
  var history: RetryPolicy.History {
    .init(
      spent: attempts.spent, unanswered: attempts.unanswered, atOnce: atOnce, firstAttempt: firstOwnAttempt,
      expiresAt: message.expiresAt, startBy: message.startBy, isCancelled: message.isCancelled)
  }

  /// How it ends as it may not be sent any more; nil: it may.
  func end(now: WallTime) -> (outcome: Outcome, reason: String?)? { attempts.end(of: message, sender, now: now) }
  var lastReason: String? { attempts.last?.reason }
  /// What kept it from going before its time was over: its own last answer, or what stands against its credential.
  var expiryReason: String? { attempts.expiryReason(of: message, sender) }
  var isFirst: Bool { attempts.isEmpty }
  /// It was at work when a connection ended, and was not answered since; or nothing but it was.
  var isSuspect: Bool { !attempts.isEmpty && Suspicion.isSuspect(lastReason) }
  var isBlamed: Bool { Suspicion.isBlamed(lastReason) }
  /// When its first request was made.
  var firstAttempt: WallTime? { attempts.first?.at }
  /// When the first request was made that counts: with it the time begins after which its vendor wants no more. A
  /// request that only made the credential wait is not one, so nobody is given up for that wait.
  var firstOwnAttempt: WallTime? { attempts.firstThatCounts?.at }
  /// What is to be written down: nothing, if nothing has happened since the claim.
  var news: AttemptLog { isTried ? attempts : AttemptLog() }

  func record(_ verdict: Verdict, counts: Bool, status: Int, at: WallTime) {
    let word = counts ? verdict.word : Attempt.deferred
    attempts.add(Attempt(at: at, verdict: word, reason: verdict.reason, status: status))
    isTried = true
  }
}

/// One request at work.
final class InFlightRequest {
  let deliveries: [Delivery]
  /// Their addresses, in the same order.
  let recipients: [Address]
  let slice: StoredSlice?
  /// Of an audience, in place of deliveries.
  let members: [BatchTicket]
  let connectionSlot: Int
  let began: Instant
  let at: WallTime
  /// The one that a suspended credential let through.
  let probe: Bool
  /// Over a connection for suspects.
  let isAside: Bool
  /// Of its sender's account and connections.
  let generation: Int

  init(
    _ deliveries: [Delivery], recipients: [Address], slice: StoredSlice? = nil, members: [BatchTicket] = [],
    connectionSlot: Int,
    _ pass: Sender.Pass
  ) {
    self.deliveries = deliveries
    self.members = members
    self.recipients = recipients
    self.slice = slice
    self.connectionSlot = connectionSlot
    began = pass.now
    at = pass.wall
    probe = pass.probe
    isAside = pass.isAside
    generation = pass.generation
  }

  /// Of a row of a batch.
  init(_ delivery: Delivery, _ row: LaneIndex.Row) {
    delivery.began = row.began
    deliveries = [delivery]
    recipients = [delivery.address]
    slice = nil
    members = []
    connectionSlot = row.connectionSlot
    began = row.began
    at = row.at
    probe = false
    isAside = false
    generation = row.generation
  }

  /// One of members whose deliveries these are now.
  init(_ inFlight: InFlightRequest, _ deliveries: [Delivery], of slice: StoredSlice?) {
    for delivery in deliveries {
      delivery.slice = slice
      delivery.began = inFlight.began
    }
    self.deliveries = deliveries
    self.slice = slice
    members = []
    recipients = inFlight.recipients
    connectionSlot = inFlight.connectionSlot
    began = inFlight.began
    at = inFlight.at
    probe = inFlight.probe
    isAside = inFlight.isAside
    generation = inFlight.generation
  }
}

/// Requests at work by tag. A tag is used again once its request has ended.
struct InFlightRequests {
  private var slots: [InFlightRequest?] = []
  private var vacant: [Int] = []
  var count: Int { slots.count - vacant.count }

  mutating func begin(_ inFlight: InFlightRequest) -> Int {
    if let tag = vacant.popLast() {
      slots[tag] = inFlight
      return tag
    }
    slots.append(inFlight)
    return slots.count - 1
  }

  mutating func end(_ tag: Int) -> InFlightRequest {
    guard let inFlight = slots[tag] else { preconditionFailure("an answer to no request") }
    slots[tag] = nil
    vacant.append(tag)
    return inFlight
  }
}

extension AttemptLog {
  /// How a delivery with these attempts ends as it may not be sent any more; nil: it may.
  func end(of message: LoadedMessage, _ sender: Sender, now: WallTime) -> (outcome: Outcome, reason: String?)? {
    if spent == 0 ? message.startBy < now : message.expiresAt <= now {
      return (.expired, expiryReason(of: message, sender))
    }
    guard sender.policy.isGivenUp(firstAttempt: firstThatCounts?.at, now: now) else { return nil }
    return (.failed, RetryPolicy.givenUp(last?.reason))
  }

  fileprivate func expiryReason(of message: LoadedMessage, _ sender: Sender) -> String? {
    last?.reason ?? message.expiryReason(sender)
  }
}
