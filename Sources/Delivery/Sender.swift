import Domain
import Loop
import Store
import Telemetry

/// All that one credential sends on this loop (design D14): its queues of lanes, its gate, its authorization, its
/// connections. It takes lanes that may start something, and gives every started delivery back to the worker with what
/// became of it.
final class Sender: CarrierOwner {
  let id: CredentialID
  private(set) var account: any ProviderAccount
  let provider: ProviderName
  unowned let worker: Worker
  private(set) var carrier: any Carrier
  /// Counts the accounts that this credential has had; requests of an earlier one say nothing of the present.
  private(set) var generation = 0
  var retired: [Retired] = []
  /// The credential left the configuration.
  var isRemoved = false
  let policy: RetryPolicy
  let metrics: SenderMetrics
  var gate: CredentialGate
  var brake: PruneBrake
  /// Prunes that wait until other tokens of the credential were reached, none of them once more is known of their own.
  var unproven: [DeviceID: UnprovenPrune] = [:]
  var limit: ConcurrencyLimit
  var window: BulkWindow
  var authorization: any Authorization
  var flights = Flights()
  var jitter = Jitter()
  /// Lanes that may start a delivery, in the order in which they could.
  private var urgent = FIFO<Int>()
  private var bulk = FIFO<Int>()
  /// Members of audiences on their short way, and how many of them are at work.
  var batches = FIFO<MemberBatch>()
  var membersAtWork = 0
  /// The token of the request that is being made.
  var token: [UInt8] = []
  /// Batches and lanes of bulk take turns.
  var batchesTurn = false
  /// For providers that take many recipients in a request.
  var slices: SlicePlan<Parcel>
  /// Slices that may go; their members count as at work in their lanes.
  var closedSlices = ReadySlices()
  /// The same of members without parcels; theirs are stored.
  var memberSlices: SlicePlan<MemberTicket>
  var closedMembers = FIFO<SlicePlan<MemberTicket>.Closed>()
  var storingSlices = 0
  var sliceTimer: (timer: Timer, due: Instant)?
  private var wakeTimer: Timer?
  /// Deliveries in memory, and those that wait for a retry and left a hold.
  var inMemory = 0
  var holds = 0
  /// Of those in memory: they wait for the pace of their message or app.
  var paced = 0
  var quota: SenderQuota?
  /// What the world was told.
  private var shown: String?
  /// What the store says of this credential is this process's word, not that of one before it.
  private var hasSpoken = false
  private var telling = false
  /// Stands in the worker's list of senders with something to send.
  var isAwake = false

  /// The part of the streams that bulk leaves to urgent (design D7).
  static let reserve = 0.1

  init(worker: Worker, account: any ProviderAccount, carrier: any Carrier, settings: WorkerSettings) {
    self.worker = worker
    self.account = account
    self.carrier = carrier
    id = account.credential
    provider = account.provider
    policy = RetryPolicy(settings.retry[provider] ?? .vendor(provider))
    gate = CredentialGate(settings: settings.gate, policy: policy)
    brake = PruneBrake(settings.brake)
    limit = ConcurrencyLimit(settings.concurrency)
    window = BulkWindow(settings.bulkWindow)
    authorization = account.makeAuthorization()
    slices = SlicePlan(limit: account.recipientLimit, settings: settings.slice)
    memberSlices = SlicePlan(limit: account.recipientLimit, settings: settings.slice)
    metrics = SenderMetrics(worker.metrics, provider: provider)
    carrier.owner = self
    quota = SenderQuota(worker.quotas[provider], group: account.quotaGroup, sender: self)
  }

  var gathersSlices: Bool { account.recipientLimit > 1 }
  /// Requests that may be at work at a time.
  var concurrency: Int { min(limit.bound ?? .max, carrier.streams) }
  /// Requests at work.
  var atWork: Int { flights.count + membersAtWork }
  var hasWaiting: Bool {
    !urgent.isEmpty || !bulk.isEmpty || !batches.isEmpty || !closedSlices.isEmpty || !closedMembers.isEmpty
  }
  var isIdle: Bool { atWork == 0 && storingSlices == 0 }

  func replace(account: any ProviderAccount, carrier: any Carrier) {
    generation += 1
    self.account = account
    self.carrier = carrier
    carrier.owner = self
    authorization = account.makeAuthorization()
    gate = CredentialGate(settings: worker.settings.gate, policy: policy)
    limit = ConcurrencyLimit(worker.settings.concurrency)
    window = BulkWindow(worker.settings.bulkWindow)
    brake.renewed()
    // The settings may have been what was wrong, and not the tokens: the next send tells.
    unproven = [:]
    slices.limit = account.recipientLimit
    memberSlices.limit = account.recipientLimit
    renewQuota()
  }

