import Glibc
import Loop

/// Holds a closed connection's socket until the client has read its answer: closing with unread data would send RST and
/// destroy the answer. Drains until the client's end, at most a second.
final class LingeringSocket {
  private static let patience: Int64 = 1_000
  private static let readsPerTurn = 16

  private let socket: Int32
  private let loop: EventLoop
  private var timer: Timer?

  /// Takes a duplicate of `socket`, which stays the caller's. No effect if the client has gone already.
  static func linger(_ socket: Int32, loop: EventLoop) {
    var byte: UInt8 = 0
    let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    guard count > 0 || (count < 0 && errno == EAGAIN) else { return }
    let duplicate = dup(socket)
    guard duplicate >= 0 else { return }
    shutdown(duplicate, Int32(SHUT_WR))
    LingeringSocket(duplicate, loop).begin()
  }

  private init(_ socket: Int32, _ loop: EventLoop) {
    self.socket = socket
    self.loop = loop
  }

  /// The loop's closures keep it alive until `end`.
  private func begin() {
    timer = loop.after(milliseconds: Self.patience) { self.end() }
    loop.watch(socket, [.readable]) { _ in self.drain() }
  }

  private func drain() {
    let gone = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
      for _ in 0..<Self.readsPerTurn {
        let count = recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return false }
        if count <= 0 { return true }
      }
      return false
    }
    if gone { end() }
  }

  private func end() {
    if let timer { loop.cancel(timer) }
    loop.unwatch(socket)
    close(socket)
  }
}
