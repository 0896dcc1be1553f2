import Domain
import GatewayClient
import Loop

/// HTTP requests from many kept connections, with as little work per request as can be: for the server's figures, not its
/// client's. On one loop.
final class LoadClient {
  struct Outcome: Sendable {
    var answered = 0
    /// Answers that were not 2xx, and the first of them.
    var refused = 0
    var firstRefusal: String?
    var seconds = 0.0
    /// Milliseconds, ascending: from when a request was due to its answer.
    var times: [Double] = []
    func time(_ share: Double) -> Double {
      times.isEmpty ? 0 : times[min(times.count - 1, Int(Double(times.count) * share))]
    }
  }

  private let loop: EventLoop
  private let port: Int
  private let total: Int
  /// Requests a second; nil: as fast as they are answered.
  private let rate: Double?
  private let make: (Int) -> [UInt8]
  private var connections: [LoadConnection] = []
  /// In turns: a server closes those that nothing is heard from.
  private var idle = FIFO<LoadConnection>()
  private var next = 0
  /// For the time of the next request.
  private var isWaiting = false
  private var began = Instant(nanoseconds: 0)
  private var outcome = Outcome()
  private var waiter: UnsafeContinuation<Void, Never>?

  /// `make`: the bytes of the nth request.
  init(loop: EventLoop, port: Int, total: Int, rate: Double?, make: @escaping (Int) -> [UInt8]) {
    self.loop = loop
    self.port = port
    self.total = total
    self.rate = rate
    self.make = make
  }

  func run(connections count: Int) async throws -> Outcome {
    for _ in 0..<count {
      let connection = try await LoadConnection(loop: loop, port: port) { [unowned self] in answered($0, $1) }
      connections.append(connection)
    }
    for connection in connections { idle.append(connection) }
    began = loop.now
    pump()
    await withUnsafeContinuation { found in
      if outcome.answered < total { waiter = found } else { found.resume() }
    }
    outcome.seconds = Double(loop.now.nanoseconds - began.nanoseconds) / 1e9
    outcome.times.sort()
    for connection in connections { connection.close() }
    return outcome
  }

  private func due(_ number: Int, now: Instant) -> Instant {
    guard let rate else { return now }
    return Instant(nanoseconds: began.nanoseconds + UInt64(Double(number) * 1e9 / rate))
  }

  private func pump() {
    let now = loop.now
    while next < total, let connection = idle.first {
      let due = due(next, now: now)
      if due > now { return pump(in: max(1, due - now)) }
      _ = idle.popFirst()
      guard !connection.isClosed else { continue }
      connection.send(make(next), due: due)
      next += 1
    }
    // What nobody can ask any more is not waited for.
    guard next < total, connections.allSatisfy(\.isClosed) else { return }
    outcome.refused += total - outcome.answered
    outcome.answered = total
    finish()
  }

  private func finish() {
    waiter?.resume()
    waiter = nil
  }

  private func pump(in milliseconds: Int64) {
    guard !isWaiting else { return }
    isWaiting = true
    // All may have been answered by then.
    loop.after(milliseconds: milliseconds) { [weak self] in
      guard let self else { return }
      isWaiting = false
      pump()
    }
  }

  private func answered(_ connection: LoadConnection, _ answer: LoadConnection.Answer) {
    outcome.answered += 1
    outcome.times.append(Double(loop.now.nanoseconds - answer.due.nanoseconds) / 1e6)
    if !answer.isSuccess {
      outcome.refused += 1
      outcome.firstRefusal = outcome.firstRefusal ?? answer.text
    }
    if !connection.isClosed { idle.append(connection) }
    if outcome.answered == total {
      finish()
    } else {
      // A server that is slower than the rate leaves requests that are due and found no connection.
      pump()
    }
  }
}

/// One connection: a request at a time.
final class LoadConnection {
  struct Answer {
    var due: Instant
    var isSuccess: Bool
    var text: String
  }

  private let loop: EventLoop
  private let socket: Socket
  private let done: (LoadConnection, Answer) -> Void
  private var output: [UInt8] = []
  private var written = 0
  private var input: [UInt8] = []
  private var due = Instant(nanoseconds: 0)
  private var isAsked = false
  /// The server has ended it.
  private(set) var isClosed = false

  init(loop: EventLoop, port: Int, done: @escaping (LoadConnection, Answer) -> Void) async throws {
    self.loop = loop
    self.done = done
    let found = await withUnsafeContinuation { waiter in
      loop.resolve(host: "127.0.0.1", port: port) { waiter.resume(returning: $0) }
    }
    guard let address = try found.get().first else { throw BenchFailure(reason: "no address for port \(port)") }
    socket = try Socket.connect(to: address)
    await withUnsafeContinuation { (waiter: UnsafeContinuation<Void, Never>) in
      loop.watch(socket.fd, [.writable]) { [loop, socket] _ in
        loop.unwatch(socket.fd)
        waiter.resume()
      }
    }
    if let failure = socket.connectFailure { throw BenchFailure(reason: failure.reason) }
    loop.watch(socket.fd, [.readable]) { [unowned self] in ready($0) }
  }

  func send(_ request: [UInt8], due: Instant) {
    self.due = due
    isAsked = true
    output = request
    written = 0
    flush()
  }

  private func flush() {
    while written < output.count {
      let result = output.withUnsafeBytes { socket.write(UnsafeRawBufferPointer(rebasing: $0[written...])) }
      guard case .moved(let count) = result else {
        if case .blocked = result { return loop.change(socket.fd, [.readable, .writable]) }
        return closed()
      }
      written += count
    }
    loop.change(socket.fd, [.readable])
  }

  private func ready(_ readiness: Readiness) {
    if readiness.writable, written < output.count { flush() }
    guard readiness.readable, !isClosed else { return }
    var isOver = false
    withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
      while true {
        switch socket.read(into: buffer) {
        case .moved(let count):
          input += buffer[..<count]
          continue
        case .blocked: break
        case .ended, .failed: isOver = true
        }
        break
      }
    }
    guard isAsked, let end = Self.end(of: input), input.count >= end else {
      if isOver { closed() }
      return
    }
    isAsked = false
    if isOver { close() }
    let answer = Answer(
      due: due, isSuccess: input.count > 9 && input[9] == UInt8(ascii: "2"),
      text: String(decoding: input.prefix(400), as: UTF8.self))
    input.removeAll(keepingCapacity: true)
    done(self, answer)
  }

  /// Where the answer ends; nil: its head is not whole.
  private static func end(of input: [UInt8]) -> Int? {
    let name = Array("content-length:".utf8)
    var place = 0
    var length = 0
    while let end = input[place...].firstIndex(of: 0x0a) {
      let line = input[place..<end]
      place = end + 1
      if line.count <= 1 { return place + length }
      guard line.count > name.count, zip(line, name).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else { continue }
      length = line.dropFirst(name.count).reduce(0) { $1 >= 0x30 && $1 <= 0x39 ? $0 * 10 + Int($1 - 0x30) : $0 }
    }
    return nil
  }

  /// A request that has no answer will get none.
  private func closed() {
    guard !isClosed else { return }
    close()
    guard isAsked else { return }
    isAsked = false
    done(self, Answer(due: due, isSuccess: false, text: "the server closed the connection"))
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    loop.unwatch(socket.fd)
    socket.close()
  }
}
