import Glibc

/// A Redis of this process' own: a child on a unix socket in a folder of its own, gone with this process however it ends.
package final class PrivateRedis {
  package let socket: String
  package let child: ChildProcess

  /// What it is told where nothing is to be kept on disk, and nobody may come by TCP.
  package static let unkept = ["--appendonly", "no", "--port", "0"]

  /// Waits until it accepts connections. `folder` may hold a dump to start with. `socket`: nil is one in that folder. `core` >= 0
  /// pins it. `settings`: words of its command line that say what is kept on disk and which port it has. Call on the main
  /// thread.
  package init(
    in folder: String, socket: String? = nil, core: Int = -1, settings: [String] = unkept
  ) throws(ChildProcess.StartFailure) {
    let socket = socket ?? "\(folder)/redis.sock"
    self.socket = socket
    let log = "\(folder)/redis.log"
    let arguments = [
      "--bind", "127.0.0.1", "--unixsocket", socket, "--unixsocketperm", "700", "--dir", folder, "--save", "",
      "--maxmemory-policy", "noeviction", "--daemonize", "no",
    ]
    child = try ChildProcess("redis-server", arguments + settings, log: log, core: core)
    let deadline = Clock.milliseconds + 10_000
    while !Self.accepts(socket) {
      guard child.isRunning, Clock.milliseconds < deadline else {
        throw ChildProcess.StartFailure(
          reason: "redis-server does not start; check that it is installed (Config/install-packages); its log is \(log)"
        )
      }
      usleep(2_000)
    }
  }

  /// Blocks until it has ended: at most 10 seconds, then it is killed. What it keeps on disk stays in its folder.
  package func stop() { child.stop() }

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
