import Configuration
import Domain
import Glibc
import Loop
import Sandbox
import Store

/// What is broken on purpose: a durable Redis, the vendors' stand-ins, an API and several workers, each gateway process a
/// child of its own. Main thread only.
final class ChaosStack {
  /// Milliseconds.
  static let lease = 2_000
  static let drain = 2_000
  /// Streams of one connection, so that what is in flight has a bound.
  static let streams = 200
  static let connections = 2

  private let folder: ScratchFolder
  private(set) var redis: PrivateRedis
  /// Follows it.
  private(set) var replica: PrivateRedis?
  private var heirs = 0
  let vendors: Vendors
  let key: String
  let url: String
  private let config: String
  private(set) var api: GatewayProcess
  private(set) var workers: [GatewayProcess] = []
  /// The clock of the first worker, if it can be moved: a file that says by how many seconds.
  private(set) var clock: String?

  private static let clockLibrary = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
  /// libfaketime asks for memory before it knows the time, and jemalloc for the time before it has memory: beside it the C library's
  /// own malloc stands first.
  private static let memoryLibrary = "libc.so.6"

  /// `more`: settings beside those of the demo. `logEntries`: what the stand-ins remember. `ownClock`: the first worker lives by
  /// a clock of its own, where that is possible. `durable`: every write is on Redis' disk before its answer.
  init(
    in folder: ScratchFolder, workers count: Int, more: String = "", hasReplica: Bool = false, logEntries: Int,
    ownClock: Bool = true, durable: Bool = true
  ) throws {
    self.folder = folder
    redis = try PrivateRedis(
      in: folder.path, fsync: durable ? "always" : nil, port: hasReplica ? FreePort.take() : nil)
    var settings = SandboxSettings(directory: folder.folder("vendors"))
    settings.takeFreePorts()
    settings.replaceBusyPorts = true
    settings.logEntries = logEntries
    settings.logBodyBytes = 2 << 30
    settings.logBodiesUpTo = 1 << 16
    settings.apnsStreams = Self.streams
    settings.fcmStreams = Self.streams
    vendors = try Vendors(settings)
    var floors = SandboxApp.Floors()
    floors.attempts = 100
    let (socket, ports, vendorFolder) = (redis.socket, vendors.ports, vendors.directory)
    func text(port: Int) -> String {
      var app = SandboxApp(
        redisSocket: socket, port: port, vendors: ports, directory: vendorFolder, shortened: floors)
      // Reloads are logged, by which a moved clock shows.
      app.logLevel = "info"
      app.more = """
        workers: { lease: "\(Self.lease)ms", drain: "\(Self.drain)ms" },
          http2: { connections: \(Self.connections), answer_timeout: "5s" },
          \(more)
        """
      return app.text
    }
    config = folder.write("fanfare.json5", text(port: 0))
    key = try DemoKey.make(try Setup(file: config))
    let log = folder.file("gateway.log")
    var first = try GatewayProcess(config: config, log: log, arguments: ["--api-only"])
    // Its port is to be the same after a restart.
    let port = Int(first.url.split(separator: ":").last ?? "") ?? 0
    folder.write("fanfare.json5", text(port: port))
    first.stop()
    first = try GatewayProcess(config: config, log: log, arguments: ["--api-only"])
    api = first
    url = first.url
    if ownClock, access(Self.clockLibrary, R_OK) == 0, !Self.isSanitized { clock = folder.write("clock", "+0\n") }
    for place in 0..<count { workers.append(try startWorker(place)) }
    if hasReplica { try startReplica() }
  }

  /// A sanitizer has to be the first of all libraries, and so has libfaketime: with both a process does not start.
  private static var isSanitized: Bool { dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil }

  private func startWorker(_ place: Int) throws(ChildProcess.StartFailure) -> GatewayProcess {
    var environment: [String] = []
    if place == 0, let clock {
      environment = [
        "LD_PRELOAD=\(Self.clockLibrary) \(Self.memoryLibrary)", "FAKETIME_TIMESTAMP_FILE=\(clock)",
        "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_CACHE_DURATION=1", "FAKETIME_DONT_RESET=1",
      ]
    }
    return try GatewayProcess(
      config: config, log: folder.file("gateway.log"), arguments: ["--worker-only"], environment: environment)
  }

