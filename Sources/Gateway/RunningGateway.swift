import API
package import Configuration
import Console
import Delivery
package import Domain
import HTTPServer
import Loop
package import Store
import TLS
import Telemetry

/// The gateway of one process: the API on a loop, workers on loops of their own, a store connection each. Used from the
/// main thread only; `start` and `stop` block.
package final class RunningGateway {
  /// Why it did not start.
  package enum Failure: Error {
    case store(StoreError)
    case listen(String)
    /// The authorities to trust cannot be read.
    case trust(String)
    /// The configuration is strict, and something suits only a private network.
    case risky([Risk])
    /// The process may not open as many descriptors as it may need.
    case descriptors(DescriptorShortage)
  }

  private var setup: Setup
  private let metrics = Metrics()
  private let reloads: ReloadMetrics
  private let log: Log
  private var api: APIThread?
  private var monitor: APIThread?
  private var workerThreads: [WorkerThread] = []

  /// Nothing runs yet.
  package init(_ setup: Setup) {
    self.setup = setup
    log = setup.log
    reloads = ReloadMetrics(metrics)
    reloads.began(with: setup, log)
  }

  /// Reads the configuration anew. With faults it is refused, and all goes on as before; without, apps and credentials
  /// take effect, and settings that wait for the next start are named in the log.
  package func reload(file: String) {
    let next: Setup
    do throws(ConfigurationFaults) {
      next = try Setup(file: file)
      let faults = Reload.faults(from: setup, to: next)
      guard faults.isEmpty else { throw ConfigurationFaults(file: file, faults: faults) }
    } catch {
      return refuse(error)
    }
    let reload = Reload(from: setup, to: next)
    do {
      for workerThread in workerThreads { try workerThread.adopt(next, reload) }
      try api?.adopt(next)
      try monitor?.adopt(next)
    } catch {
      return refuse(
        ConfigurationFaults(
          file: file,
          faults: [ConfigurationFault(pointer: "", problem: "\(error)", fix: "Correct it and send SIGHUP again")]))
    }
    // What waits for the next start is compared with what is at work, not with what was read last.
    var running = next
    running.configuration = setup.configuration
    setup = running
    reloads.took(next, reload, log)
  }

  private func refuse(_ faults: ConfigurationFaults) {
    reloads.refused(faults, log)
    let first = faults.faults[0].text
    let more = faults.faults.count - 1
    for thread in [api, monitor] {
      thread?.refused(more == 0 ? first : "\(first) (and \(more) \(more == 1 ? "fault" : "faults") more)")
    }
  }

  /// Where it listens; nil: nowhere.
  package struct Ports: Sendable {
    package var api: Int?
    package var monitor: Int?
  }

  /// Starts what is asked for. Waits for Redis as long as the configuration says, or until a signal asks to stop.
  /// Throws `Failure`, and then leaves nothing running. `isTrial`: it is known not to be for the open internet, so no
  /// risks are told.
  package func start(
    api: Bool, workers: Int, monitor: Configuration.Monitor? = nil, isTrial: Bool = false
  ) throws -> Ports {
    // Before anything is opened.
    let needed = setup.descriptors(api: api, monitor: monitor != nil, workers: workers)
    if let shortage = Descriptors.raise(toFit: needed) { throw Failure.descriptors(shortage) }
    var store = setup.store
    if api, workers > 0 { store.recentMessages = RecentMessages() }
    do {
      for number in 0..<workers {
        let workerThread = WorkerThread(name: "worker-\(number)")
        workerThreads.append(workerThread)
        try workerThread.open(setup, store, metrics, log, weighsRisks: number == 0 && !isTrial)
      }
      var ports = Ports()
      if api {
        let api = APIThread()
        self.api = api
        ports.api = try api.open(setup, store, metrics, log, at: .api, weighsRisks: workers == 0 && !isTrial)
      }
      if let monitor {
        let thread = APIThread()
        self.monitor = thread
        ports.monitor = try thread.open(
          setup, store, metrics, log, at: .monitor(monitor, beside: api), weighsRisks: false)
      }
      return ports
    } catch {
      stop(grace: 0)
      switch error {
      case let failure as Failure: throw failure
      case let failure as StoreError: throw Failure.store(failure)
      case let failure as HTTPServerFailure: throw Failure.listen(failure.reason)
      case let failure as TLSFault: throw Failure.trust(failure.reason)
      default: preconditionFailure("\(error)")
      }
    }
  }

  /// Takes no more requests, lets what is at work finish for at most `grace` milliseconds (nil: as configured), hands
  /// the leases back.
  package func stop(grace: Int64? = nil) {
    for workerThread in workerThreads { workerThread.stop(grace: grace ?? setup.configuration.workers.drain) }
    monitor?.close()
    monitor = nil
    api?.close()
    api = nil
    for workerThread in workerThreads { workerThread.close() }
    workerThreads = []
  }

  /// Makes an API key, through the connection of the API.
  package func createKey(_ new: NewKey, app: AppID) throws -> String {
    guard let api else { preconditionFailure("keys are made while the API runs") }
    return try api.createKey(new, app: app)
  }
}

