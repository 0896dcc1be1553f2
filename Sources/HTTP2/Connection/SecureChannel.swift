import Domain
import Loop
import TLS

/// Who moves bytes over a channel. Every call comes on the loop; of the channel's own functions only `flush` calls back.
protocol SecureChannelOwner: AnyObject {
  /// The handshake is done.
  func channelOpened(_ channel: SecureChannel)
  func channelReceived(_ bytes: UnsafeRawBufferPointer)
  /// All that had arrived has been received, or a flush outside the owner's own has ended.
  func channelSettled()
  /// Append to the channel until `wantsMore` is false, or nothing is left.
  func channelFills()
  /// The last call, unless `close` came first. Nil: the peer ended the connection.
  func channelEnded(_ reason: String?)
}

/// TLS (or plain TCP) over a socket on a loop: the handshake, reads as they come, and a buffer in which frames gather so that
/// each TLS record is full (design D2).
final class SecureChannel {
  private enum Phase {
    case handshaking
    case open
    /// Everything is written; reads and drops until the peer ends, so that its kernel keeps what it has not read yet.
    case lingering
    case closed
  }

  /// Ends this channel before it goes.
  unowned var owner: (any SecureChannelOwner)?
  /// Bytes that the TLS layer has taken; what stands behind them in the stream was never sent.
  private(set) var written: UInt64 = 0

  private let loop: EventLoop
  private let socket: Socket
  private let session: ChannelSecurity
  private var phase = Phase.handshaking
  private var output: [UInt8] = []
  private var start = 0
  /// The socket is full: no write before it is writable.
  private var blocked = false
  private var stalled = false
  private var connecting: Bool
  private var lingerTimer: Timer?

  /// Four full TLS records are gathered before a write.
  private static let gathered = 64 * 1024
  private static let readSize = 16 * 1024
  /// After 1 MB from one peer the loop's others have their turn.
  private static let readsPerTurn = 64
  private static let lingerTime: Int64 = 1_000

  /// `connecting`: the socket's connect is still under way.
  init(loop: EventLoop, socket: Socket, session: ChannelSecurity, connecting: Bool) {
    self.loop = loop
    self.socket = socket
    self.session = session
    self.connecting = connecting
    output.reserveCapacity(Self.gathered + Self.readSize)
  }

  deinit { close() }

  func start(owner: any SecureChannelOwner) {
    self.owner = owner
    watch()
  }

  var agreedProtocol: String? { session.agreedProtocol }
  var peer: (certificate: Certificate, isTrusted: Bool)? { session.peer }

  // MARK: Output

  /// The place in the stream of what is appended next.
  var appended: UInt64 { written + UInt64(output.count - start) }
  var wantsMore: Bool { output.count - start < Self.gathered }
  /// False while the socket is full or stalled: then a flush comes by itself once it is not.
  var canWrite: Bool { phase == .open && !blocked && !stalled }
  var hasOutput: Bool { start < output.count }

  func append(_ bytes: UnsafeRawBufferPointer) { output.append(contentsOf: bytes) }

  /// Writes what the owner has, as far as the socket takes it; goes on by itself when the socket is writable.
  func flush() {
    guard canWrite else { return }
    while phase == .open {
      if start == output.count {
        output.removeAll(keepingCapacity: true)
        start = 0
        owner?.channelFills()
        if output.isEmpty { break }
      }
      let result = output.withUnsafeBytes { session.write(UnsafeRawBufferPointer(rebasing: $0[start...])) }
      switch result {
      case .moved(let count):
        start += count
        written += UInt64(count)
        continue
      case .wantWrite: blocked = true
      // Without renegotiation this does not happen; the next read tries again.
      case .wantRead: break
      case .ended: return end(nil)
      case .failed(let reason): return endUnwritable(reason)
      }
      break
    }
    updateInterests()
  }

  // MARK: Input

  private func ready(_ readiness: Readiness) {
    switch phase {
    case .handshaking: shakeHands()
    case .open:
      if readiness.writable, blocked {
        blocked = false
        flush()
        if phase == .open, !readiness.readable { owner?.channelSettled() }
      }
      if phase == .open, readiness.readable { receive() }
    case .lingering: drop()
    case .closed: break
    }
  }

