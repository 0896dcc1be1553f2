import Glibc
import Loop

/// Stands between a client and a server that is to seem slow: what the server says passes a byte at a time, or never. What
/// the client says passes at once. Ends with the client, or behind the server's last byte.
final class Drip {
  private let loop: EventLoop
  private let outer: Socket
  private let inner: Socket?
  private let every: Int64
  private let ended: (Drip) -> Void
  private var forServer = FIFO<UInt8>()
  private var forClient = FIFO<UInt8>()
  private var timer: Timer?
  private var isOver = false
  /// The server has closed its side. What it said before still goes out.
  private var serverEnded = false
  private static let readSize = 16 * 1024

  /// `every`: milliseconds between bytes; nil: the server says nothing at all, and no server is needed. Second: the
  /// server's end.
  static func start(
    _ loop: EventLoop, _ client: Socket, every: Int64?, ended: @escaping (Drip) -> Void
  ) -> (drip: Drip, server: Socket?) {
    guard let every else {
      let drip = Drip(loop, client, nil, 0, ended)
      drip.watch()
      return (drip, nil)
    }
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    precondition(socketpair(AF_UNIX, kind, 0, &ends) == 0, "no socket pair")
    let drip = Drip(loop, client, Socket(taking: ends[0]), max(1, every), ended)
    drip.watch()
    return (drip, Socket(taking: ends[1]))
  }

  private init(_ loop: EventLoop, _ outer: Socket, _ inner: Socket?, _ every: Int64, _ ended: @escaping (Drip) -> Void)
  {
    self.loop = loop
    self.outer = outer
    self.inner = inner
    self.every = every
    self.ended = ended
  }

  private func watch() {
    loop.watch(outer.fd, [.readable]) { [weak self] _ in self?.clientSpoke() }
    if let inner { loop.watch(inner.fd, [.readable]) { [weak self] _ in self?.serverSpoke() } }
  }

  private func clientSpoke() {
    guard let bytes = take(from: outer) else { return close() }
    guard inner != nil else { return }
    for byte in bytes { forServer.append(byte) }
    passOn()
  }

  private func passOn() {
    guard let inner else { return }
    while !forServer.isEmpty {
      guard let byte = forServer.popFirst() else { return }
      switch withUnsafeBytes(of: byte, { inner.write($0) }) {
      case .moved: continue
      case .blocked:
        forServer.prepend(byte)
        loop.after(milliseconds: 1) { [weak self] in self?.passOn() }
        return
      // The server takes no more; what it said is still on its way to the client.
      case .ended, .failed: return
      }
    }
  }

  private func serverSpoke() {
    guard let inner else { return }
    if let bytes = take(from: inner) {
      for byte in bytes { forClient.append(byte) }
    } else {
      serverEnded = true
      loop.unwatch(inner.fd)
    }
    if timer == nil { fall() }
  }

  private func fall() {
    timer = nil
    guard !isOver else { return }
    guard let byte = forClient.popFirst() else {
      if serverEnded { close() }
      return
    }
    switch withUnsafeBytes(of: byte, { outer.write($0) }) {
    case .moved: break
    case .blocked: forClient.prepend(byte)
    case .ended, .failed: return close()
    }
    timer = loop.after(milliseconds: every) { [weak self] in self?.fall() }
  }

  /// What has arrived; nil at the end.
  private func take(from socket: Socket) -> [UInt8]? {
    var bytes: [UInt8] = []
    var isEnd = false
    withUnsafeTemporaryAllocation(byteCount: Self.readSize, alignment: 16) { buffer in
      switch socket.read(into: buffer) {
      case .moved(let count): bytes = Array(buffer[..<count])
      case .blocked: break
      case .ended, .failed: isEnd = true
      }
    }
    return isEnd ? nil : bytes
  }

  func close() {
    guard !isOver else { return }
    isOver = true
    if let timer { loop.cancel(timer) }
    for socket in [outer, inner].compactMap({ $0 }) {
      loop.unwatch(socket.fd)
      socket.close()
    }
    ended(self)
  }
}
