package import Domain
import HTTPClient
package import Loop
package import Store
package import TLS
package import Telemetry

/// What the store refers to in place of a worker, for the reason that `TransportEvents` has.
private final class StoreEvents {
  /// It owns this.
  unowned let worker: Worker

  init(_ worker: Worker) { self.worker = worker }
}

/// One loop's share of the sending: leases partitions, claims jobs, keeps lanes, sends, judges, flushes. It holds
/// nothing that it cannot lose (design D4): dropped at any instant, another worker goes on from the store.
///
/// The work is done by its parts; what is decided is decided by the machines beside them. Loop-owned.
package final class Worker {
  let context: WorkerContext
  let http: HTTPClient
  let transports: Transports
  /// What becomes of the members of an audience, by their route.
  var resolver: (AppID, Message) -> (Address) -> Route
  let zones: ZoneBook
  var quotas: [ProviderName: Quota]
  var senders: [CredentialID: Sender] = [:]
  /// Names this worker among those that live.
  let serial = SecureRandom.word()
  let startedAt: WallTime
  private var stopGrace: Int64 = 0
  private lazy var events = StoreEvents(self)

  // From a lease to a delivery in memory.
  private(set) lazy var leaseKeeper = LeaseKeeper(self)
  private(set) lazy var claimer = Claimer(self)
  private(set) lazy var starter = AudienceStarter(self)
  private(set) lazy var retries = RetrySet(self)
  private(set) lazy var admission = Admission(self)
  private(set) lazy var unconfigured = UnconfiguredCredentials(self)
  // What waits, and whose turn it is.
  private(set) lazy var rateQueues = RateQueues(self)
  private(set) lazy var caps = CapKeeper(self)
  private(set) lazy var laneKeeper = LaneKeeper(self)
  private(set) lazy var barriers = OrderBarriers(self)
  private(set) lazy var turns = SenderTurns(self)
  private(set) lazy var control = ControlHandler(self)
  // To its outcome.
  private(set) lazy var settler = DeliverySettler(self)
  private(set) lazy var batchSettler = BatchSettler(self)
  private(set) lazy var attempts = AttemptTeller(self)
  private(set) lazy var pruner = Pruner(self)
  private(set) lazy var flusher = OutcomeFlusher(self)
  private(set) lazy var sweeper = PartitionSweeper(self)

  package init(
    loop: EventLoop, store: Store, accounts: [CredentialID: any ProviderAccount], settings: WorkerSettings,
    metrics: Metrics, log: Log, decode: @escaping ([UInt8]) throws -> Message,
    resolver: @escaping (AppID, Message) -> (Address) -> Route,
    clocks: @escaping (AppID) -> AppClock = { _ in AppClock() },
    zones: ZoneBook = ZoneBook { _ in nil }
  ) throws(TLSFault) {
    let messages = Messages(store: store, idleLimit: settings.idleMessages, decode: decode)
    messages.timing = { Timing($1, clocks($0), zones) }
    context = WorkerContext(
      loop: loop, store: store, settings: settings, log: log, metrics: metrics, messages: messages)
    startedAt = loop.wallNow
    self.resolver = resolver
    self.zones = zones
    quotas = settings.quotas
    var client = HTTPClientSettings()
    client.caFile = settings.caFile
    // Those that wait for a late answer have connections beside the others'.
    client.connectionsPerHost += settings.pool.lateMaximum
    http = HTTPClient(loop: loop, settings: client)
    transports = try Transports(loop: loop, http: http, settings: settings, log: log)
    for (id, account) in accounts {
      senders[id] = Sender(worker: self, account: account, transport: try transports.make(account))
    }
    store.session.onNews { isFault, word, fields in log(isFault ? .warning : .info, word, fields) }
  }

  // MARK: Life

  /// Works until `stop`; returns when drained: nothing at work, everything flushed, leases released.
  package func run() async {
    let session = context.store.session
    session.onWakeup { [weak events] wakeup in events?.worker.heard(wakeup) }
    session.onHistoryEnd = { [weak events] words in events?.worker.leaseKeeper.historyEnded(words) }
    session.onOtherHistory = { [weak events] in events?.worker.leaseKeeper.leaseAll(hurry: true) }
    leaseKeeper.everyBeat()
    sweeper.everySweep()
    unconfigured.dropConditions(known: true)
    await context.waitForDrain()
    await drain()
  }

  /// Stops claiming; what is at work finishes or goes back, the leases too, within `grace` milliseconds.
  package func stop(grace: Int64) {
    if context.drain() { stopGrace = grace }
  }

  private func drain() async {
    let loop = context.loop
    let end = loop.now + max(stopGrace, Self.handBackMilliseconds)
    let deadline = loop.now + (stopGrace - min(stopGrace / 4, Self.handBackMilliseconds))
    while senders.values.contains(where: { !$0.isIdle }), loop.now < deadline { await loop.sleep(milliseconds: 5) }
    // What is still at work ends as unknown, and goes into the retry set.
    for sender in senders.values { sender.close() }
    http.close()
    while leaseKeeper.partitions.values.contains(where: { !$0.flush.isIdle }), loop.now < end {
      flusher.flushAll()
      await loop.sleep(milliseconds: 5)
    }
    context.stopped()
    leaseKeeper.releaseAll()
    while context.hasTasks, loop.now < end { await loop.sleep(milliseconds: 1) }
    guard context.hasTasks else { return }
    // Redis does not answer: the leases run out by themselves.
    context.store.close()
    await context.waitForTasks()
  }
  /// What outcomes and leases have to get back to the store, of the time that a stop is given.
  private static let handBackMilliseconds: Int64 = 1_000

  private func heard(_ wakeup: Wakeup) {
    guard context.mayBegin else { return }
    let partitions = leaseKeeper.partitions
    switch wakeup {
    case .work(let stream):
      guard partitions[stream.partition]?.takesWork == true, unconfigured.knows(stream.credential) else { return }
      claimer.claims.woken(stream)
      claimer.claim()
    case .start(let number):
      if let partition = partitions[number] { starter.startAudiences(of: partition) }
    case .controlled(let message, let number, let control):
      if let partition = partitions[number] { self.control.controlled(message, control, in: partition) }
    case .released(let number): leaseKeeper.askForFreed(number)
    case .braked: context.background { try? await self.pruner.readBrakes() }
    case .reconnected:
      leaseKeeper.leaseAll(hurry: true)
      for partition in partitions.values { sweeper.look(at: partition) }
      flusher.flushAll()
    }
  }
}
