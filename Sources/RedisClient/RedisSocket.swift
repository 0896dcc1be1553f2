import Glibc
import Loop

/// A connected, or connecting, non-blocking socket. Closed by its owner, once.
struct RedisSocket {
  enum Outcome {
    case moved(Int)
    case wait
    case closed
  }
  let descriptor: Int32

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

  /// True when a connect under way has succeeded.
  var isConnected: Bool {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 && code == 0
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    outcome(recv(descriptor, buffer.baseAddress, buffer.count, 0))
  }
  func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    outcome(send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)))
  }
  private func outcome(_ count: Int) -> Outcome {
    if count > 0 { return .moved(count) }
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? .wait : .closed
  }
  func close() { Glibc.close(descriptor) }
}
