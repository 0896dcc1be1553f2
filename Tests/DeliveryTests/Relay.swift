import Glibc
import Loop
import RedisClient
import Synchronization

/// Stands between a client and a Redis on a Unix socket, and can lose a reply: what was asked is done, and the connection
/// ends before the answer arrives. Runs on a thread of its own.
final class Relay: @unchecked Sendable {
  let path: String
  private let target: String
  private let loop = EventLoop(name: "relay")
  private let thread: LoopThread
  private let listener: Int32
  private let losing = Atomic<Bool>(false)
  private let lost = Atomic<Int>(0)

  var endpoint: RedisEndpoint { RedisEndpoint(.unix(path: path)) }
  /// Replies lost so far.
  var losses: Int { lost.load(ordering: .acquiring) }

  init(to target: String) {
    self.target = target
    path = target + ".relay"
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let listener = listener
    precondition(Self.with(path) { bind(listener, $0, $1) } == 0 && listen(listener, 16) == 0)
    thread = loop.start()
    loop.post { [self] in loop.watch(listener, [.readable]) { [self] _ in take() } }
  }

  /// Loses the next reply.
  func loseReply() { losing.store(true, ordering: .releasing) }

  func stop() {
    loop.stop()
    thread.join()
    close(listener)
    unlink(path)
  }

  private func take() {
    let client = accept(listener, nil, nil)
    let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard client >= 0, Self.with(target, { connect(server, $0, $1) }) == 0 else { return }
    loop.watch(client, [.readable]) { [self] _ in
      if !pass(client, to: server) { end(client, server) }
    }
    loop.watch(server, [.readable]) { [self] _ in
      if losing.exchange(false, ordering: .acquiringAndReleasing) {
        lost.add(1, ordering: .releasing)
        end(client, server)
      } else if !pass(server, to: client) {
        end(client, server)
      }
    }
  }

  private func pass(_ from: Int32, to: Int32) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = read(from, &buffer, buffer.count)
    return count > 0 && send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count
  }

  private func end(_ client: Int32, _ server: Int32) {
    for descriptor in [client, server] {
      loop.unwatch(descriptor)
      close(descriptor)
    }
  }

  private static func with<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}
