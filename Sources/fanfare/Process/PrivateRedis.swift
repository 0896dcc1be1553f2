import Glibc

/// A Redis of this process' own: a child on a unix socket in a scratch folder, gone with this process however it ends.
/// Nothing is kept on disk.
final class PrivateRedis {
  let socket: String
  private let child: ChildProcess

  /// Waits until it accepts connections. `core` >= 0 pins it. Call on the main thread.
  init(in folder: ScratchFolder, core: Int = -1) throws(ChildProcess.StartFailure) {
    socket = folder.file("redis.sock")
    let log = folder.file("redis.log")
    child = try ChildProcess(
      "redis-server",
      [
        "--port", "0", "--unixsocket", socket, "--unixsocketperm", "700", "--dir", folder.path, "--save", "",
        "--appendonly", "no", "--maxmemory-policy", "noeviction", "--daemonize", "no",
      ], log: log, core: core)
    let deadline = Clock.milliseconds + 10_000
    while !Self.accepts(socket) {
      guard child.isRunning, Clock.milliseconds < deadline else {
        throw ChildProcess.StartFailure(
          reason: "redis-server does not start; is it installed (Config/install-packages)? It logged to \(log)")
      }
      usleep(2_000)
    }
  }

  var id: pid_t { child.id }
  var isRunning: Bool { child.isRunning }
  func stop() { child.stop() }

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