  // MARK: Queues

  /// The lane may start a delivery. `first`: it is to go before the others.
  func enqueue(lane: Int, _ urgency: Urgency, first: Bool = false) {
    if urgency == .urgent { window.urgentCame(now: worker.loop.now) }
    switch (urgency, first) {
    case (.urgent, false): urgent.append(lane)
    case (.urgent, true): urgent.prepend(lane)
    case (.bulk, false): bulk.append(lane)
    case (.bulk, true): bulk.prepend(lane)
    }
    worker.wake(self)
  }

  /// Urgent sends stand ready.
  var hasUrgent: Bool { gathersSlices ? !closedSlices.urgent.isEmpty : !urgent.isEmpty }

  /// Sends at most `quantum` requests; false: nothing more can go now.
  func dispatch(quantum: Int, onlyUrgent: Bool = false) -> Bool {
    if gathersSlices, !onlyUrgent {
      gather()
      gatherMembers()
    }
    var left = quantum
    let now = worker.loop.now
    let wall = worker.loop.wallNow
    while left > 0 {
      guard worker.mayOpen, !isRemoved, hasReady else { return false }
      let isUrgent = hasUrgent
      guard isUrgent || !onlyUrgent else { return true }
      let reserve = isUrgent || gathersSlices ? 0 : Self.reserve
      guard limit.mayBegin(atWork: atWork, reserve: reserve) else { return false }
      guard reserve == 0 || window.room(atWork: atWork) > 0 else { return false }
      guard let berth = carrier.berth(avoiding: nil, reserve: reserve) else {
        carrier.demand()
        // A token can be fetched while the connection opens.
        if gate.isOpen { _ = header(now: now, wall: wall) }
        return false
      }
      let probe: Bool
      switch gate.passage(now: now) {
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
      if let quota, !quota.mayGo(urgent: isUrgent, waiting: ready(urgent: isUrgent), now: now) {
        if probe { gate.withdrawn(now: now) }
        return false
      }
      let pass = Pass(
        header: header, berth: berth, probe: probe, now: now, wall: wall, generation: generation)
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
      if sent { quota?.spend(1, urgent: isUrgent) }
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
    var berth: Int
    var probe: Bool
    var now: Instant
    var wall: WallTime
    var generation: Int
  }

  /// The next delivery of the next lane; nil when there is none left. It has passed all checks but its rendering.
  func takeNext(urgent isUrgent: Bool, now: Instant, wall: WallTime) -> Parcel? {
    guard let lane = isUrgent ? urgent.popFirst() : bulk.popFirst() else { return nil }
    let concurrency = worker.settings.lane.concurrency
    guard let parcel = worker.lanes.startNext(lane, concurrency: concurrency, now: wall) else { return nil }
    guard parcel.sender === self else {
      // Its next one came under another credential of the same app: that one's turn.
      worker.goBack(parcel)
      return nil
    }
    worker.requeue(lane)
    guard worker.holdsLease(parcel.partition, now: now) else {
      worker.park(parcel)
      return nil
    }
    if parcel.message.isStopped, worker.stop([parcel], now: wall) { return nil }
    if parcel.isExpired(now: wall) {
      worker.end(parcel, .expired, reason: parcel.lastReason)
      return nil
    }
    if let timing = parcel.message.timing {
      // It may have stood in its lane for long.
      switch timing.decide(parcel.target.facts?.timeZone, now: wall) {
      case .go: break
      case .hold(let until):
        worker.rest(parcel, until: until, reason: Timing.quietReason)
        return nil
      case .skip:
        worker.end(parcel, .skipped, reason: Timing.quietReason)
        return nil
      }
    }
    // Members of a slice wait for each other.
    if gathersSlices, !parcel.pacers.isEmpty { parcel.passed() }
    return parcel
  }

  var hasLanes: (urgent: Bool, bulk: Bool) { (!urgent.isEmpty, !bulk.isEmpty) }

  static let noLiveActivityToken = "no_live_activity_token"

  private func sendNext(urgent isUrgent: Bool, _ pass: Pass) -> Bool {
    guard let parcel = takeNext(urgent: isUrgent, now: pass.now, wall: pass.wall) else { return false }
    switch parcel.message.rendering(account, parcel.content, for: parcel.target.facts) {
    case .failure(let why):
      worker.end(parcel, why.outcome.0, reason: why.outcome.reason)
      return false
    case .success(let rendering):
      if rendering.needsLiveActivityToken, parcel.address.liveActivityToken == nil {
        worker.end(parcel, .skipped, reason: Self.noLiveActivityToken)
        return false
      }
      var berth = pass.berth
      if parcel.avoiding == berth { berth = carrier.berth(avoiding: berth, reserve: 0) ?? berth }
      let recipients = [parcel.address]
      let request = account.request(
        rendering, to: recipients, id: parcel.id.requestID, authorization: pass.header)
      send(
        request,
        Flight([parcel], recipients: recipients, berth: berth, pass))
      return true
    }
  }

  func send(_ request: ProviderRequest, _ flight: Flight) {
    for parcel in flight.parcels {
      if parcel.isFirst { metrics.firstAttempt(after: flight.at - parcel.message.startedAt) }
      if parcel.permission != nil { parcel.spent(at: flight.began) }
    }
    metrics.began()
    let berth = flight.berth
    carrier.send(request, tag: flights.begin(flight), berth: berth)
  }

  /// Look again at that time; nil: an answer will do it.
  func wake(at time: Instant?, now: Instant) {
    guard let time, wakeTimer == nil else { return }
    wakeTimer = worker.loop.after(milliseconds: max(1, time - now)) { [weak self] in
      guard let self else { return }
      self.wakeTimer = nil
      self.worker.wake(self)
    }
  }

  // MARK: What the carrier tells

  func hasRoom() { worker.wake(self) }

  private static let unreachable = "unreachable"
  /// The peer could not be reached the last times.
  var isUnreachable: Bool { shown?.hasPrefix(Self.unreachable) == true }
  var toldReason: String? { shown }
  func unreachable(_ reason: String) { show("\(Self.unreachable): \(reason)") }

  func reached() {
    if isUnreachable { show(gate.blockedReason) }
  }

  func answered(_ tag: Int, _ answer: ProviderAnswer) {
    let flight = endFlight(tag)
    let judgement = account(of: flight).judge(answer, recipients: flight.recipients)
    conclude(flight, judgement, status: answer.status)
  }

  func failed(_ tag: Int, _ failure: CarrierFailure) {
    if case .notProcessed(let reason) = failure, tookBack(tag, reason: reason) { return worker.wake(self) }
    let flight = parcelled(endFlight(tag))
    switch failure {
    case .notProcessed(let reason):
      conclude(flight, Judgement(.retry(Retry(.notProcessed, reason: reason))), status: 0)
    case .unknown(let reason):
      conclude(flight, Judgement(.retry(Retry(.unknownOutcome, reason: reason))), status: 0)
    case .unreachable:
      metrics.withdrawn()
      if flight.probe, flight.generation == generation {
        gate.withdrawn(now: worker.loop.now + policy.settings.base)
      }
      goAgain(flight)
    }
    worker.wake(self)
  }

  // MARK: Telling the world

  func tell(_ change: CredentialGate.Change) {
    switch change {
    case .none: return
    case .suspended(let reason):
      worker.log(.warning, "credential_waits", ["credential": id.rawValue, "reason": reason])
      show(nil)
    case .blocked(let reason):
      worker.log(.error, "credential_blocked", ["credential": id.rawValue, "reason": reason])
      show(reason)
    case .reopened:
      worker.log(.info, "credential_reopened", ["credential": id.rawValue])
      show(nil)
    }
    worker.wake(self)
  }

  /// An answer has shown that the credential is taken: what an earlier process said against it holds no more.
  func isTaken() {
    if !hasSpoken { show(gate.blockedReason) }
  }

  func show(_ reason: String?) {
    guard shown != reason || !hasSpoken else { return }
    hasSpoken = true
    shown = reason
    metrics.blocked(reason != nil)
    guard !telling else { return }
    telling = true
    worker.background {
      var told: String?? = .none
      while told != .some(self.shown), !self.worker.isStopped {
        let reason = self.shown
        do throws(StoreError) {
          try await self.worker.store.setBlocked(self.id, reason: reason)
          told = .some(reason)
        } catch {
          await self.worker.loop.sleep(milliseconds: self.worker.settings.flush.repeatAfter)
        }
      }
      self.telling = false
    }
  }
}
