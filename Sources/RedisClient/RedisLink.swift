import Domain
import Glibc
import Loop
import TLS

/// One connection to Redis that comes back by itself: socket, TLS, buffers, reader. What the answers mean is its owner's
/// affair. Loop thread only.
final class RedisLink {
  /// Closed → (resolving →) connecting → (securing →) up → resting → connecting …; `close` ends all.
  private enum State {
    case closed
    case resting(Timer)
    case resolving
    case connecting(RedisSocket, Timer)
    case securing(RedisSocket, Timer)
    case up(RedisSocket)
  }

  private let loop: EventLoop
  private let endpoint: RedisEndpoint
  private var settings: RedisSettings
  private var state = State.closed
  private var reader = ReplyReader()
  private var output: [UInt8] = []
  private var written = 0
  /// How much of `output` the socket was offered, before the end of a turn.
  private var offered = 0
  private var flushes = false
  /// Counts connections, so that a handler notices that its own is gone.
  private var generation = 0
  /// Where among the host's addresses the next attempt begins.
  private var attempts = 0
  private var tls: TLSContext?

  /// Connected, nothing said yet.
  var onUp: () -> Void = {}
  var onReply: (RedisReply) -> Void = { _ in }
  /// A connection that was up is gone.
  var onDown: () -> Void = {}
  /// Set when the endpoint can never work.
  private(set) var fault: String?
  /// Why the last connection ended, or did not come about, without the address.
  private(set) var trouble: String?

