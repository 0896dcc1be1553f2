import Glibc
import Loop

/// One connection of an attack, which begins again a second after it was closed. Belongs to a loop.
final class SiegeSlot {
  private let loop: EventLoop
  private let port: Int
  private let source: UInt32
  private let attack: SiegeAttack
  private let number: Int
  private var socket: Socket?
  private var isConnected = false
  private var unsent: [UInt8] = []
  /// Of a body that is sent as fast as it is taken.
  private var bodyLeft = 0
  private var isOver = false
  private(set) var answers = 0
  private(set) var closed = 0

  private static let piece = [UInt8](repeating: UInt8(ascii: " "), count: 65_536)
  private static let pause: Int64 = 1_000

  /// `source`: an address of this machine, as a number.
  init(loop: EventLoop, port: Int, source: UInt32, attack: SiegeAttack, number: Int) {
    (self.loop, self.port, self.source) = (loop, port, source)
    (self.attack, self.number) = (attack, number)
  }

  var isOpen: Bool { isConnected }

  func begin() {
    guard !isOver else { return }
    guard let descriptor = connect() else { return again() }
    socket = Socket(taking: descriptor)
    isConnected = false
    unsent = attack.opening(number)
    bodyLeft = attack == .bodies || attack == .paths ? SiegeAttack.bodySize : 0
    loop.watch(descriptor, [.readable, .writable]) { [unowned self] in ready($0) }
  }

  /// A byte more, of one that trickles.
  func trickle() {
    guard attack == .slow, isConnected else { return }
    unsent.append(UInt8(ascii: "x"))
    write()
  }

  func send(_ bytes: [UInt8]) {
    // What is not taken is not added to without end.
    guard isConnected, unsent.count < 65_536 else { return }
    unsent += bytes
    write()
  }

  func end() {
    isOver = true
    close()
  }

  private func connect() -> Int32? {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = Glibc.socket(AF_INET, kind, 0)
    guard descriptor >= 0 else { return nil }
    func address(_ number: UInt32, _ port: Int) -> sockaddr_in {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = number.bigEndian
      address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
      return address
    }
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    func with(_ address: sockaddr_in, _ call: (UnsafePointer<sockaddr>) -> Int32) -> Int32 {
      withUnsafePointer(to: address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0) } }
    }
    let isBound = with(address(source, 0)) { bind(descriptor, $0, size) } == 0
    if isBound, with(address(0x7f00_0001, port), { Glibc.connect(descriptor, $0, size) }) == 0 || errno == EINPROGRESS {
      return descriptor
    }
    Glibc.close(descriptor)
    return nil
  }

  private func ready(_ readiness: Readiness) {
    guard let socket else { return }
    if !isConnected, readiness.writable {
      guard socket.connectFailure == nil else { return lost() }
      isConnected = true
    }
    if readiness.writable { write() }
    guard self.socket != nil, readiness.readable else { return }
    var isEnded = false
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
      switch socket.read(into: buffer) {
      case .moved(let count):
        let text = buffer[..<count]
        // Each answer begins so; one that is cut between two reads is not counted.
        answers +=
          String(decoding: text, as: UTF8.self).split(separator: "HTTP/1.1 ", omittingEmptySubsequences: false)
          .count - 1
      case .blocked: break
      case .ended, .failed: isEnded = true
      }
    }
    if isEnded { lost() }
  }

  private func write() {
    guard let socket, isConnected else { return }
    while !unsent.isEmpty || bodyLeft > 0 {
      if unsent.isEmpty {
        let count = min(bodyLeft, Self.piece.count)
        unsent = Array(Self.piece.prefix(count))
        bodyLeft -= count
      }
      switch unsent.withUnsafeBytes({ socket.write($0) }) {
      case .moved(let count): unsent.removeFirst(count)
      case .blocked: return loop.change(socket.fd, [.readable, .writable])
      case .ended, .failed: return lost()
      }
    }
    loop.change(socket.fd, [.readable])
  }

  private func lost() {
    closed += 1
    close()
    again()
  }

  private func close() {
    guard let socket else { return }
    loop.unwatch(socket.fd)
    socket.close()
    self.socket = nil
    isConnected = false
  }

  private func again() {
    guard !isOver else { return }
    loop.after(milliseconds: Self.pause) { [weak self] in self?.begin() }
  }
}
