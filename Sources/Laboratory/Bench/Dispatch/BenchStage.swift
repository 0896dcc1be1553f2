import Configuration
import Domain
import Glibc
import JSON
import Loop
import Processes
import RedisClient
import Store
import TLS

/// All that stands around a worker in a benchmark: Redis, responders and the API, on the core that the worker does not have.
/// Made and used on the main thread; `close` ends it.
final class BenchStage {
  let folder = ScratchFolder()
  let redis: MeasuredRedis
  let responders: [ProviderName: ResponderProcess]
  let configuration: String
  let file: String
  let key: String
  let log: String
  private var api: GatewayProcess?

  static let workerCore = 0
  static var otherCore: Int { Machine.cores > 1 ? 1 : 0 }

  /// `dump`: of a store to start with. `fsync`: Redis' appendfsync; nil: nothing is kept on disk.
  init(
    responders settings: [ResponderSettings], connections: Int, dump: String? = nil, shortened: Bool = false,
    fsync: String? = nil
  ) throws {
    if let dump { try Populations.link(dump, into: folder) }
    log = folder.file("bench.log")
    redis = try MeasuredRedis(in: folder.path, core: Self.otherCore, fsync: fsync)
    let socket = redis.socket
    // It has loaded its data when it answers.
    try Blocking.run { loop in try await RedisGauge(loop, socket: socket).close() }
    var started: [ProviderName: ResponderProcess] = [:]
    var authorities: [UInt8] = []
    for var settings in settings {
      settings.directory = folder.folder(settings.provider.rawValue)
      let responder = try ResponderProcess(settings, log: log, core: Self.otherCore)
      started[settings.provider] = responder
      authorities += FileContent.read(responder.caFile) ?? []
    }
    responders = started
    _ = FileContent.write(authorities, to: folder.file("ca.pem"))
    configuration = BenchConfiguration(
      folder: folder, socket: redis.socket, responders: started, connections: connections, shortened: shortened
    ).text()
    file = folder.write("fanfare.json5", configuration)
    key = try GatewayProcess.makeKey(config: file, log: log)
  }

  /// Starts the API if it does not run; where it listens.
  func url(core: Int? = nil) throws -> String {
    if api == nil {
      api = try GatewayProcess(
        config: file, log: log, core: core ?? Self.otherCore, arguments: ["--api-only"])
    }
    return api?.url ?? ""
  }
  var apiID: pid_t { api?.id ?? 0 }

  func worker() throws -> GatewayProcess {
    try GatewayProcess(config: file, log: log, core: Self.workerCore, arguments: ["--worker-only"])
  }

  func close() {
    api?.stop()
    redis.stop()
  }
}

/// Redis as the operator sees it.
final class RedisGauge {
  private let redis: Redis

  /// On a loop.
  init(_ loop: EventLoop, socket: String) async throws {
    redis = Redis(loop: loop, endpoint: RedisEndpoint(.unix(path: socket)))
    while !redis.isReady { await loop.sleep(milliseconds: 1) }
    _ = try await redis.call(RedisCommand("CONFIG", "SET", "slowlog-log-slower-than", "1000"))
    _ = try await redis.call(RedisCommand("CONFIG", "SET", "slowlog-max-len", "100000"))
    // Redis keeps a histogram for each kind of command from its first one on, 0.8 MB in all, which would count as stored.
    _ = try await redis.call(RedisCommand("CONFIG", "SET", "latency-tracking", "no"))
  }

  /// Bytes of what is stored: without what connections and the texts of scripts need. Lua's own memory counts for none of it
  /// (Redis' manual, `INFO`).
  func stored() async throws -> Int {
    let memory = try await RedisMemory(of: redis)
    return memory.used - memory["mem_clients_normal"] - memory["used_memory_scripts"]
  }

  /// Commands over a millisecond since it began, and the longest in microseconds.
  func slow() async throws -> (count: Int, longest: Int64) {
    let slow = try await redis.call(RedisCommand("SLOWLOG", "GET", "100000")).array ?? []
    let durations = slow.compactMap { entry in entry.array.flatMap { $0.count > 2 ? $0[2].integer : nil } }
    return (durations.count, durations.max() ?? 0)
  }

  func close() { redis.close() }
}
