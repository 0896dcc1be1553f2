import CNGHTTP2
package import Domain
package import Loop
package import TLS

/// One HTTP/2 connection to a provider (design D2), owned by one loop. Every tag that was submitted is answered or failed
/// exactly once. Dropping the last reference closes it without a word.
///
/// Nothing holds a weak reference to it: an object that has ever had one is retained by a slower way, and this one is retained
/// several times per request. Its timers, its dialer and its channel are ended by `deinit`.
package final class HTTP2ClientConnection {
  enum Phase {
    /// Name, TCP, TLS and the peer's first SETTINGS. Exits: `open`, `closed`.
    case connecting
    /// Exits: `draining` on GOAWAY, `drain` and used-up ids; `closed`.
    case open
    /// Streams at work finish. Exit: `closed`.
    case draining
    case closed
  }

  enum Event {
    case settings
    case draining(String?)
    case answered(UInt64, ProviderAnswer)
    case failed(UInt64, StreamFailure)
    case silence(Bool)
  }

  /// To be set right after `init`: what happens without one is told to nobody.
  package weak var delegate: (any HTTP2ClientDelegate)?
  /// The peer's SETTINGS_MAX_CONCURRENT_STREAMS as last received; `initialStreams` until it names one.
  package internal(set) var streamLimit: Int

  let loop: EventLoop
  let origin: Origin
  let settings: HTTP2Settings
  var phase = Phase.connecting
  var table = StreamTable()
  /// What nghttp2 told from inside its functions, for `deliver`.
  var events: [Event] = []
  /// Prepared requests that were answered 200, with what the answer said, for `deliver`.
  var successes: [(tag: UInt64, body: [UInt8])] = []
  var session: OpaquePointer?
  private(set) var channel: SecureChannel?
  /// The slot whose header block or body nghttp2 hands over, looked up once per frame.
  var current = -1
  /// The rest of that header block is of no interest.
  var skipsHeaders = false
  var lastError: String?
  var drainReason: String?
  /// A slot came free, or the limit rose.
  var grown = false
  var health = ConnectionHealth()

  private let authority: String
  private var dialer: Dialer?
  private var scratch = HeaderScratch()
  private var requests = 0
  private var connectTimer: Timer?
  private var answerTimer: Timer?
  var healthTimer: (timer: Timer, due: Instant)?
  private var turnStart = Instant(nanoseconds: 0)
  private var flushScheduled = false
  private var delivering = false
  private var wasOpen = false

  /// Resolves, connects and shakes hands at once; `delegate` hears `connected` or `closed`.
  package convenience init(loop: EventLoop, origin: Origin, tls: TLSContext, settings: HTTP2Settings) {
    self.init(loop: loop, undialed: origin, settings: settings)
    let deadline = loop.now + settings.connectTimeout
    dialer = Dialer(loop: loop, origin: origin, tls: tls, deadline: deadline) { [unowned self] in dialed($0) }
    dialer?.dial()
    connectTimer = loop.after(milliseconds: settings.connectTimeout) { [unowned self] in
      end(.unreachable("\(authority): no HTTP/2 connection in \(self.settings.connectTimeout) ms"))
    }
  }

  /// Without a channel: whoever makes it so gives it its session, and moves the frames.
  init(loop: EventLoop, undialed origin: Origin, settings: HTTP2Settings) {
    self.loop = loop
    self.origin = origin
    self.settings = settings
    authority = origin.authority
    streamLimit = settings.initialStreams
    health.heard(now: loop.now)
  }

  deinit {
    stopTimers()
    dialer?.cancel()
    channel?.close()
    if let session { nghttp2_session_del(session) }
  }

  // MARK: For the owner

  /// Streams that may be opened now: SETTINGS less those at work; 0 before `connected`, when draining, and while the peer is silent.
  package var openable: Int {
    guard phase == .open, !health.isSilent else { return 0 }
    return max(0, min(streamLimit - table.count, settings.maximumRequests - requests))
  }
  /// Requests that have been waiting for their answer for so many milliseconds.
  package func streams(olderThan milliseconds: Int64) -> Int {
    table.count(dueWithin: max(0, settings.answerTimeout - milliseconds), now: loop.now)
  }

  /// Needs `openable > 0`. Written at the end of the turn together with its neighbours. `tag` is the caller's.
  package func submit(_ request: ProviderRequest, tag: UInt64) {
    precondition(openable > 0, "submitted to a connection that opens no stream")
    scheduleFlush()
    let index = table.take(tag: tag, deadline: turnStart + settings.answerTimeout, body: request.body)
    scratch.removeAll()
    scratch.append(":method", request.method)
    scratch.append(":scheme", "https")
    scratch.append(":authority", authority)
    scratch.append(":path", request.path, indexed: false)
    for header in request.headers {
      let secret = header.name == "authorization"
      scratch.append(secret ? Header(header.name, header.value, indexed: false) : header)
    }
    if !request.body.isEmpty { scratch.append("content-length", String(request.body.count), indexed: false) }
    began(ClientCallbacks.submit(&scratch, slot: index, hasBody: !request.body.isEmpty, to: session), in: index, tag)
  }

  /// As above, for a request whose fields were prepared. An answer that is an acceptance comes back among the `accepted`.
  package func submit(_ push: PreparedPush, token: [UInt8], id: UUIDBytes, body: [UInt8], tag: UInt64) {
    precondition(openable > 0, "submitted to a connection that opens no stream")
    scheduleFlush()
    let index = table.take(tag: tag, deadline: turnStart + settings.answerTimeout, body: body)
    table[index].push = push
    let stream = push.with(token: token, id: id, bodyCount: body.count) { fields, count in
      ClientCallbacks.submit(fields, count, slot: index, hasBody: !body.isEmpty, to: session)
    }
    began(stream, in: index, tag)
  }

  private func began(_ stream: Int32, in index: Int, _ tag: UInt64) {
    requests += 1
    if stream > 0 {
      table[index].stream = stream
    } else {
      _ = table.remove(index)
      events.append(.failed(tag, .unsendable(String(cString: nghttp2_strerror(stream)))))
    }
    if requests == settings.maximumRequests {
      phase = .draining
      events.append(.draining("no stream ids left"))
    }
    if answerTimer == nil { armAnswerTimer(milliseconds: settings.answerTimeout) }
    health.began(at: turnStart)
    lookAtHealth(by: turnStart + settings.pingAtWork)
  }

  /// Opens no more streams; closes when those at work have ended.
  package func drain() {
    switch phase {
    case .connecting: end(.finished)
    case .open:
      phase = .draining
      scheduleFlush()
    case .draining, .closed: break
    }
  }

  /// Ends at once; streams at work fail as unknown, or as not processed where nothing of them was written.
  package func close() { end(.finished) }

  // MARK: Opening

  private func dialed(_ result: Result<SecureChannel, Dialer.Failure>) {
    dialer = nil
    switch result {
    case .failure(let failure): end(.unreachable(failure.reason))
    case .success(let channel):
      guard channel.agreedProtocol == "h2" else {
        channel.close()
        return end(.unreachable("\(authority): the peer does not agree to HTTP/2 (ALPN)"))
      }
      self.channel = channel
      channel.owner = self
      session = ClientCallbacks.makeSession(for: self)
      scheduleFlush()
    }
  }

  /// The peer's SETTINGS, the first ones or later ones.
  private func settingsArrived() {
    guard phase == .connecting else { return }
    phase = .open
    wasOpen = true
    if let connectTimer { loop.cancel(connectTimer) }
    lookAtHealth(by: loop.now + settings.pingAfter)
    delegate?.connected(self)
  }

  // MARK: Turns

  /// One flush at the end of the turn, for whatever is queued until then.
  func scheduleFlush() {
    guard !flushScheduled else { return }
    flushScheduled = true
    turnStart = loop.now
    loop.atEndOfTurn { [self] in
      flushScheduled = false
      flush()
    }
  }

  private func flush() {
    channel?.flush()
    settle()
  }

  /// Tells the owner what has happened, and ends the connection if nothing is left to do.
  private func settle() {
    deliver()
    guard phase != .closed, let session else { return }
    if nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0, channel?.hasOutput == false {
      return end(closing(lastError ?? "the HTTP/2 session ended"))
    }
    if phase == .draining, table.count == 0 { return finish() }
  }

  private func deliver() {
    guard !delivering else { return }
    delivering = true
    if !successes.isEmpty {
      delegate?.succeeded(self, successes)
      successes.removeAll(keepingCapacity: true)
    }
    var index = 0
    while index < events.count {
      let event = events[index]
      index += 1
      switch event {
      case .settings: settingsArrived()
      case .draining(let reason): delegate?.draining(self, reason: reason)
      case .answered(let tag, let answer): delegate?.answered(self, tag, answer)
      case .failed(let tag, let failure): delegate?.failed(self, tag, failure)
      case .silence(let isSilent): if phase == .open { delegate?.silenceChanged(self, isSilent: isSilent) }
      }
    }
    events.removeAll(keepingCapacity: true)
    delivering = false
    if grown {
      grown = false
      if openable > 0 { delegate?.capacityChanged(self) }
    }
  }

  // MARK: Ending

  /// A drained connection says goodbye.
  private func finish() {
    if let session {
      nghttp2_submit_goaway(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, NGHTTP2_NO_ERROR.rawValue, nil, 0)
      channel?.flush()
    }
    guard phase != .closed else { return }
    let leaving = channel
    channel = nil
    leaving?.finish()
    end(closing("the connection is drained"))
  }

  /// What an end that the peer brought about means in this phase.
  private func closing(_ reason: String) -> ConnectionEnd {
    if !wasOpen { return .unreachable("\(authority): \(drainReason ?? reason)") }
    if phase == .draining, table.count == 0 { return .finished }
    return .lost(drainReason.map { "\(reason) (\($0))" } ?? reason)
  }

  func end(_ reason: ConnectionEnd) {
    guard phase != .closed else { return }
    phase = .closed
    stopTimers()
    dialer?.cancel()
    dialer = nil
    let written = channel?.written ?? 0
    let slots = table.removeAll().filter { $0.condition != .reported }
    var beside: Int?
    if case .lost = reason { beside = max(0, slots.count { $0.isAtWork(written: written) } - 1) }
    for slot in slots { events.append(slot.outcome(lostBecause: reason.text, written: written, beside: beside)) }
    channel?.close()
    channel = nil
    // Kept alive until the owner has heard everything.
    loop.atEndOfTurn { [self] in
      if let session { nghttp2_session_del(session) }
      session = nil
      deliver()
      delegate?.closed(self, reason)
    }
  }

  private func stopTimers() {
    for timer in [connectTimer, answerTimer, healthTimer?.timer] {
      if let timer { loop.cancel(timer) }
    }
  }

  // MARK: Answer time-outs

  private func armAnswerTimer(milliseconds: Int64) {
    answerTimer = loop.after(milliseconds: milliseconds) { [unowned self] in checkAnswers() }
  }

  private func checkAnswers() {
    answerTimer = nil
    let now = loop.now
    while let index = table.first {
      let deadline = table[index].deadline
      guard deadline <= now else { return armAnswerTimer(milliseconds: deadline - now) }
      table.stopWaiting(index)
      let slot = table[index]
      let isSilent = health.lastSpoken + settings.answerTimeout <= slot.deadline
      events.append(slot.timedOut(after: settings.answerTimeout, isSilent: isSilent))
      table[index].condition = .reported
      nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), slot.stream, NGHTTP2_CANCEL.rawValue)
      // A silent peer is asked at once whether it lives.
      if health.pingSent == nil, now - health.lastHeard >= settings.pingTimeout { ping(now) }
      scheduleFlush()
    }
  }
}

