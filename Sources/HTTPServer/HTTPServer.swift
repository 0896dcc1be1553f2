import CMicroHTTPD
package import Domain
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
  let admit: (HTTPServerRequest) -> HTTPAdmission
  let handle: (HTTPServerRequest) async -> HTTPServerResponse
  private let turnedAway: (HTTPTurnedAway, NetworkAddress?) -> Void
  /// What new connections show; nil: plain HTTP.
  private var credentials: ServerCredentials?
  private var daemon: OpaquePointer?

  private(set) var addresses: AddressBook
  var budget: ByteBudget
  private let lingering: LingeringSockets

  private var connections: [Connection] = []
  private var sweep: Timer?
  private let sweepPeriod: Int64
  private var willRun = false
  private var willRunAgain = false
  private(set) var isStopping = false
  private var waiters: [UnsafeContinuation<Void, Never>] = []

  /// Bytes of libmicrohttpd for a connection, for its head, the headers' places, and the answer's head: so much that a head of
  /// twice the limit, with as many headers as are allowed, is told by us that it is too large. It clears all of it behind each
  /// request of a kept connection, and half of it before the answer, so that more costs time.
  private static func memory(forHead limit: Int) -> Int { max(32_768, limit * 5 / 2) }

  /// `handle` runs as a task on the loop, one per request; the connection waits meanwhile. `admit` is asked before it, when the
  /// head has come: nothing of a body is read before its verdict. `refuse` makes the answer for what the server refuses by
  /// itself. `turnedAway` is told of what was refused for its cost, with the address where it is known. Throws if the address
  /// cannot be listened on, naming it.
  package init(
    loop: EventLoop, settings: HTTPServerSettings,
    refuse: @escaping (HTTPRefusal) -> HTTPServerResponse = { $0.plainAnswer },
    turnedAway: @escaping (HTTPTurnedAway, NetworkAddress?) -> Void = { _, _ in },
    admit: @escaping (HTTPServerRequest) -> HTTPAdmission = { _ in .now(.take(permit: nil, key: "")) },
    handle: @escaping (HTTPServerRequest) async -> HTTPServerResponse
  ) throws(HTTPServerFailure) {
    _ = Self.signals
    credentials = try settings.certificate.map { certificate throws(HTTPServerFailure) in
      try ServerCredentials(certificate: certificate, key: settings.key ?? [])
    }
    let listening = try ListeningSocket.open(address: settings.address, port: settings.port)
    port = listening.port
    self.loop = loop
    self.settings = settings
    self.refuse = refuse
    self.turnedAway = turnedAway
    self.admit = admit
    self.handle = handle
    addresses = AddressBook(limit: settings.connectionsPerAddress, trustedProxies: settings.trustedProxies)
    budget = ByteBudget(settings.bytes)
    lingering = LingeringSockets(loop: loop)
    let shortest = min(settings.headTimeout, settings.transferWindow, settings.idleTimeout)
    sweepPeriod = max(10, min(1_000, shortest / 4))

    // Callbacks come only from inside calls on the loop, and only until `stop`, which releases this.
    daemon = fanfare_mhd_start(
      listening.descriptor, UInt32(settings.maximumConnections),
      Self.memory(forHead: settings.maximumHead), credentials == nil ? 0 : 1, callbacks)
    guard let daemon else { throw HTTPServerFailure(reason: "cannot listen on port \(port)") }
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
    func isAtWork() -> Bool { connections.contains { [.admission, .handler, .answer].contains($0.phase) } }
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

  /// New connections show this certificate from now on; those that are open go on with theirs. Only of a server that has
  /// one. Throws, and leaves all as it is, if they cannot be used.
  package func use(certificate: [UInt8], key: [UInt8]) throws(HTTPServerFailure) {
    precondition(credentials != nil, "a server does not change to TLS")
    credentials = try ServerCredentials(certificate: certificate, key: key)
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
  func runAtEndOfTurn() {
    guard !willRun else { return }
    willRun = true
    loop.atEndOfTurn { [self] in
      willRun = false
      run()
    }
  }

  // MARK: Connections

  func mayConnect(_ address: NetworkAddress) -> Bool {
    if addresses.mayConnect(address) { return true }
    turnedAway(.connections, address)
    return false
  }

  func opened(_ raw: OpaquePointer) -> Connection {
    let socket = fanfare_mhd_socket(raw)
    let connection = Connection(
      raw: raw, socket: socket, peer: ListeningSocket.peer(of: socket), credentials: credentials,
      deadline: loop.now + settings.headTimeout)
    connection.index = connections.count
    connections.append(connection)
    if let peer = connection.peer { addresses.opened(peer) }
    if sweep == nil { scheduleSweep() }
    return connection
  }

  func closed(_ connection: Connection) {
    let last = connections.removeLast()
    if last !== connection {
      connections[connection.index] = last
      last.index = connection.index
    }
    releaseHold(of: connection)
    // It counts as its address's connection until its client has gone.
    let gone = { [self] in if let peer = connection.peer { addresses.closed(peer) } }
    if !connection.wasCutShort || isStopping || !linger(connection, gone) { gone() }
    wakeStop()
    // At its limit libmicrohttpd does not listen. It begins again only in the run after the one that closed a connection.
    if !isStopping { runAtEndOfTurn() }
  }

  private func linger(_ connection: Connection, _ gone: @escaping () -> Void) -> Bool {
    if lingering.count >= LingeringSockets.limit { turnedAway(.lingering, connection.peer) }
    return lingering.linger(connection.socket, ended: gone)
  }

  private func scheduleSweep() {
    sweep = loop.after(milliseconds: sweepPeriod) { [self] in
      sweep = nil
      let now = loop.now
      for connection in connections {
        if let deadline = connection.pace?.deadline ?? connection.deadline, deadline <= now { expire(connection) }
      }
      if !connections.isEmpty { scheduleSweep() }
      // Whatever libmicrohttpd put off, listening after its limit among it, does not wait for the next event.
      run()
    }
  }

  private func expire(_ connection: Connection) {
    if connection.phase != .idle, !connection.wasCutShort {
      turnedAway(.slow, connection.exchange?.request?.address ?? connection.peer)
    }
    if connection.phase == .head || connection.phase == .body { connection.answerDirectly(refuse(.timedOut)) }
    connection.abort()
  }

  func noMemory(_ share: ByteShare, on connection: Connection) -> HTTPServerResponse {
    turnedAway(HTTPTurnedAway(share), connection.exchange?.request?.address ?? connection.peer)
    return refuse(.noMemory(share))
  }

  func wakeStop() {
    guard !waiters.isEmpty else { return }
    let woken = waiters
    waiters = []
    for waiter in woken { waiter.resume() }
  }
}
