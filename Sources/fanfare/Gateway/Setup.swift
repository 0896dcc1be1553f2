import CommandFrame
import Configuration
import Delivery
import Domain
import Glibc
import HTTP2
import JSON
import RedisClient
import Store
import Telemetry

/// A configuration that was read, with its credentials opened.
struct Setup: Sendable {
  var configuration: Configuration
  let apps: [AppID: App]
  let accounts: [CredentialID: any ProviderAccount]
  /// What the accounts were opened from.
  let credentials: [CredentialID: Credential]

  /// The file named by `--config`, by FANFARE_CONFIG, or `fanfare.json5` here.
  static func file(_ arguments: Arguments) -> String {
    arguments.text(Command.configuration.name) ?? getenv("FANFARE_CONFIG").map { String(cString: $0) }
      ?? "fanfare.json5"
  }

  /// Reads and opens everything; all faults of both at once.
  init(file: String) throws(ConfigurationFaults) {
    let configuration = try Configuration.load(path: file, providers: Providers.terms)
    var opening = Opening()
    for entry in configuration.apps { opening.open(entry) }
    guard opening.faults.isEmpty else { throw ConfigurationFaults(file: file, faults: opening.faults) }
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
  var replicas: Int { apps.values.map(\.replicas).reduce(configuration.durability.replicas, max) }

  func clock(_ app: AppID) -> AppClock { apps[app]?.clock ?? AppClock() }

  /// For commands: prints the faults and ends with their exit code.
  static func load(_ arguments: Arguments) throws(ExitCode) -> Setup {
    do {
      return try Setup(file: file(arguments))
    } catch {
      report(error, json: arguments.wantsJSON)
      throw .configuration
    }
  }

  static func report(_ faults: ConfigurationFaults, json: Bool) {
    guard json else {
      Terminal.note("\(faults.file): \(counted(faults.faults.count, "fault"))")
      for fault in faults.faults { Terminal.note("  \(fault.text)") }
      return
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("file", faults.file)
    writer.objects("faults", faults.faults) { writer, fault in
      writer.member("pointer", fault.pointer)
      writer.member("line", fault.line)
      writer.member("column", fault.column)
      writer.member("problem", fault.problem)
      writer.member("fix", fault.fix)
    }
    writer.endObject()
    Terminal.print(writer.bytes)
  }
}

extension Setup {
  var redis: RedisEndpoint {
    let settings = configuration.redis
    var endpoint: RedisEndpoint
    switch settings.place {
    case .unix(let path): endpoint = RedisEndpoint(.unix(path: path))
    case .tcp(let host, let port, let tls):
      endpoint = RedisEndpoint(.tcp(host: host, port: port, tls: tls, caFile: settings.caFile))
    }
    endpoint.username = settings.username
    endpoint.password = settings.password
    endpoint.database = settings.database
    return endpoint
  }

  var store: StoreSettings {
    var settings = StoreSettings()
    settings.partitions = configuration.partitions
    settings.leaseMilliseconds = configuration.workers.lease
    settings.replicaMilliseconds = configuration.durability.timeout
    settings.retentionSeconds = configuration.retention.time / 1_000
    settings.retentionBytes = configuration.retention.bytes
    settings.prefix = configuration.redis.prefix
    settings.devicesPerUser = configuration.limits.devicesPerUser
    return settings
  }

  var worker: WorkerSettings {
    var settings = WorkerSettings()
    settings.lane.concurrency = configuration.lanes.concurrency
    settings.lane.orderHold = configuration.lanes.orderHold
    settings.connectionsPerCredential = configuration.http2.connections
    settings.http2.connectTimeout = configuration.http2.connectTimeout
    settings.http2.answerTimeout = configuration.http2.answerTimeout
    settings.http2.pingAfter = configuration.http2.pingAfter
    settings.http2.pingTimeout = configuration.http2.pingTimeout
    settings.caFile = configuration.caFile
    settings.gate.probeInterval = configuration.workers.probe
    settings.brake.floorShare = Double(configuration.pruneBrake.normalPercent) / 100
    settings.brake.factor = Double(configuration.pruneBrake.factor)
    settings.brake.minimumSample = configuration.pruneBrake.sample
    settings.rates = rates
    settings.quotas = configuration.quotas
    settings.retry = configuration.retry
    return settings
  }

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
