import Glibc
import Loop
import TLS

/// A connected, or connecting, non-blocking socket, with TLS above it once `secure` was called. Closed by its owner, once.
struct RedisSocket {
  enum Outcome {
    case moved(Int)
    case wait
    case closed(String)
  }
  let descriptor: Int32
  private var session: TLSSession?

  private init(descriptor: Int32) { self.descriptor = descriptor }

  /// Nil: refused at once.
  static func unix(path: String) -> RedisSocket? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafeBytes(of: &address) { connect(family: AF_UNIX, address: $0) }
  }

  static func tcp(_ address: SocketAddress) -> RedisSocket? {
    guard let socket = address.bytes.withUnsafeBytes({ connect(family: address.family, address: $0) }) else {
      return nil
    }
    var on: Int32 = 1
    setsockopt(socket.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    return socket
  }

  private static func connect(family: Int32, address: UnsafeRawBufferPointer) -> RedisSocket? {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(family, kind, 0)
    guard descriptor >= 0 else { return nil }
    let result = Glibc.connect(
      descriptor, address.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(address.count))
    if result == 0 || errno == EINPROGRESS { return RedisSocket(descriptor: descriptor) }
    Glibc.close(descriptor)
    return nil
  }

  /// Why a connect under way has failed; nil: it has succeeded.
  var connectFailure: String? {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else {
      return String(cString: strerror(errno))
    }
    return code == 0 ? nil : String(cString: strerror(code))
  }

  // MARK: TLS

  var isSecure: Bool { session != nil }

  /// From now on everything goes through TLS, to a peer whose certificate is for `host`.
  mutating func secure(_ context: TLSContext, host: String) throws(TLSFault) {
    session = try TLSSession(client: context, host: host, fd: descriptor)
  }

  /// To be called until it is done, whenever the socket is ready; without TLS it is done at once.
  func handshake() -> TLSSession.Handshake { session?.handshake() ?? .done }

  // MARK: Bytes

  /// With TLS: to be called until it waits, as bytes may be left inside OpenSSL, of which epoll does not tell.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    guard let session else { return outcome(recv(descriptor, buffer.baseAddress, buffer.count, 0)) }
    return outcome(session.read(into: buffer))
  }
  func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    guard let session else {
      return outcome(send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)))
    }
    return outcome(session.write(bytes))
  }
  private func outcome(_ count: Int) -> Outcome {
    if count > 0 { return .moved(count) }
    if count == 0 { return .closed("Redis closed the connection") }
    return errno == EAGAIN || errno == EINTR ? .wait : .closed(String(cString: strerror(errno)))
  }
  private func outcome(_ transfer: TLSSession.Transfer) -> Outcome {
    switch transfer {
    case .moved(let count): .moved(count)
    // There is no renegotiation: a read waits for reading, a write for writing.
    case .wantRead, .wantWrite: .wait
    case .ended: .closed("Redis closed the connection")
    case .failed(let reason): .closed(reason)
    }
  }
  func close() { Glibc.close(descriptor) }
}
