import Glibc
import Loop

/// An address that cannot be listened on; `reason` names the call, the address and the port.
package struct ListenFailure: Error, Sendable {
  package var reason: String
  package init(reason: String) { self.reason = reason }
}

/// A listening TCP socket on a loop.
final class Listener {
  let port: Int
  private let loop: EventLoop
  private let socket: Socket
  private var resting: Timer?
  private static let backlog: Int32 = 1024
  private static let acceptsPerTurn = 64
  /// Out of descriptors: the next try comes after this.
  private static let rest: Int64 = 100

  /// `address`: an IPv4 or IPv6 address. Port 0: a free one.
  init(loop: EventLoop, address: String, port: Int) throws(ListenFailure) {
    func failure(_ call: String) -> ListenFailure {
      let reason = String(cString: strerror(errno))
      return ListenFailure(reason: "\(call) on \(address), port \(port): \(reason)")
    }
    guard (0...65_535).contains(port) else { throw ListenFailure(reason: "\(port) is no port") }
    self.loop = loop
    var v4 = sockaddr_in()
    var v6 = sockaddr_in6()
    let isV6 = inet_pton(AF_INET6, address, &v6.sin6_addr) == 1
    guard isV6 || inet_pton(AF_INET, address, &v4.sin_addr) == 1 else {
      throw ListenFailure(reason: "\(address) is no IP address")
    }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let fd = Glibc.socket(isV6 ? AF_INET6 : AF_INET, kind, 0)
    guard fd >= 0 else { throw failure("socket") }
    socket = Socket(taking: fd)
    var one: Int32 = 1
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    v4.sin_family = sa_family_t(AF_INET)
    v4.sin_port = in_port_t(port).bigEndian
    v6.sin6_family = sa_family_t(AF_INET6)
    v6.sin6_port = in_port_t(port).bigEndian
    let bound = isV6 ? Self.named(&v6) { bind(fd, $0, $1) } : Self.named(&v4) { bind(fd, $0, $1) }
    guard bound == 0, listen(fd, Self.backlog) == 0 else { throw failure("listen") }
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let told = Self.named(&v6) { name, _ in getsockname(fd, name, &size) }
    guard told == 0 else { throw failure("getsockname") }
    // The port has the same place in both kinds of address.
    self.port = Int(in_port_t(bigEndian: v6.sin6_port))
  }

  private static func named<Address>(
    _ address: inout Address, _ call: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    withUnsafeMutableBytes(of: &address) { raw in
      call(raw.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
    }
  }

  /// Calls `accepted` with each new connection's socket.
  func start(_ accepted: @escaping (Socket) -> Void) {
    loop.watch(socket.fd, [.readable]) { [weak self] _ in self?.accept(accepted) }
  }

  private func accept(_ accepted: @escaping (Socket) -> Void) {
    for _ in 0..<Self.acceptsPerTurn {
      let fd = Glibc.accept(socket.fd, nil, nil)
      guard fd >= 0 else {
        if errno == EMFILE || errno == ENFILE { restFromAccepting(accepted) }
        return
      }
      _ = fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK)
      _ = fcntl(fd, F_SETFD, FD_CLOEXEC)
      let connection = Socket(taking: fd)
      connection.setNoDelay()
      accepted(connection)
    }
  }

  /// Without a descriptor the waiting client would wake the loop again at once, and for ever.
  private func restFromAccepting(_ accepted: @escaping (Socket) -> Void) {
    loop.unwatch(socket.fd)
    resting = loop.after(milliseconds: Self.rest) { [weak self] in self?.start(accepted) }
  }

  func stop() {
    if let resting { loop.cancel(resting) }
    guard socket.fd >= 0 else { return }
    loop.unwatch(socket.fd)
    socket.close()
  }

  deinit { stop() }
}
