import Domain
import Loop
import Store
import Telemetry

/// All that one credential sends on this loop (design D14): its queues of lanes, its gate, its authorization, its
/// connections. It takes lanes that may start something, and gives every started delivery back to the worker with what
/// became of it.
final class Sender: TransportOwner {
  let id: CredentialID
  private(set) var account: any ProviderAccount
  let provider: ProviderName
  unowned let worker: Worker
  let context: WorkerContext
  private(set) var transport: any Transport
  /// Counts the accounts that this credential has had; requests of an earlier one say nothing of the present.
  private(set) var generation = 0
  var retired: [Retired] = []
  /// The credential left the configuration.
  var isRemoved = false
  let policy: RetryPolicy
  let metrics: SenderMetrics
  var gate: CircuitBreaker
  var retryPauses = RetryPauses()
  var brake: PruneBrake
  var unproven = UnprovenPrunes()
  var limit: ConcurrencyLimit
  var window: BulkWindow
  var authorization: any Authorization
  /// The header that requests went with last.
  var shown = ""
  var inFlightRequests = InFlightRequests()
  var jitter = Jitter()
  /// Lanes that may start a delivery, in the order in which they could.
  private var urgent = FIFO<Int>()
  private var bulk = FIFO<Int>()
  /// What was at work when a connection ended.
  var suspects = Suspects()
  /// Members of audiences on the fast path.
  var batches = FIFO<DeliveryBatch>()
  /// The token of the request that is being made.
  var token: [UInt8] = []
  /// Batches and lanes of bulk take turns.
  var batchesTurn = false
  /// Next goes one that has not failed before, if there is one.
  var freshTurn = false
  /// For providers that take many recipients in a request.
  var slices: SlicePlan<Delivery>
  /// Slices that may go; their members count as at work in their lanes.
  var closedSlices = ReadySlices()
  /// The same of members without deliveries; theirs are stored.
  var memberSlices: SlicePlan<BatchTicket>
  var closedMembers = FIFO<SlicePlan<BatchTicket>.Closed>()
  var storingSlices = 0
  var sliceTimer: (timer: Timer, due: Instant)?
  private var wakeTimer: (timer: Timer, due: Instant)?
  /// What the ledger counts for it.
  let usage = SenderUsage()
  var quota: SenderQuota?
  var subscriberLimit: SubscriberLimit?
  /// Why nothing goes although the credential is good, and until when.
  var held: (reason: String, until: Instant)?
  /// Answers since the last push that was taken.
  var streak: FailureStreak
  /// When the time of a retry last came that waits on.
  var postponedAt: Instant?
  /// What everybody may know of what stands against it.
  var told = ToldCondition()
  /// Stands in the worker's list of senders with something to send.
  var isAwake = false

  /// The part of the streams that bulk leaves to urgent (design D7).
  static let reserve = 0.1

  init(worker: Worker, account: any ProviderAccount, transport: any Transport) {
    self.worker = worker
    context = worker.context
    let settings = context.settings
    self.account = account
    self.transport = transport
    id = account.credential
    provider = account.provider
    policy = RetryPolicy(settings.retry[provider] ?? RetryRules())
    gate = CircuitBreaker(settings: settings.gate, policy: policy)
    streak = FailureStreak(settings.gate)
    brake = PruneBrake(settings.brake)
    limit = ConcurrencyLimit(settings.concurrency)
    window = BulkWindow(settings.bulkWindow)
    authorization = account.makeAuthorization(probeInterval: settings.gate.probeInterval)
    slices = SlicePlan(limit: account.recipientLimit, settings: settings.slice)
    memberSlices = SlicePlan(limit: account.recipientLimit, settings: settings.slice)
    metrics = SenderMetrics(context.metrics, provider: provider)
    transport.owner = self
    quota = SenderQuota(worker.quotas[provider], group: account.quotaGroup, sender: self)
    subscriberLimit = SubscriberLimit(worker.quotas[provider], account.subscriberRule, sender: self)
  }

