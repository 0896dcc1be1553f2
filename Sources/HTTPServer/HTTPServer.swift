import CMicroHTTPD
import Domain
import Glibc
package import Loop

/// HTTP/1.1 in by libmicrohttpd on the loop, with the guards it lacks (repeated Content-Length, `%00` in paths, slow
/// requests, errors lost to RST).
///
/// Belongs to its loop, and lives until `stop` has returned. A client that leaves while its handler runs is not told to
/// the handler; the answer is dropped.
package final class HTTPServer {
  package let port: Int

  let loop: EventLoop
  let settings: HTTPServerSettings
  let refuse: (HTTPRefusal) -> HTTPServerResponse
  private let handle: (HTTPServerRequest) async -> HTTPServerResponse
  private let secrets: Secrets?
  private var daemon: OpaquePointer?

  private var connections: [Connection] = []
  private var sweep: Timer?
  private let sweepPeriod: Int64
  private var willRun = false
  private var willRunAgain = false
  private var isStopping = false
  private var waiters: [UnsafeContinuation<Void, Never>] = []

  /// libmicrohttpd takes half of it for reading, the rest for headers, parameters and the answer's head. Where a head leaves no room
  /// for the answer it closes the connection without one. It clears all of it behind each request of a kept connection, so that more
  /// costs time.
  private static let memoryPerHeadByte = 4
  /// What a TLS client may send beyond a body's limit and still be answered.
  private static let droppedPerBodyByte = 16

  /// `handle` runs as a task on the loop, one per request; the connection waits meanwhile. `refuse` makes the answer for
  /// what the server refuses by itself. Throws if the address cannot be listened on, naming it.
  package init(
    loop: EventLoop, settings: HTTPServerSettings,
    refuse: @escaping (HTTPRefusal) -> HTTPServerResponse = { $0.plainAnswer },
    handle: @escaping (HTTPServerRequest) async -> HTTPServerResponse
  ) throws(HTTPServerFailure) {
    _ = Self.signals
    let listening = try ListeningSocket.open(address: settings.address, port: settings.port)
    port = listening.port
    self.loop = loop
    self.settings = settings
    self.refuse = refuse
    self.handle = handle
    secrets = settings.certificate.map { Secrets(certificate: $0, key: settings.key ?? []) }
    let shortest = min(settings.headTimeout, settings.bodyTimeout, settings.idleTimeout)
    sweepPeriod = max(10, min(1_000, shortest / 4))

    // Callbacks come only from inside calls on the loop, and only until `stop`, which releases this.
    daemon = fanfare_mhd_start(
      listening.descriptor, UInt32(settings.maximumConnections),
      max(32_768, settings.maximumHead * Self.memoryPerHeadByte),
      secrets?.certificate, secrets?.key, callbacks)
    guard let daemon else {
      throw HTTPServerFailure(
        reason: secrets == nil
          ? "cannot listen on port \(port)"
          : "the certificate and key for port \(port) cannot be used: both must be PEM and belong together")
    }
    _ = Unmanaged.passRetained(self)
    loop.watch(fanfare_mhd_epoll(daemon), [.readable]) { [unowned self] _ in run() }
    run()
  }

  /// A write to a connection that the client has closed must be an error, not the end of the process.
  private static let signals: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

  /// Stops listening, answers what is at work, closes the rest. Returns when all handlers have; again: at once or then.
  package func stop() async {
    guard let daemon else { return }
    if !isStopping {
      isStopping = true
      close(MHD_quiesce_daemon(daemon))
    }
    func isAtWork() -> Bool { connections.contains { $0.phase == .handler || $0.phase == .answer } }
    while isAtWork() {
      await withUnsafeContinuation { waiter in
        // The last one may have ended before this one came to wait.
        if isAtWork() { waiters.append(waiter) } else { waiter.resume() }
      }
    }
    guard self.daemon != nil else { return }
    self.daemon = nil
    if let sweep { loop.cancel(sweep) }
    loop.unwatch(fanfare_mhd_epoll(daemon))
    MHD_stop_daemon(daemon)
    Unmanaged.passUnretained(self).release()
  }

  // MARK: Running libmicrohttpd

  private func run() {
    guard let daemon else { return }
    MHD_run(daemon)
    // It may hold work back: data already read, or decrypted.
    var milliseconds: UInt64 = 0
    guard MHD_get_timeout(daemon, &milliseconds) == .YES, !willRunAgain else { return }
    willRunAgain = true
    loop.after(milliseconds: Int64(clamping: milliseconds)) { [self] in
      willRunAgain = false
      run()
    }
  }

  /// Once for all answers of this turn.
  private func runAtEndOfTurn() {
    guard !willRun else { return }
    willRun = true
    loop.atEndOfTurn { [self] in
      willRun = false
      run()
    }
  }

  // MARK: Connections

  func opened(_ raw: OpaquePointer) -> Connection {
    let socket = fanfare_mhd_socket(raw)
    let connection = Connection(
      raw: raw, socket: socket, peer: ListeningSocket.peer(of: socket), deadline: loop.now + settings.headTimeout)
    connection.index = connections.count
    connections.append(connection)
    if sweep == nil { scheduleSweep() }
    return connection
  }

  func closed(_ connection: Connection) {
    let last = connections.removeLast()
    if last !== connection {
      connections[connection.index] = last
      last.index = connection.index
    }
    if connection.wasCutShort, !isStopping { LingeringSocket.linger(connection.socket, loop: loop) }
    wakeStop()
    // At its limit libmicrohttpd does not listen. It begins again only in the run after the one that closed a connection.
    if !isStopping { runAtEndOfTurn() }
  }

  private func scheduleSweep() {
    sweep = loop.after(milliseconds: sweepPeriod) { [self] in
      sweep = nil
      let now = loop.now
      for connection in connections {
        if let deadline = connection.deadline, deadline <= now { expire(connection) }
      }
      if !connections.isEmpty { scheduleSweep() }
      // Whatever libmicrohttpd put off, listening after its limit among it, does not wait for the next event.
      run()
    }
  }

  private func expire(_ connection: Connection) {
    if secrets == nil, connection.phase == .head || connection.phase == .body {
      connection.answerDirectly(refuse(.timedOut))
    }
    connection.abort()
  }

  private func allowance(bytes: Int) -> Instant {
    loop.now + settings.bodyTimeout + Int64(bytes / max(settings.leastRate, 1)) * 1_000
  }

  private func wakeStop() {
    guard !waiters.isEmpty else { return }
    let woken = waiters
    waiters = []
    for waiter in woken { waiter.resume() }
  }

  // MARK: Requests

  func began(_ target: UnsafePointer<CChar>, on connection: Connection) {
    // The first request's time runs since the connection began.
    if connection.phase == .idle { connection.deadline = loop.now + settings.headTimeout }
    connection.phase = .head
    connection.exchange = Exchange(target: target)
  }

  func ended(_ connection: Connection, completely: Bool) {
    connection.exchange = nil
    connection.phase = .idle
    connection.deadline = loop.now + settings.idleTimeout
    if !completely { connection.wasCutShort = true }
    wakeStop()
  }

  /// False closes the connection, here and below.
  func receivedHead(
    method: UnsafePointer<CChar>, version: UnsafePointer<CChar>, headers: [Header], on connection: Connection
  ) -> Bool {
    guard let exchange = connection.exchange else { return false }
    do throws(HTTPRefusal) {
      guard UnsafeRawPointer(version) == exchange.targetEnd else { throw .badRequest("The target holds a NUL.") }
      let head = try RequestHead(
        method: String(cString: method), target: exchange.target, version: String(cString: version), headers: headers,
        settings: settings)
      exchange.head = head
      connection.phase = .body
      connection.deadline = allowance(bytes: head.contentLength ?? (head.hasBody ? head.bodyLimit : 0))
      exchange.body.reserveCapacity(min(head.contentLength ?? 0, 65_536))
      return true
    } catch {
      connection.wasCutShort = true
      return answer(refuse(error), closing: true, on: connection)
    }
  }

  /// A piece of the body, or nothing at its end.
  func received(_ piece: UnsafeRawBufferPointer, on connection: Connection) -> Bool {
    // In any other phase an answer could not be queued: closing is what remains.
    guard connection.phase == .body, let exchange = connection.exchange, let head = exchange.head else { return false }
    if !piece.isEmpty { return receive(piece, exchange, limit: head.bodyLimit, on: connection) }
    if let refusal = exchange.refusal { return answer(refuse(refusal), closing: true, on: connection) }

    let request = HTTPServerRequest(
      method: head.method, path: head.path, query: head.query, headers: head.headers, body: exchange.body,
      peer: connection.peer)
    exchange.body = []
    connection.phase = .handler
    connection.deadline = nil
    MHD_suspend_connection(connection.raw)
    loop.spawn { [self] in
      let response = await handle(request)
      // A suspended connection cannot have gone.
      if response.isWithheld {
        connection.phase = .answer
      } else {
        _ = answer(response, closing: isStopping, on: connection)
      }
      MHD_resume_connection(connection.raw)
      runAtEndOfTurn()
    }
    return true
  }

  private func receive(
    _ piece: UnsafeRawBufferPointer, _ exchange: Exchange, limit: Int, on connection: Connection
  ) -> Bool {
    if exchange.refusal == nil, exchange.body.count + piece.count <= limit {
      exchange.body.append(contentsOf: piece)
      return true
    }
    let refusal = HTTPRefusal.bodyTooLarge(limit: limit)
    connection.wasCutShort = true
    exchange.body = []
    if secrets == nil {
      // libmicrohttpd takes no answer before the body's end.
      connection.answerDirectly(refuse(refusal))
      return false
    }
    exchange.refusal = refusal
    exchange.dropped += piece.count
    return exchange.dropped <= limit * Self.droppedPerBodyByte
  }

  private func answer(_ response: HTTPServerResponse, closing: Bool, on connection: Connection) -> Bool {
    connection.phase = .answer
    let made: OpaquePointer?
    switch response.body {
    case .whole(let bytes):
      connection.deadline = allowance(bytes: bytes.count)
      made = bytes.withUnsafeBytes { body in
        MHD_create_response_from_buffer(
          body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), .RESPMEM_MUST_COPY)
      }
    case .pieces(let pieces):
      connection.deadline = allowance(bytes: 0)
      made = StreamedBody(pieces, connection: connection, server: self).response()
    }
    guard let made else { return false }
    defer { MHD_destroy_response(made) }
    for header in response.permittedHeaders { MHD_add_response_header(made, header.name, header.value) }
    if closing { MHD_add_response_header(made, "Connection", "close") }
    return MHD_queue_response(connection.raw, UInt32(response.status), made) == .YES
  }

  /// The client has taken what was made of a streamed body: the connection waits for the next piece.
  func waits(_ connection: Connection) {
    connection.phase = .handler
    connection.deadline = nil
    MHD_suspend_connection(connection.raw)
  }

  /// The client takes what it is given: its time begins anew.
  func took(_ count: Int, on connection: Connection) { connection.deadline = allowance(bytes: count) }

  func goesOn(_ connection: Connection) {
    connection.phase = .answer
    connection.deadline = allowance(bytes: 0)
    MHD_resume_connection(connection.raw)
    runAtEndOfTurn()
  }
}

/// Certificate and key as C strings; libmicrohttpd does not copy them.
private final class Secrets {
  let certificate: UnsafeMutablePointer<CChar>
  let key: UnsafeMutablePointer<CChar>

  init(certificate: [UInt8], key: [UInt8]) {
    func copy(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar> {
      let text = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
      for (index, byte) in bytes.enumerated() { text[index] = CChar(bitPattern: byte) }
      text[bytes.count] = 0
      return text
    }
    self.certificate = copy(certificate)
    self.key = copy(key)
  }

  deinit {
    memset(key, 0, strlen(key))
    certificate.deallocate()
    key.deallocate()
  }
}