  /// What a crash of one worker can double: what was in flight, and what was not flushed (design D4).
  static let doublesPerCrash = 2_000 + 2 * connections * streams

  func killWorker(_ place: Int) throws {
    workers[place].child.destroy()
    workers[place] = try startWorker(place)
  }

  /// SIGTERM; whether it ended with 0 within its time.
  func drainWorker(_ place: Int) throws -> Bool {
    let began = Clock.milliseconds
    workers[place].child.stop(grace: Self.drain * 2)
    let time = Clock.milliseconds - began
    let code = workers[place].child.exitCode
    workers[place] = try startWorker(place)
    return code == 0 && time <= Self.drain + 1_000
  }

  func killAPI() throws {
    api.child.destroy()
    api = try GatewayProcess(config: config, log: folder.file("gateway.log"), arguments: ["--api-only"])
  }

  private func startReplica() throws(ChildProcess.StartFailure) {
    heirs += 1
    replica = try PrivateRedis(
      in: folder.folder("replica-\(heirs)"), fsync: "always", port: FreePort.take(), following: redis)
  }

  /// Whether the replica has all that Redis has written until now.
  func replicaFollows() throws -> Bool {
    guard let replica, try replica.info("replication", "master_link_status") == "up",
      let wanted = try redis.info("replication", "master_repl_offset").flatMap({ Int($0) }),
      let offset = try replica.info("replication", "slave_repl_offset").flatMap({ Int($0) })
    else { return false }
    return offset >= wanted
  }

  /// Redis dies, the replica stands where it was, and another one follows.
  func failOver() throws {
    guard let heir = replica else { return }
    try heir.takeOver(from: redis)
    redis = heir
    try startReplica()
  }

  /// The first worker's clock is ahead by so many seconds.
  func moveClock(_ seconds: Int) {
    if clock != nil { folder.write("clock", seconds < 0 ? "\(seconds)\n" : "+\(seconds)\n") }
  }

  /// Whether the first worker lives by the moved clock, by the time of what it logs. A reload that changes nothing makes it log.
  func clockIsMoved(by seconds: Int) -> Bool {
    let deadline = Clock.milliseconds + 5_000
    repeat {
      workers[0].child.signal(SIGHUP)
      usleep(100_000)
      let lines = (FileContent.read(folder.file("gateway.log")) ?? []).suffix(1 << 16).split(separator: 0x0a)
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      let expected = Int64(time.tv_sec + seconds)
      for line in lines.suffix(200) {
        let text = String(decoding: line, as: UTF8.self)
        guard text.contains("event=configuration_reloaded"), let told = text.firstMatch(of: /time=(\S+)/)?.1,
          let at = WallTime(rfc3339: String(told))
        else { continue }
        if abs(at.seconds - expected) <= 5 { return true }
      }
    } while Clock.milliseconds < deadline
    return false
  }

  /// A process that has ended although nobody ended it.
  var ended: String? {
    if !api.child.isRunning { return "the API" }
    return workers.firstIndex { !$0.child.isRunning }.map { "worker \($0 + 1)" }
  }

  func stop() {
    for worker in workers { worker.stop() }
    api.stop()
    vendors.stop()
    replica?.stop()
    redis.stop()
  }

  /// The last lines of the gateway's processes.
  static func lastWords(in folder: ScratchFolder) -> String {
    guard let log = FileContent.read(folder.file("gateway.log")), !log.isEmpty else { return "" }
    return "the gateway's last lines:\n" + String(decoding: log.suffix(3_000), as: UTF8.self)
  }
}

/// A key for a stack of one's own.
enum DemoKey {
  static func make(_ setup: Setup) throws -> String {
    try Blocking.run { loop in
      let store = Store(loop: loop, redis: setup.redis, settings: setup.store)
      defer { store.close() }
      try await store.open()
      return try await store.keyring.create(
        app: AppID(rawValue: SandboxApp.id), scopes: [.send, .devices, .read], note: "demo", now: loop.wallNow
      ).secret
    }
  }
}