extension HTTP2ClientConnection: SecureChannelOwner {
  func channelOpened(_ channel: SecureChannel) {}

  func channelReceived(_ bytes: UnsafeRawBufferPointer) {
    guard phase != .closed, let session else { return }
    if health.heard(now: loop.now) { events.append(.silence(false)) }
    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let taken = nghttp2_session_mem_recv(session, start, bytes.count)
    if taken < 0 { end(closing(lastError ?? "HTTP/2: \(String(cString: nghttp2_strerror(Int32(taken))))")) }
  }

  func channelSettled() {
    settle()
    if let session, let channel, channel.canWrite, nghttp2_session_want_write(session) != 0 { scheduleFlush() }
  }

  func channelFills() {
    guard let channel else { return }
    while channel.wantsMore, let frame = nextFrame() { channel.append(frame) }
  }

  /// What is to be written next, valid until the session is used again; nil: nothing.
  func nextFrame() -> UnsafeRawBufferPointer? {
    guard let session else { return nil }
    var frame: UnsafePointer<UInt8>?
    let count = nghttp2_session_mem_send(session, &frame)
    if count < 0 { lastError = String(cString: nghttp2_strerror(Int32(count))) }
    return count > 0 ? UnsafeRawBufferPointer(start: frame, count: count) : nil
  }

  func channelEnded(_ reason: String?) {
    deliver()
    end(closing(reason ?? "the peer closed the connection"))
  }
}

extension ConnectionEnd {
  fileprivate var text: String {
    switch self {
    case .finished: "the connection was closed"
    case .unreachable(let reason), .lost(let reason): reason
    }
  }
}