/// The API with its loop and store. The objects are touched on the loop only.
private final class APIThread: @unchecked Sendable {
  private let loop = EventLoop(name: "api")
  private let thread: LoopThread
  private var store: Store?
  private var service: Service?
  private var certificate: APICertificate?

  init() { thread = loop.start() }

  /// What it listens as. `beside`: the same process serves the API as well.
  enum Role {
    case api
    case monitor(Configuration.Monitor, beside: Bool)
  }

  /// The port. `weighsRisks`: this is the first part of the process that opens.
  func open(
    _ setup: Setup, _ settings: StoreSettings, _ metrics: Metrics, _ log: Log, at role: Role, weighsRisks: Bool
  ) throws -> Int {
    try Blocking.on(loop) { [self] in
      let store = Store(loop: loop, redis: setup.redis, settings: settings)
      self.store = store
      try await store.open(of: setup, log)
      if weighsRisks { try await setup.weighRisks(store, log) }
      var settings = setup.service
      if case .monitor(let monitor, let isBeside) = role {
        settings.operations = .everybody
        settings.logsConditions = !isBeside
        settings.server.maximumConnections = Setup.monitorConnections
        settings.server.address = monitor.address
        settings.server.port = monitor.port
        settings.server.certificate = nil
        settings.server.key = nil
        settings.onlyOpen = true
      }
      let service = Service(
        loop: loop, store: store, apps: setup.apps, providers: Providers.byName, accounts: setup.accounts,
        timesSubscribers: setup.timesSubscribers, settings: settings, metrics: metrics, log: log, zones: ZoneFiles.book)
      if case .api = role, setup.configuration.console.isServed {
        service.serve(Console(service: service, sessions: store.consoleSessions, loop: loop, settings: setup.console))
      }
      let port = try service.start()
      self.service = service
      if case .api = role, let shown = setup.certificate {
        certificate = APICertificate(
          shown, setup.configuration.listen, of: service, loop: loop, metrics: metrics, log: log)
      }
      return port
    }
  }

  func adopt(_ setup: Setup) throws {
    try Blocking.on(loop) { [self] in
      if let certificate, let next = setup.certificate { try certificate.adopt(next, setup.configuration.listen) }
      service?.adopt(apps: setup.apps, accounts: setup.accounts, timesSubscribers: setup.timesSubscribers)
    }
  }

  func refused(_ reason: String) {
    try? Blocking.on(loop) { [self] in service?.refused(configuration: reason) }
  }

  func createKey(_ new: NewKey, app: AppID) throws -> String {
    try Blocking.on(loop) { [self] in
      guard let store else { preconditionFailure("the API is open") }
      let entry = AuditEntry(command: "createKey", at: loop.wallNow)
      return try await store.audit.record(entry, app: app) { [loop] in
        try await store.keyring.create(new, app: app, now: loop.wallNow)
      } tell: { made, entry in
        entry.created = made.key.id
      }.secret
    }
  }

  func close() {
    try? Blocking.on(loop) { [self] in
      certificate?.close()
      await service?.stop()
      store?.close()
      certificate = nil
      service = nil
      store = nil
    }
    loop.stop()
    thread.join()
  }
}

/// A worker with its loop and store. The objects are touched on the loop only.
private final class WorkerThread: @unchecked Sendable {
  private let loop: EventLoop
  private let thread: LoopThread
  private var store: Store?
  private var worker: Worker?
  private var work: Task<Void, Never>?

  init(name: String) {
    loop = EventLoop(name: name)
    thread = loop.start()
  }

  func open(
    _ setup: Setup, _ settings: StoreSettings, _ metrics: Metrics, _ log: Log, weighsRisks: Bool
  ) throws {
    try Blocking.on(loop) { [self] in
      let store = Store(loop: loop, redis: setup.redis, settings: settings)
      self.store = store
      try await store.open(of: setup, log)
      if weighsRisks { try await setup.weighRisks(store, log) }
      let worker = try Worker(
        loop: loop, store: store, accounts: setup.accounts, settings: setup.worker, metrics: metrics, log: log,
        decode: StoredBody.message, resolver: setup.route, clocks: setup.clock, zones: ZoneFiles.book)
      self.worker = worker
      work = loop.spawn { await worker.run() }
    }
  }

  func adopt(_ setup: Setup, _ reload: Reload) throws {
    try Blocking.on(loop) { [self] in
      try worker?.adopt(
        setup.accounts, changed: reload.changed, resolver: setup.route, clocks: setup.clock, rates: setup.rates,
        quotas: setup.configuration.quotas)
    }
  }

  func stop(grace: Int64) {
    try? Blocking.on(loop) { [self] in worker?.stop(grace: grace) }
  }

  func close() {
    try? Blocking.on(loop) { [self] in
      await work?.value
      store?.close()
      worker = nil
      store = nil
    }
    loop.stop()
    thread.join()
  }
}
