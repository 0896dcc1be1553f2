import Domain
import Glibc
import Loop
import RedisClient

/// A Redis of this process' own: a child on a unix socket in a scratch folder, gone with this process however it ends.
final class PrivateRedis {
  private(set) var socket: String
  /// Nil: it listens on its socket only.
  let port: Int?
  private let log: String
  private let core: Int
  private let settings: [String]
  private var child: ChildProcess

  /// Waits until it accepts connections. `core` >= 0 pins it. `durable`: every write is on disk before its answer, so that
  /// what it had is there after `restart`; otherwise nothing is kept on disk. Call on the main thread.
  convenience init(in folder: ScratchFolder, core: Int = -1, durable: Bool = false) throws(ChildProcess.StartFailure) {
    try self.init(in: folder.path, core: core, fsync: durable ? "always" : nil)
  }

  /// `folder` may hold a dump to start with. `fsync`: what is written is kept in a file, synced so; nil: nothing is kept.
  /// `port`: where replicas follow it. `primary`: whom it follows.
  init(
    in folder: String, core: Int = -1, fsync: String? = nil, port: Int? = nil, following primary: PrivateRedis? = nil
  ) throws(ChildProcess.StartFailure) {
    socket = "\(folder)/redis.sock"
    log = "\(folder)/redis.log"
    self.core = core
    self.port = port
    settings = [
      "--port", String(port ?? 0), "--bind", "127.0.0.1", "--unixsocketperm", "700", "--dir", folder, "--save", "",
      "--appendonly", fsync == nil ? "no" : "yes", "--appendfsync", fsync ?? "no", "--maxmemory-policy", "noeviction",
      "--daemonize", "no", "--auto-aof-rewrite-min-size", "4mb", "--repl-diskless-sync-delay", "0",
    ]
    let following = (primary?.port).map { ["--replicaof", "127.0.0.1", String($0)] } ?? []
    child = try Self.start(settings + ["--unixsocket", socket] + following, socket: socket, log: log, core: core)
  }

  private static func start(
    _ arguments: [String], socket: String, log: String, core: Int
  ) throws(ChildProcess.StartFailure) -> ChildProcess {
    let child = try ChildProcess("redis-server", arguments, log: log, core: core)
    let deadline = Clock.milliseconds + 10_000
    while !accepts(socket) {
      guard child.isRunning, Clock.milliseconds < deadline else {
        throw ChildProcess.StartFailure(
          reason: "redis-server does not start; check that it is installed (Config/install-packages); its log is \(log)"
        )
      }
      usleep(2_000)
    }
    return child
  }

  var id: pid_t { child.id }
  var isRunning: Bool { child.isRunning }
  func stop() { child.stop() }
  func signal(_ number: Int32) { child.signal(number) }

  /// As a crash.
  func destroy() {
    child.destroy()
    unlink(socket)
  }

  /// After `destroy`, or when it has ended by itself.
  func startAgain() throws(ChildProcess.StartFailure) {
    unlink(socket)
    child = try Self.start(settings + ["--unixsocket", socket], socket: socket, log: log, core: core)
  }

  /// A replica follows nobody from now on, and takes writes.
  func promote() throws { _ = try ask(RedisCommand("REPLICAOF", "NO", "ONE")) }

  /// Whoever looks for the former one finds this one.
  func takeOver(from former: PrivateRedis) throws(ChildProcess.StartFailure) {
    former.destroy()
    guard rename(socket, former.socket) == 0 else {
      throw ChildProcess.StartFailure(reason: "\(socket) cannot be renamed to \(former.socket)")
    }
    socket = former.socket
  }

  /// A line of INFO.
  func info(_ section: String, _ name: String) throws -> String? {
    let text = try ask(RedisCommand("INFO", section)).text ?? ""
    return text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name + ":") }
      .map { String($0.dropFirst(name.count + 1)) }
  }

  private func ask(_ command: RedisCommand) throws -> RedisReply {
    let endpoint = RedisEndpoint(.unix(path: socket))
    return try Blocking.run { loop in
      let redis = Redis(loop: loop, endpoint: endpoint)
      defer { redis.close() }
      let deadline = loop.now + 5_000
      while !redis.isReady, loop.now < deadline { await loop.sleep(milliseconds: 2) }
      return try await redis.call(command)
    }
  }

  private static func accepts(_ path: String) -> Bool {
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    } == 0
  }
}
