import Glibc

/// A Redis of this process' own: a child on a unix socket in a scratch folder, gone with this process however it ends.
final class PrivateRedis {
  let socket: String
  private let log: String
  private let core: Int
  private let arguments: [String]
  private var child: ChildProcess

  /// Waits until it accepts connections. `core` >= 0 pins it. `durable`: every write is on disk before its answer, so that
  /// what it had is there after `restart`; otherwise nothing is kept on disk. Call on the main thread.
  convenience init(in folder: ScratchFolder, core: Int = -1, durable: Bool = false) throws(ChildProcess.StartFailure) {
    try self.init(in: folder.path, core: core, fsync: durable ? "always" : nil)
  }

  /// `folder` may hold a dump to start with. `fsync`: what is written is kept in a file, synced so; nil: nothing is kept.
  init(in folder: String, core: Int = -1, fsync: String? = nil) throws(ChildProcess.StartFailure) {
    socket = "\(folder)/redis.sock"
    log = "\(folder)/redis.log"
    self.core = core
    arguments = [
      "--port", "0", "--unixsocket", socket, "--unixsocketperm", "700", "--dir", folder, "--save", "",
      "--appendonly", fsync == nil ? "no" : "yes", "--appendfsync", fsync ?? "no", "--maxmemory-policy", "noeviction",
      "--daemonize", "no", "--auto-aof-rewrite-min-size", "4mb",
    ]
    child = try Self.start(arguments, socket: socket, log: log, core: core)
  }

  private static func start(
    _ arguments: [String], socket: String, log: String, core: Int
  ) throws(ChildProcess.StartFailure) -> ChildProcess {
    let child = try ChildProcess("redis-server", arguments, log: log, core: core)
    let deadline = Clock.milliseconds + 10_000
    while !accepts(socket) {
      guard child.isRunning, Clock.milliseconds < deadline else {
        throw ChildProcess.StartFailure(
          reason: "redis-server does not start; is it installed (Config/install-packages)? It logged to \(log)")
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
    child = try Self.start(arguments, socket: socket, log: log, core: core)
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