  private func shakeHands() {
    if connecting {
      if let failure = socket.connectFailure { return end(failure.reason) }
      connecting = false
    }
    switch session.handshake() {
    case .wantRead: loop.change(socket.fd, [.readable])
    case .wantWrite: loop.change(socket.fd, [.writable])
    case .failed(let reason): end(reason)
    case .done:
      phase = .open
      updateInterests()
      owner?.channelOpened(self)
      // The peer's first frames may have come with the end of its handshake.
      if phase == .open { receive() }
    }
  }

  /// Reads until nothing is left, also inside OpenSSL.
  private func receive() {
    guard phase == .open, !stalled else { return }
    var ending: (reason: String?, Void)?
    withUnsafeTemporaryAllocation(byteCount: Self.readSize, alignment: 16) { buffer in
      for _ in 0..<Self.readsPerTurn {
        switch session.read(into: buffer) {
        case .moved(let count):
          owner?.channelReceived(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
          if phase != .open || stalled { return }
          continue
        case .wantRead, .wantWrite: break
        case .ended: ending = (nil, ())
        case .failed(let reason): ending = (reason, ())
        }
        return
      }
      // Bytes may be left inside OpenSSL, of which epoll does not tell.
      loop.after(milliseconds: 0) { [self] in receive() }
    }
    if let ending { return end(ending.reason) }
    if phase == .open { owner?.channelSettled() }
  }

  // MARK: Interests

  private func watch() {
    // The first event tells that the socket is connected, or that the handshake may start.
    let interests: Interests = phase == .handshaking ? [.writable] : self.interests
    loop.watch(socket.fd, interests) { [unowned self] in ready($0) }
  }

  private var interests: Interests { blocked ? [.readable, .writable] : [.readable] }

  private func updateInterests() {
    if phase == .open, !stalled { loop.change(socket.fd, interests) }
  }

  /// Reads and writes nothing until `false`.
  func stall(_ stalled: Bool) {
    guard stalled != self.stalled, phase == .open || phase == .handshaking else { return }
    self.stalled = stalled
    if stalled { return loop.unwatch(socket.fd) }
    watch()
    guard phase == .open else { return }
    flush()
    receive()
  }

  // MARK: End

  /// Closes at once, without a word to the owner or the peer.
  func close() {
    guard phase != .closed else { return }
    phase = .closed
    if let lingerTimer { loop.cancel(lingerTimer) }
    loop.unwatch(socket.fd)
    socket.close()
  }

  /// Closes at once with RST: the peer loses what it has not read.
  func reset() {
    guard phase != .closed else { return }
    socket.resetOnClose()
    close()
  }

  /// Says goodbye behind what is written and closes when the peer has ended its side, or after a second. The owner hears
  /// nothing more; the channel keeps itself until then.
  func finish() {
    guard phase == .open else { return close() }
    phase = .lingering
    session.endWriting()
    socket.endWriting()
    if stalled { return close() }
    loop.watch(socket.fd, [.readable]) { [self] in ready($0) }
    lingerTimer = loop.after(milliseconds: Self.lingerTime) { [unowned self] in close() }
  }

  private func drop() {
    withUnsafeTemporaryAllocation(byteCount: Self.readSize, alignment: 16) { buffer in
      while true {
        switch socket.read(into: buffer) {
        case .moved: continue
        case .blocked: return
        case .ended, .failed: return close()
        }
      }
    }
  }

  /// The peer takes nothing more, but what it said before may wait to be read: answers, or why it left.
  private func endUnwritable(_ reason: String) {
    withUnsafeTemporaryAllocation(byteCount: Self.readSize, alignment: 16) { buffer in
      for _ in 0..<Self.readsPerTurn {
        guard phase == .open, case .moved(let count) = session.read(into: buffer) else { return }
        owner?.channelReceived(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    }
    end(reason)
  }

  private func end(_ reason: String?) {
    guard phase != .closed else { return }
    close()
    owner?.channelEnded(reason)
  }
}
