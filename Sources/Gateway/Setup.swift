import API
package import Configuration
import Console
package import Delivery
package import Domain
import HTTP2
import HTTPServer
package import RedisClient
package import Store
import Telemetry

/// A configuration that was read, with its credentials opened.
package struct Setup: Sendable {
  /// Of a running gateway: what it started with. A reload takes over apps, accounts and credentials, and keeps this to
  /// tell which settings wait for the next start.
  package internal(set) var configuration: Configuration
  package let apps: [AppID: App]
  package let accounts: [CredentialID: any ProviderAccount]
  /// Of the API; nil: it listens without TLS.
  package let certificate: ServerCertificate?
  /// What the accounts were opened from.
  let credentials: [CredentialID: Credential]

  /// Reads and opens everything; all faults of both at once.
  package init(file: String) throws(ConfigurationFaults) {
    let configuration = try Configuration.load(path: file, providers: Providers.terms)
    var opening = Opening()
    for entry in configuration.apps { opening.open(entry) }
    var certificate: ServerCertificate?
    do throws(ConfigurationFault) {
      certificate = try ServerCertificate(configuration.listen)
    } catch {
      opening.add(error)
    }
    self.certificate = certificate
    guard opening.faults.isEmpty else {
      throw ConfigurationFaults(file: file, faults: opening.faults, configuration: configuration)
    }
    self.configuration = configuration
    apps = opening.apps
    accounts = opening.accounts
    credentials = opening.credentials
  }

  /// What becomes of the members of an audience, by their route.
  func route(_ app: AppID, _ message: Message) -> (Address) -> Route {
    let resolver = RouteResolver(
      app: apps[app] ?? App(id: app), message: message, providers: Providers.byName, accounts: Set(accounts.keys))
    return resolver.route(of:)
  }

  /// Replicas that must have a message before it counts as accepted: the most that anybody asks for.
  package var replicas: Int { apps.values.map(\.replicas).reduce(configuration.durability.replicas, max) }

  func clock(_ app: AppID) -> AppClock { apps[app]?.clock ?? AppClock() }
}

extension Setup {
  /// Where its Redis is.
  package var redis: RedisEndpoint { configuration.endpoint }
  /// What the configuration says to the store.
  package var store: StoreSettings { configuration.store }

  /// What the configuration says to a worker.
  package var worker: WorkerSettings {
    var settings = WorkerSettings()
    settings.lane.concurrency = configuration.lanes.concurrency
    settings.lane.orderHold = configuration.lanes.orderHold
    settings.connectionsPerCredential = configuration.http2.connections
    settings.http2.connectTimeout = configuration.http2.connectTimeout
    settings.http2.answerTimeout = configuration.http2.answerTimeout
    settings.http2.pingAfter = configuration.http2.pingAfter
    settings.http2.pingTimeout = configuration.http2.pingTimeout
    settings.caFile = configuration.caFile
    settings.breaker.probeInterval = configuration.workers.probe
    settings.brake.floorShare = Double(configuration.pruneBrake.normalPercent) / 100
    settings.brake.factor = Double(configuration.pruneBrake.factor)
    settings.brake.minimumSample = configuration.pruneBrake.sample
    settings.rates = rates
    settings.quotas = configuration.quotas
    settings.retry = configuration.retry
    return settings
  }

  /// What the configuration says to the API.
  var service: ServiceSettings {
    let (limits, listen) = (configuration.limits, configuration.listen)
    var settings = ServiceSettings()
    settings.server.address = listen.address
    settings.server.port = listen.port
    settings.server.certificate = listen.certificate
    settings.server.key = listen.key
    settings.server.trustedProxies = listen.trustedProxies
    settings.server.maximumBody = limits.body
    settings.server.maximumConnections = limits.connections
    settings.server.connectionsPerAddress = limits.connectionsPerAddress
    settings.server.bytes = limits.bytes(memory: MemoryLimit.ofProcess)
    settings.failedKeysPerAddress = limits.failedKeys
    settings.maximumMessageBody = limits.messageBody
    settings.maximumBulkBody = limits.bulkBody
    switch listen.operations {
    case .open: settings.operations = .everybody
    case .key: settings.operations = .keys
    case .monitor: settings.operations = .elsewhere
    }
    settings.maximumTargets = limits.targets
    settings.caFile = configuration.caFile
    settings.http2 = worker.http2
    settings.urgentTargets = limits.urgentTargets
    settings.maximumDrafts = limits.drafts
    settings.maximumDraftBytes = limits.draftBody
    settings.logsSends = configuration.audit.logSends
    return settings
  }

  /// What the configuration says to the console.
  var console: ConsoleSettings {
    var settings = ConsoleSettings()
    settings.environment = configuration.console.environment
    settings.colour = ConsoleSettings.Colour(rawValue: configuration.console.colour.rawValue) ?? .grey
    settings.servesTLS = configuration.listen.certificate != nil
    return settings
  }

  /// Connections to a monitor.
  static let monitorConnections = 256

  /// Descriptors that the process may need: for the connections of the API and the monitor, those that linger, and a
  /// reserve for Redis, the providers, files and event loops.
  package func descriptors(api: Bool, monitor: Bool, workers: Int) -> Int {
    let lingering = HTTPServerSettings.lingeringConnections
    let connections =
      (api ? configuration.limits.connections + lingering : 0) + (monitor ? Self.monitorConnections + lingering : 0)
    let providers = workers * accounts.count * configuration.http2.connections
    return connections + providers + Descriptors.reserve
  }

  /// Recipients that each subscriber stands for, as the configuration has it.
  var timesSubscribers: [ProviderName: Int] { configuration.quotas.mapValues(\.timesSubscribers) }
  /// Deliveries a second, of apps that have a rate.
  var rates: [AppID: Int] { apps.compactMapValues(\.ratePerSecond) }

  var log: Log {
    switch configuration.logLevel {
    case .debug: Log(minimum: .debug)
    case .info: Log(minimum: .info)
    case .warning: Log(minimum: .warning)
    case .error: Log(minimum: .error)
    }
  }
}

extension Configuration.Limits {
  /// Bytes of bodies and answers. One body fits any share.
  func bytes(memory: Int) -> ByteLimits {
    let total = max(bytesInFlight ?? memory / 4, largestBody)
    func share(_ part: Double) -> Int { min(total, max(Int(Double(total) * part), largestBody)) }
    return ByteLimits(total: total, perKey: share(keyShare), perAddress: share(addressShare))
  }
}
