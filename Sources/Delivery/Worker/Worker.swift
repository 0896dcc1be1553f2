package import Domain
import HTTPClient
package import Loop
package import Store
package import TLS
package import Telemetry

/// One loop's share of the sending: leases partitions, claims jobs, keeps lanes, sends, judges, flushes. It holds
/// nothing that it cannot lose (design D4): dropped at any instant, another worker goes on from the store.
///
/// This is the shell: what is decided is decided by the machines in this folder. Loop-owned.
package final class Worker {
  let loop: EventLoop
  let store: Store
  let settings: WorkerSettings
  let log: Log
  let metrics: Metrics
  let counts: WorkerMetrics
  let http: HTTPClient
  let messages: Messages
  let ledger: DeliveryLedger
  let transports: Transports
  /// What becomes of the members of an audience, by their route.
  var resolver: (AppID, Message) -> (Address) -> Route
  let zones: ZoneBook
  var senders: [CredentialID: Sender] = [:]
  /// Partitions that start audiences, the first of them now.
  var starting = FIFO<Partition>()
  var lanes = Lanes<Delivery>()
  /// Members of audiences at work without a delivery.
  var inFlightMembers = InFlightMembers()
  var claims: ClaimPlan
  var partitions: [Int: Partition] = [:]
  var leases: [Int: LeasePlan] = [:]
  var share: SharePlan
  /// Names this worker among those that live.
  let serial = SecureRandom.word()
  let startedAt: WallTime
  /// The store has told which prune brakes are on.
  var knowsBrakes = false
  /// Of paced messages and apps.
  var rateQueues: [RateQueueName: RateLimitedQueue] = [:]
  var rates: [AppID: Int]
  var quotas: [ProviderName: Quota]
  var flushTimer: Timer?
  var tried = TriedDeliveries()
  private var pollTimer: Timer?
  /// Senders with something to send, in turns.
  private var awake: [Sender] = []
  private var dispatching = false
  private var draining = false
  private(set) var isStopped = false
  private var stopGrace: Int64 = 0
  private var stopWaiter: UnsafeContinuation<Void, Never>?
  private var tasks = 0
  private var idleWaiter: UnsafeContinuation<Void, Never>?
  /// Streams of credentials that are not configured: reported once.
  var strangers: Set<CredentialID> = []
  /// When it was last told that one is not configured, and when conditions without a queue were last dropped.
  var strangersTold: [CredentialID: (at: Instant, since: WallTime)] = [:]
  var droppedConditionsAt = Instant(nanoseconds: 0)

  /// Requests of one credential before another one's turn.
  private static let quantum = 64
  /// Milliseconds of a turn of the loop that go into sending.
  private static let moment: Int64 = 2

  package init(
    loop: EventLoop, store: Store, accounts: [CredentialID: any ProviderAccount], settings: WorkerSettings,
    metrics: Metrics, log: Log, decode: @escaping ([UInt8]) throws -> Message,
    resolver: @escaping (AppID, Message) -> (Address) -> Route,
    clocks: @escaping (AppID) -> AppClock = { _ in AppClock() },
    zones: ZoneBook = ZoneBook { _ in nil }
  ) throws(TLSFault) {
    self.loop = loop
    startedAt = loop.wallNow
    self.store = store
    self.settings = settings
    self.log = log
    self.metrics = metrics
    self.resolver = resolver
    rates = settings.rates
    quotas = settings.quotas
    counts = WorkerMetrics(metrics)
    messages = Messages(store: store, idleLimit: settings.idleMessages, decode: decode)
    ledger = DeliveryLedger(messages: messages.kept)
    self.zones = zones
    share = SharePlan(partitions: store.session.settings.partitions)
    claims = ClaimPlan(
      jobsAtOnce: settings.claim.jobsAtOnce, targetsPerJob: store.session.settings.targetsPerJob,
      membersAtOnce: settings.claim.membersAtOnce)
    var client = HTTPClientSettings()
    client.caFile = settings.caFile
    // Those that wait for a late answer have connections beside the others'.
    client.connectionsPerHost += settings.pool.lateMaximum
    http = HTTPClient(loop: loop, settings: client)
    transports = try Transports(loop: loop, http: http, settings: settings, log: log)
    messages.timing = { Timing($1, clocks($0), zones) }
    for (id, account) in accounts {
      senders[id] = Sender(worker: self, account: account, transport: try transports.make(account), settings: settings)
    }
    for number in 0..<store.session.settings.partitions {
      leases[number] = LeasePlan(duration: store.session.settings.leaseMilliseconds, now: loop.now)
    }
    store.session.onCondition { condition in
      log(condition == .ready ? .info : .warning, condition.word, ["detail": condition.detail])
    }
    store.session.onClockSkew { skew in
      log(
        skew == nil ? .info : .warning, skew == nil ? "clock_agrees" : "clock_skew",
        skew.map { ["detail": $0.text] } ?? [:])
    }
  }

  // MARK: Life

  /// Works until `stop`; returns when drained: nothing at work, everything flushed, leases released.
  package func run() async {
    store.session.onWakeup { [weak self] wakeup in self?.heard(wakeup) }
    store.session.onHistoryEnd = { [weak self] words in self?.historyEnded(words) }
    store.session.onOtherHistory = { [weak self] in self?.leaseAll(hurry: true) }
    everyBeat()
    everySweep()
    dropConditions(known: true)
    // To wait takes a turn of the loop: what is waited for may have come by then, here as below.
    await withUnsafeContinuation { waiter in
      if draining { waiter.resume() } else { stopWaiter = waiter }
    }
    await drain()
  }

  /// Stops claiming; what is at work finishes or goes back, the leases too, within `grace` milliseconds.
  package func stop(grace: Int64) {
    guard !draining else { return }
    draining = true
    stopGrace = grace
    stopWaiter?.resume()
    stopWaiter = nil
  }

  /// False once `stop` was called: nothing new begins.
  var mayBegin: Bool { !draining }
  /// A stream may open: few enough outcomes wait for their flush (design D4).
  var mayOpen: Bool { !draining && ledger.unflushed < settings.flush.unflushed }

  private func drain() async {
    let end = loop.now + max(stopGrace, Self.handBackMilliseconds)
    let deadline = loop.now + (stopGrace - min(stopGrace / 4, Self.handBackMilliseconds))
    while senders.values.contains(where: { !$0.isIdle }), loop.now < deadline { await loop.sleep(milliseconds: 5) }
    // What is still at work ends as unknown, and goes into the retry set.
    for sender in senders.values {
      sender.transport.close()
      for old in sender.retired { old.transport.close() }
    }
    http.close()
    while partitions.values.contains(where: { !$0.flush.isIdle }), loop.now < end {
      flushAll()
      await loop.sleep(milliseconds: 5)
    }
    isStopped = true
    for partition in partitions.values { partition.isLost = true }
    for plan in leases.values {
      guard let lease = plan.lease else { continue }
      background { try? await self.store.leases.release(lease) }
    }
    background { try? await self.store.workers.leave(worker: self.serial) }
    counts.leases.add(Int64(-partitions.count))
    partitions = [:]
    while tasks > 0, loop.now < end { await loop.sleep(milliseconds: 1) }
    guard tasks > 0 else { return }
    // Redis does not answer: the leases run out by themselves.
    store.close()
    await withUnsafeContinuation { waiter in
      if tasks == 0 { waiter.resume() } else { idleWaiter = waiter }
    }
  }
  /// What outcomes and leases have to get back to the store, of the time that a stop is given.
  private static let handBackMilliseconds: Int64 = 1_000

  /// A task under `run`, which returns only after it.
  func background(_ body: @escaping () async -> Void) {
    tasks += 1
    loop.spawn {
      await body()
      self.tasks -= 1
      if self.tasks == 0, let waiter = self.idleWaiter {
        self.idleWaiter = nil
        waiter.resume()
      }
    }
  }

  private func heard(_ wakeup: Wakeup) {
    guard mayBegin else { return }
    switch wakeup {
    case .work(let stream):
      guard partitions[stream.partition]?.takesWork == true, knows(stream.credential) else { return }
      claims.rang(stream)
      claim()
    case .start(let number):
      if let partition = partitions[number] { startAudiences(of: partition) }
    case .controlled(let message, let number, let control):
      if let partition = partitions[number] { controlled(message, control, in: partition) }
    case .released(let number): askForFreed(number)
    case .braked: background { try? await self.readBrakes() }
    case .reconnected:
      leaseAll(hurry: true)
      for partition in partitions.values { look(at: partition) }
      flushAll()
    }
  }

  private func everySweep() {
    loop.after(milliseconds: settings.sweepInterval) { [weak self] in
      guard let self, mayBegin else { return }
      leaseAll()
      for partition in partitions.values { look(at: partition) }
      sweepLanes()
      tidyRateQueues()
      sweepConditions()
      observe()
      everySweep()
    }
  }

  /// While jobs are at work, their streams may get more without a wakeup.
  func pollSoon() {
    guard pollTimer == nil, mayBegin, claims.hasOutstanding else { return }
    pollTimer = loop.after(milliseconds: settings.claim.pollInterval) { [weak self] in
      guard let self else { return }
      pollTimer = nil
      claims.poll()
      claim()
      pollSoon()
    }
  }

  private func observe() {
    counts.lanes.set(Int64(lanes.count))
    counts.unflushed.set(Int64(ledger.unflushed))
    for sender in senders.values {
      sender.metrics.connections(sender.transport.connections)
      sender.metrics.limit(sender.concurrency)
      sender.tidyRetired()
    }
  }

  // MARK: Turns

  /// The sender may have something to send: it is asked at the end of this turn.
  func wake(_ sender: Sender) {
    guard !sender.isAwake else { return }
    sender.isAwake = true
    awake.append(sender)
    guard !dispatching else { return }
    dispatching = true
    dispatchLast()
  }

  /// In turns, so that nobody's flood holds back the others: urgent sends first, bulk for a moment, then the loop looks
  /// after what has come meanwhile. Without that a campaign fills all streams that came free before anything else is
  /// heard.
  private func dispatch() {
    for sender in awake where sender.hasUrgent { _ = sender.dispatch(quantum: Self.quantum, onlyUrgent: true) }
    let end = loop.now + Self.moment
    while !awake.isEmpty, loop.now < end {
      let turn = awake
      awake.removeAll(keepingCapacity: true)
      for (place, sender) in turn.enumerated() {
        guard place == 0 || loop.now < end else {
          awake = turn[place...] + awake
          break
        }
        sender.isAwake = false
        if sender.dispatch(quantum: Self.quantum) { wake(sender) }
      }
    }
    dispatching = !awake.isEmpty
    if dispatching { loop.after(milliseconds: 0) { [weak self] in self?.dispatchLast() } }
    claim()
  }

  /// At the end of the turn, behind what others write at its end: commands to the store must not wait for bulk.
  private func dispatchLast() {
    loop.atEndOfTurn { [weak self] in self?.loop.atEndOfTurn { self?.dispatch() } }
  }

  /// All senders may go on: a flush made room for outcomes.
  func wakeAll() {
    for sender in senders.values where sender.hasWaiting { wake(sender) }
  }
}