  private static let readSize = 65_536
  /// With TLS a read brings one record at most; then the loop's others have their turn.
  private static let readsPerEvent = 16
  /// The reader moves what is left after each answer: small feeds keep that cheap.
  private static let feedSize = 16_384
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readSize, alignment: 16)

  init(loop: EventLoop, endpoint: RedisEndpoint, settings: RedisSettings) {
    self.loop = loop
    self.endpoint = endpoint
    self.settings = settings
  }
  deinit { buffer.deallocate() }

  var isUp: Bool { if case .up = state { true } else { false } }

  // MARK: Connecting

  func connect() {
    guard case .closed = state else { return }
    attempt()
  }

  /// Ends for good, or until the next `connect`. `onDown` is not called.
  func close() {
    generation += 1
    switch state {
    case .resting(let timer): loop.cancel(timer)
    case .connecting(let socket, let timer), .securing(let socket, let timer):
      loop.cancel(timer)
      drop(socket)
    case .up(let socket): drop(socket)
    case .closed, .resolving: break
    }
    state = .closed
    forget()
  }

  /// Gives this connection up and tries again after the backoff.
  func restart(_ reason: String? = nil) {
    let wasUp = isUp
    if let reason { trouble = reason }
    close()
    rest()
    if wasUp { onDown() }
  }

  /// The owner is content with this connection: the next backoff starts from its beginning.
  func settled() {
    settings.backoff.succeeded()
    trouble = nil
  }

  private func attempt() {
    generation += 1
    switch endpoint.place {
    case .unix(let path): open([RedisSocket.unix(path: path)], host: path)
    case .tcp(let host, let port, let secured, let caFile):
      guard prepare(secured, caFile) else { return }
      state = .resolving
      let mine = generation
      loop.resolve(host: host, port: port) { [weak self] result in
        guard let self, generation == mine else { return }
        switch result {
        case .success(let addresses):
          attempts &+= 1
          // Each attempt begins with another address: the first may be one where nobody listens.
          let first = attempts % max(1, addresses.count)
          open((addresses[first...] + addresses[..<first]).lazy.map(RedisSocket.tcp), host: host)
        case .failure(let failure):
          trouble = failure.reason
          rest()
        }
      }
    }
  }

  /// False: the endpoint can never work.
  private func prepare(_ secured: Bool, _ caFile: String?) -> Bool {
    guard secured, tls == nil else { return true }
    do throws(TLSFault) {
      tls = try TLSContext.client(caFile: caFile, alpn: [])
      return true
    } catch {
      fault = error.reason
      state = .closed
      return false
    }
  }

  private func open(_ sockets: some Sequence<RedisSocket?>, host: String) {
    guard var socket = sockets.first(where: { $0 != nil }) ?? nil else {
      trouble = String(cString: strerror(errno))
      return rest()
    }
    do throws(TLSFault) {
      if let tls { try socket.secure(tls, host: host) }
    } catch {
      socket.close()
      trouble = error.reason
      return rest()
    }
    let timer = loop.after(milliseconds: settings.connectMilliseconds) { [weak self] in
      guard let self else { return }
      restart("no connection in \(settings.connectMilliseconds) ms")
    }
    state = .connecting(socket, timer)
    let mine = generation
    loop.watch(socket.descriptor, [.writable]) { [weak self] readiness in
      guard let self, generation == mine else { return }
      ready(readiness)
    }
  }

  private func rest() {
    generation += 1
    let wait = settings.backoff.failed(jitter: .random(in: 0..<1))
    state = .resting(loop.after(milliseconds: wait) { [weak self] in self?.attempt() })
  }

  private func drop(_ socket: RedisSocket) {
    loop.unwatch(socket.descriptor)
    socket.close()
  }

  private func forget() {
    reader = ReplyReader()
    output = []
    written = 0
    offered = 0
  }

  // MARK: Bytes

  /// Sends what was gathered in this turn with one write; where it is much, Redis has the first of it while the rest is being
  /// made. Only while up.
  func send(_ command: RedisCommand) -> Int {
    let before = output.count
    format(command, into: &output)
    let size = output.count - before
    if output.count - offered >= Self.offerSize { offer() }
    if !flushes {
      flushes = true
      loop.atEndOfTurn { [weak self] in
        guard let self else { return }
        flushes = false
        flush()
      }
    }
    return size
  }

  /// What the socket takes at once. A connection that turns out to be gone is left to the end of the turn.
  private func offer() {
    guard case .up(let socket) = state else { return }
    while written < output.count, case .moved(let count) = write(to: socket) { written += count }
    offered = output.count
  }
  private static let offerSize = 65_536

  private func write(to socket: RedisSocket) -> RedisSocket.Outcome {
    output.withUnsafeBytes { socket.write(UnsafeRawBufferPointer(rebasing: $0[written...])) }
  }

  private func ready(_ readiness: Readiness) {
    switch state {
    case .connecting(let socket, let timer):
      if let failure = socket.connectFailure { return restart(failure) }
      state = .securing(socket, timer)
      secure(socket, timer)
    case .securing(let socket, let timer): secure(socket, timer)
    case .up(let socket):
      let mine = generation
      if readiness.readable { receive(socket) }
      if readiness.writable, generation == mine { flush() }
    case .closed, .resting, .resolving: break
    }
  }

  private func secure(_ socket: RedisSocket, _ timer: Timer) {
    switch socket.handshake() {
    case .wantRead: loop.change(socket.descriptor, [.readable])
    case .wantWrite: loop.change(socket.descriptor, [.writable])
    case .failed(let reason): restart(reason)
    case .done:
      loop.cancel(timer)
      state = .up(socket)
      loop.change(socket.descriptor, [.readable])
      onUp()
    }
  }

  private func flush() {
    guard case .up(let socket) = state, written < output.count else { return }
    while written < output.count {
      switch write(to: socket) {
      case .moved(let count): written += count
      case .wait:
        // While there is always more to send, what was sent must not pile up.
        if written > Self.keptCapacity {
          output.removeSubrange(..<written)
          written = 0
        }
        offered = output.count
        return loop.change(socket.descriptor, [.readable, .writable])
      case .closed(let reason): return restart(reason)
      }
    }
    written = 0
    offered = 0
    if output.capacity > Self.keptCapacity { output = [] } else { output.removeAll(keepingCapacity: true) }
    loop.change(socket.descriptor, [.readable])
  }
  /// A larger buffer is given back after use.
  private static let keptCapacity = 1 << 20

  private func receive(_ socket: RedisSocket) {
    let mine = generation
    for _ in 0..<Self.readsPerEvent {
      switch socket.read(into: buffer) {
      case .wait: return
      case .closed(let reason): return restart(reason)
      case .moved(let count):
        guard digest(UnsafeRawBufferPointer(rebasing: buffer[..<count]), mine) else { return }
        if count < buffer.count, !socket.isSecure { return }
      }
    }
    guard socket.isSecure else { return }
    loop.after(milliseconds: 0) { [weak self] in
      guard let self, generation == mine, case .up(let socket) = state else { return }
      receive(socket)
    }
  }

  /// False when the connection is gone.
  private func digest(_ bytes: UnsafeRawBufferPointer, _ mine: Int) -> Bool {
    var start = 0
    do throws(ReplyReader.Broken) {
      while start < bytes.count {
        let end = min(bytes.count, start + Self.feedSize)
        try reader.feed(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        start = end
        while let reply = try reader.next() {
          onReply(reply)
          guard generation == mine else { return false }
        }
      }
      return true
    } catch {
      restart("an answer that is not Redis'")
      return false
    }
  }
}