  var gathersSlices: Bool { account.recipientLimit > 1 }
  /// Requests that may be at work at a time.
  var concurrency: Int { min(limit.bound ?? .max, transport.streams) }
  var hasWaiting: Bool { hasWaitingOthers || !suspects.isEmpty }
  /// Others than suspects.
  var hasWaitingOthers: Bool {
    !urgent.isEmpty || !bulk.isEmpty || !batches.isEmpty || !closedSlices.isEmpty || !closedMembers.isEmpty
  }
  var isIdle: Bool { usage.atWork == 0 && storingSlices == 0 }
  /// Something of it is in memory: its answers will tell what stands against the credential.
  var hasWork: Bool { usage.inMemory > 0 || !isIdle }

  func replace(account: any ProviderAccount, transport: any Transport) {
    generation += 1
    self.account = account
    self.transport = transport
    transport.owner = self
    authorization = account.makeAuthorization(probeInterval: context.settings.gate.probeInterval)
    resetGate()
    limit = ConcurrencyLimit(context.settings.concurrency)
    window = BulkWindow(context.settings.bulkWindow)
    brake.renewed()
    // The settings may have been what was wrong, and not the tokens: the next send tells.
    unproven.forgetDoubtful()
    slices.limit = account.recipientLimit
    memberSlices.limit = account.recipientLimit
    renewQuota()
  }

  /// Nothing is known against the credential any more.
  func resetGate() {
    unreachableReason = nil
    gate = CircuitBreaker(settings: context.settings.gate, policy: policy)
    streak = FailureStreak(context.settings.gate)
  }

  // MARK: Queues

  /// The lane may start this delivery. `first`: it is to go before the others.
  func enqueue(lane: Int, _ next: Delivery, first: Bool = false) {
    defer { worker.turns.wake(self) }
    guard gathersSlices || !next.isSuspect else { return suspects.add(lane, isBlamed: next.isBlamed) }
    if next.urgency == .urgent { window.urgentCame(now: context.loop.now) }
    switch (next.urgency, first) {
    case (.urgent, false): urgent.append(lane)
    case (.urgent, true): urgent.prepend(lane)
    case (.bulk, false): bulk.append(lane)
    case (.bulk, true): bulk.prepend(lane)
    }
  }

  /// Urgent sends stand ready.
  var hasUrgent: Bool { gathersSlices ? !closedSlices.urgent.isEmpty : !urgent.isEmpty }

