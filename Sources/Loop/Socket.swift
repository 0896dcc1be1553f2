import Glibc

/// A socket call that failed; `reason` is the system's text.
package struct SocketFailure: Error, Hashable, Sendable {
  package let reason: String
  init(_ call: String, _ code: Int32 = errno) { reason = "\(call): \(String(cString: strerror(code)))" }
}

/// What one non-blocking read or write did.
package enum Transfer: Hashable, Sendable {
  case moved(Int)
  /// Nothing moved; wait until the descriptor is ready.
  case blocked
  /// The peer has ended its side (reads only).
  case ended
  case failed(String)
}

/// A stream socket, non-blocking and closed on exec, owned by one loop. Closes its descriptor when it goes; what watches
/// the descriptor must `unwatch` it before `close` and before the last reference goes.
package final class Socket {
  /// -1 after `close`.
  package private(set) var fd: Int32

  /// Takes over an open descriptor, which must be non-blocking.
  package init(taking fd: Int32) { self.fd = fd }

  deinit { close() }

  /// Starts connecting. Once the descriptor turns writable, `connectFailure` says how that ended.
  package static func connect(to address: SocketAddress) throws(SocketFailure) -> Socket {
    let socket = try Socket(family: address.family)
    socket.setNoDelay()
    if let failure = address.bytes.withUnsafeBytes({ socket.connect($0) }) { throw failure }
    return socket
  }

  /// Starts connecting to a unix socket. A path that does not fit a `sockaddr_un` (107 bytes) fails.
  package static func connect(unixPath path: String) throws(SocketFailure) -> Socket {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw SocketFailure("connect", ENAMETOOLONG)
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let socket = try Socket(family: AF_UNIX)
    if let failure = withUnsafeBytes(of: &address, { socket.connect($0) }) { throw failure }
    return socket
  }

  private convenience init(family: Int32) throws(SocketFailure) {
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let fd = socket(family, Int32(kind), 0)
    guard fd >= 0 else { throw SocketFailure("socket") }
    self.init(taking: fd)
  }

  private func connect(_ address: UnsafeRawBufferPointer) -> SocketFailure? {
    let result = Glibc.connect(
      fd, address.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(address.count))
    // A unix socket whose listener's queue is full answers EAGAIN and does not go on connecting: a failure.
    return result == 0 || errno == EINPROGRESS || errno == EINTR ? nil : SocketFailure("connect")
  }

  /// Small writes leave at once. No effect on a unix socket.
  package func setNoDelay() {
    var one: Int32 = 1
    setsockopt(fd, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Nil if the socket is connected, or still connecting. Reading it takes the error out of the socket.
  package var connectFailure: SocketFailure? {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else { return SocketFailure("connect") }
    return code == 0 ? nil : SocketFailure("connect", code)
  }

  /// At most one `recv`; an interrupted one is repeated. `buffer` must not be empty, or `ended` is told.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    while true {
      let count = recv(fd, buffer.baseAddress, buffer.count, 0)
      if count > 0 { return .moved(count) }
      if count == 0 { return .ended }
      if errno == EINTR { continue }
      return errno == EAGAIN ? .blocked : .failed(SocketFailure("read").reason)
    }
  }

  /// Never raises SIGPIPE.
  package func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
    while true {
      let count = send(fd, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      if count >= 0 { return .moved(count) }
      if errno == EINTR { continue }
      return errno == EAGAIN ? .blocked : .failed(SocketFailure("write").reason)
    }
  }

  /// Tells the peer that nothing more comes; reading goes on.
  package func endWriting() { Self.endWriting(fd) }

  /// As `endWriting`, of a socket that something else owns.
  package static func endWriting(_ descriptor: Int32) { shutdown(descriptor, Int32(SHUT_WR)) }

  /// The next `close` ends the TCP connection with RST: the peer loses what it has not read. No effect on a unix socket.
  package func resetOnClose() {
    var immediate = linger(l_onoff: 1, l_linger: 0)
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &immediate, socklen_t(MemoryLayout<linger>.size))
  }

  /// Closes at once; a second call has no effect.
  package func close() {
    guard fd >= 0 else { return }
    Glibc.close(fd)
    fd = -1
  }
}
