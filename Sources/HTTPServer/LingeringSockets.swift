import Domain
import Glibc
import Loop

/// Closed connections whose clients may still be sending. Closing a socket with unread data would send RST and destroy the
/// answer: each is kept until its client ends, for at most a second, and what comes meanwhile is dropped, up to a bound.
/// Belongs to the loop.
final class LingeringSockets {
  /// A further one is closed at once: its client may lose the answer.
  static let limit = 256
  private static let patience: Int64 = 1_000
  /// Of one socket. Whoever sends more is not reading answers.
  private static let mostDropped = 32 << 20
  private static let droppedPerTurn = 256 << 10

  private final class Socket {
    let descriptor: Int32
    let ended: () -> Void
    var timer: Timer?
    var dropped = 0
    init(_ descriptor: Int32, _ ended: @escaping () -> Void) { (self.descriptor, self.ended) = (descriptor, ended) }
  }

  private let loop: EventLoop
  private(set) var count = 0

  init(loop: EventLoop) { self.loop = loop }

  /// Takes a duplicate of `descriptor`, which stays the caller's. `ended` is called when it is closed. False: there is nothing to
  /// wait for, or no place.
  func linger(_ descriptor: Int32, ended: @escaping () -> Void) -> Bool {
    guard count < Self.limit else { return false }
    var byte: UInt8 = 0
    let peeked = recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    guard peeked > 0 || (peeked < 0 && errno == EAGAIN) else { return false }
    let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard duplicate >= 0 else { return false }
    Loop.Socket.endWriting(duplicate)
    count += 1
    let socket = Socket(duplicate, ended)
    // The loop's closures keep it and this alive until its end.
    socket.timer = loop.after(milliseconds: Self.patience) { self.end(socket) }
    loop.watch(duplicate, [.readable]) { _ in self.drop(socket) }
    return true
  }

  private func drop(_ socket: Socket) {
    // With MSG_TRUNC the kernel drops the bytes of a TCP connection without copying them.
    let count = recv(socket.descriptor, nil, Self.droppedPerTurn, Int32(MSG_DONTWAIT) | Int32(MSG_TRUNC))
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    socket.dropped += max(0, count)
    if count <= 0 || socket.dropped >= Self.mostDropped { end(socket) }
  }

  private func end(_ socket: Socket) {
    if let timer = socket.timer { loop.cancel(timer) }
    loop.unwatch(socket.descriptor)
    close(socket.descriptor)
    count -= 1
    socket.ended()
  }
}