  /// Sends at most `quantum` requests; false: nothing more can go now.
  func dispatch(quantum: Int, onlyUrgent: Bool = false) -> Bool {
    if gathersSlices, !onlyUrgent {
      gather()
      gatherMembers()
    }
    defer { if !onlyUrgent { dispatchSuspects() } }
    var left = quantum
    let now = context.loop.now
    let wall = context.loop.wallNow
    while left > 0 {
      guard context.mayOpen, !isRemoved, hasReady else {
        if !hasReady { subscriberLimit?.rest() }
        return false
      }
      var isUrgent = hasUrgent
      guard isUrgent || !onlyUrgent else { return true }
      let reserve = isUrgent || gathersSlices ? 0 : Self.reserve
      guard mayBegin(reserve: reserve, now: now) else { return false }
      guard reserve == 0 || window.room(atWork: occupied) > 0 else { return false }
      guard let connectionSlot = transport.connectionSlot(avoiding: nil, reserve: reserve) else {
        transport.demand()
        // A token can be fetched while the connection opens.
        if gate.isOpen { _ = header(now: now, wall: wall) }
        return false
      }
      let probe: Bool
      let (passage, isFresh) = passage(urgent: &isUrgent, onlyUrgent: onlyUrgent, now: now)
      switch passage {
      case .go: probe = false
      case .probe: probe = true
      case .wait(let until):
        wake(at: until, now: now)
        return false
      }
      guard let header = header(now: now, wall: wall) else {
        if probe { gate.withdrawn(now: now) }
        return false
      }
      guard subscriberLimit?.mayGo(nextRecipients, now: now) ?? true,
        quota?.mayGo(urgent: isUrgent, waiting: ready(urgent: isUrgent), now: now) ?? true
      else {
        if probe { gate.withdrawn(now: now) }
        return false
      }
      var pass = Pass(
        header: header, connectionSlot: connectionSlot, probe: probe, now: now, wall: wall, generation: generation)
      pass.takesYoungest =
        probe ? !isFresh && gate.wantsAnother : transport.wantsAnother(connectionSlot: connectionSlot)
      if takesBatch(isUrgent: isUrgent) {
        // The probe is judged by itself.
        if probe, let batch = batches.first {
          gate.withdrawn(now: now)
          takeOneOut(of: batch)
          left -= 1
        } else {
          let turn = bulk.isEmpty ? left : min(left, Self.turn)
          let gone = sendMembers(pass, limit: quota.map { min(turn, $0.inHand(urgent: false)) } ?? turn)
          quota?.spend(gone, urgent: false)
          left -= gone
        }
        continue
      }
      let sent =
        !gathersSlices
        ? sendNext(urgent: isUrgent, pass) : closedSlices.isEmpty ? sendMemberSlice(pass) : sendSlice(pass)
      if probe, !sent { gate.withdrawn(now: now) }
      if sent {
        quota?.spend(1, urgent: isUrgent)
        subscriberLimit?.spend()
      }
      left -= 1
    }
    return hasReady
  }

  private var hasReady: Bool {
    gathersSlices
      ? !closedSlices.isEmpty || !closedMembers.isEmpty : !urgent.isEmpty || !bulk.isEmpty || !batches.isEmpty
  }

  /// Members of a batch before a lane's turn.
  private static let turn = 16

  private func takesBatch(isUrgent: Bool) -> Bool {
    guard !gathersSlices, !isUrgent, !batches.isEmpty else { return false }
    batchesTurn = bulk.isEmpty || !batchesTurn
    return batchesTurn
  }
  private func ready(urgent isUrgent: Bool) -> Int {
    if gathersSlices { return isUrgent ? closedSlices.urgent.count : closedSlices.bulk.count + closedMembers.count }
    return isUrgent ? urgent.count : bulk.count + (batches.first?.waiting ?? 0)
  }

  /// What a request needs to go now.
  struct Pass {
    var header: String
    var connectionSlot: Int
    var probe: Bool
    var now: Instant
    var wall: WallTime
    var generation: Int
    /// Over a connection for suspects.
    var isAside = false
    /// Those whose turn it is may be what goes wrong: another one tells more.
    var takesYoungest = false
  }

  /// The next delivery of the next lane, or of the youngest; nil when there is none left.
  func takeNext(urgent isUrgent: Bool, youngest: Bool = false, now: Instant, wall: WallTime) -> Delivery? {
    let lane =
      switch (isUrgent, youngest) {
      case (true, false): urgent.popFirst()
      case (true, true): urgent.popLast()
      case (false, false): bulk.popFirst()
      case (false, true): bulk.popLast()
      }
    return lane.flatMap { take($0, asSuspect: false, now: now, wall: wall) }
  }

  /// The next delivery of this lane, if it may go. It has passed all checks but its rendering.
  func take(_ lane: Int, asSuspect: Bool, now: Instant, wall: WallTime) -> Delivery? {
    let concurrency = context.settings.lane.concurrency
    guard let delivery = worker.laneKeeper.lanes.startNext(lane, concurrency: concurrency, now: wall) else {
      return nil
    }
    guard delivery.sender === self, gathersSlices || delivery.isSuspect == asSuspect else {
      // Its next one came under another credential of the same app, or belongs into the other queue: that one's turn.
      worker.settler.goBack(delivery)
      return nil
    }
    worker.laneKeeper.requeue(lane)
    guard worker.leaseKeeper.holdsLease(delivery.partition, now: now) else {
      worker.leaseKeeper.park(delivery)
      return nil
    }
    if delivery.message.isStopped, worker.control.stop([delivery], now: wall) { return nil }
    if let end = delivery.end(now: wall) {
      worker.settler.end(delivery, end.outcome, reason: end.reason)
      return nil
    }
    if let timing = delivery.message.timing {
      // It may have stood in its lane for long.
      switch timing.decide(delivery.target.facts?.timeZone, now: wall) {
      case .go: break
      case .hold(let until):
        worker.settler.rest(delivery, until: until, reason: Timing.quietReason)
        return nil
      case .skip:
        worker.settler.end(delivery, .skipped, reason: Timing.quietReason)
        return nil
      }
    }
    // Members of a slice wait for each other.
    if gathersSlices, !delivery.rateQueues.isEmpty { delivery.passed() }
    return delivery
  }

  /// A lane that meets the condition is the next in turn; false: none of so many does.
  func bringForward(urgent isUrgent: Bool, among most: Int, youngest: Bool, where condition: (Int) -> Bool) -> Bool {
    if isUrgent { return urgent.bringForward(among: most, youngest: youngest, where: condition) }
    return bulk.bringForward(among: most, youngest: youngest, where: condition)
  }

  var hasLanes: (urgent: Bool, bulk: Bool) { (!urgent.isEmpty, !bulk.isEmpty) }

  static let noLiveActivityToken = SkipReason.noLiveActivityToken.rawValue

  private func sendNext(urgent isUrgent: Bool, _ pass: Pass) -> Bool {
    guard
      let delivery = takeNext(urgent: isUrgent, youngest: pass.takesYoungest, now: pass.now, wall: pass.wall)
    else { return false }
    return send(delivery, pass)
  }

  /// False: it ended otherwise.
  func send(_ delivery: Delivery, _ pass: Pass) -> Bool {
    switch delivery.message.rendering(account, delivery.content, for: delivery.target.facts) {
    case .failure(let why):
      worker.settler.end(delivery, why.outcome.0, reason: why.outcome.reason)
      return false
    case .success(let rendering):
      if rendering.needsLiveActivityToken, delivery.address.liveActivityToken == nil {
        worker.settler.end(delivery, .skipped, reason: Self.noLiveActivityToken)
        return false
      }
      var connectionSlot = pass.connectionSlot
      if delivery.avoiding == connectionSlot, !pass.isAside {
        connectionSlot = transport.connectionSlot(avoiding: connectionSlot, reserve: 0) ?? connectionSlot
      }
      let recipients = [delivery.address]
      let request = account.request(
        rendering, to: recipients, id: delivery.id.requestID, authorization: pass.header)
      send(
        request,
        InFlightRequest([delivery], recipients: recipients, connectionSlot: connectionSlot, pass))
      return true
    }
  }

  /// Look again at that time; nil: an answer will do it.
  func wake(at time: Instant?, now: Instant) {
    guard let time else { return }
    if let set = wakeTimer {
      if set.due <= time { return }
      context.loop.cancel(set.timer)
    }
    let timer = context.loop.after(milliseconds: max(1, time - now)) { [weak self] in
      guard let self else { return }
      self.wakeTimer = nil
      self.worker.turns.wake(self)
    }
    wakeTimer = (timer, time)
  }

  // MARK: What the transport tells

  func hasRoom() { worker.turns.wake(self) }

  /// Why no connection came about the last times.
  private(set) var unreachableReason: String?
  var isUnreachable: Bool { unreachableReason != nil }
  func unreachable(_ reason: String) {
    unreachableReason = "unreachable: \(reason)"
    tellCondition()
  }

  func reached() {
    guard unreachableReason != nil else { return }
    unreachableReason = nil
    tellCondition()
  }
}
