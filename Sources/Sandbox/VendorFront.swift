import Domain
import HTTP2
import Loop
import TLS

/// Stands between a port and its vendor: asks the vendor, then the rules, plays what they say, and records it, member by
/// member where a request is for many. The same for every vendor and both versions of HTTP.
final class VendorFront: HTTP2ServerDelegate {
  private struct Connection {
    var open = 0
    var streamsMaximum = 0
    var raised = false
    /// The last stream that GOAWAY let stand; nothing is processed any more.
    var leftAt: Int32?
    /// The highest stream that was accepted or answered: GOAWAY must not deny it.
    var highestProcessed: Int32 = 0
  }
  /// The answer that waits for its delay.
  private struct Held {
    var timer: Timer
    /// The request's lines in the log.
    var entries: ClosedRange<UInt64>
  }

  private let stage: Stage
  private let vendor: any Vendor
  private var server: HTTP2Server?
  private var connections: [UInt64: Connection] = [:]
  private var held: [HTTP2ServerStream: Held] = [:]
  /// Connections of requests that were answered in this turn.
  private var answeredInTurn: [UInt64] = []

  /// Server certificates that a careful client refuses.
  private let badCertificates: [Rule.CertificateFault: TLSContext]

  init(stage: Stage, vendor: any Vendor, badCertificates: [Rule.CertificateFault: TLSContext] = [:]) {
    self.stage = stage
    self.vendor = vendor
    self.badCertificates = badCertificates
  }

  func serve(_ server: HTTP2Server) {
    self.server = server
    server.delegate = self
  }

  func stop() {
    for waiting in held.values { stage.loop.cancel(waiting.timer) }
    held = [:]
    server?.stop()
    server = nil
  }

  func greeting() -> HTTP2Greeting {
    var greeting = HTTP2Greeting()
    guard !stage.rules.isEmpty else { return greeting }
    var meeting: (rule: Rule, provider: SandboxProvider)?
    for provider in [vendor.provider] + vendor.guests where meeting == nil {
      meeting = stage.rules.drawConnection(provider).map { ($0, provider) }
    }
    guard let (rule, provider) = meeting else { return greeting }
    stage.statistics[provider].faults[rule.fault, default: 0] += 1
    switch rule.action {
    case .certificate(let fault): greeting.tls = badCertificates[fault]
    case .handshake(let every): greeting.pace = every.map { .dripping(every: $0) } ?? .silent
    default: break
    }
    return greeting
  }

  func opened(_ connection: UInt64) {
    connections[connection] = Connection()
    stage.statistics[vendor.provider].connectionsOpened += 1
    stage.statistics[vendor.provider].connectionsOpen += 1
    vendor.opened(connection, server?.clientCertificate(of: connection))
    if let streams = vendor.raisedStreams, vendor.raisesAtOnce(connection) {
      connections[connection]?.raised = true
      server?.setMaximumConcurrentStreams(streams, on: connection)
    }
  }

  func closed(_ connection: UInt64) {
    guard connections.removeValue(forKey: connection) != nil else { return }
    stage.statistics[vendor.provider].connectionsOpen -= 1
    for stream in held.keys where stream.connection == connection { abandoned(stream) }
    vendor.closed(connection)
  }

  func abandoned(_ stream: HTTP2ServerStream) {
    guard let waiting = held.removeValue(forKey: stream) else { return }
    stage.loop.cancel(waiting.timer)
    for entry in waiting.entries { stage.log.withhold(entry) }
    finished(stream.connection)
  }

  func received(_ request: HTTP2ServerRequest) {
    let id = request.stream.connection
    guard let connection = connections[id] else { return }
    begun(id)
    var examination = vendor.examine(request, now: stage.loop.wallNow)
    if let leftAt = connection.leftAt {
      record(request, examination, answered: nil, fault: nil, accepted: false)
      // GOAWAY has said so of the streams above it already.
      if request.stream.stream <= leftAt { server?.reset(request.stream, code: Self.refusedStream) }
      return finished(id)
    }
    if examination.raisesStreams, !connection.raised, let streams = vendor.raisedStreams {
      connections[id]?.raised = true
      server?.setMaximumConcurrentStreams(streams, on: id)
    }
    let rule = examination.valid && !stage.rules.isEmpty ? draw(examination) : nil
    if rule?.action == .expire, vendor.expire(request) {
      examination = vendor.examine(request, now: stage.loop.wallNow)
    }
    let accepted = examination.delivers && (rule.map(lets) ?? true)
    if accepted, !examination.replayed, !stage.rules.isEmpty { pick(&examination) }
    guard let rule else {
      record(request, examination, answered: examination.answer, fault: nil, accepted: accepted)
      return answer(request.stream, examination.answer)
    }
    play(rule, request, examination, accepted: accepted)
  }

  private func draw(_ examination: Examination) -> Rule? {
    let provider = examination.provider ?? vendor.provider
    guard !examination.members.isEmpty else { return stage.rules.draw(provider, token: examination.token) }
    return stage.rules.draw(provider, members: examination.members, key: examination.id)
  }

  /// True if a request that meets the rule is taken for delivery all the same.
  private func lets(_ rule: Rule) -> Bool {
    if rule.when == .after { return true }
    switch rule.action {
    case nil: return rule.reply.map { !vendor.refuses($0) } ?? true
    case .streams, .expire, .certificate, .handshake: return true
    case .goaway, .reset, .stall, .close, .headers, .hpack: return false
    }
  }

  /// Asks the rules for members of the request that are out of reach.
  private func pick(_ examination: inout Examination) {
    guard !examination.members.isEmpty,
      let (rule, members) = stage.rules.pick(examination.provider ?? vendor.provider, members: examination.members)
    else { return }
    let reason = rule.reply?.reason ?? ""
    examination.outOfReach = Examination.OutOfReach(reason: reason, members: Set(members))
    examination.answer = vendor.partial(reason, members, examination)
  }

  private func play(_ rule: Rule, _ request: HTTP2ServerRequest, _ examination: Examination, accepted: Bool) {
    let stream = request.stream
    let fault = rule.fault
    let processed = rule.when == .after
    func recordSilence() {
      record(request, examination, answered: nil, fault: fault, accepted: accepted)
      finished(stream.connection)
    }
    switch rule.action {
    case nil:
      let answer = rule.reply.map { vendor.answer($0, to: examination) } ?? examination.answer
      if let reply = rule.reply { vendor.played(reply, on: stream.connection) }
      let entries = record(request, examination, answered: answer, fault: fault, accepted: accepted)
      guard rule.delay > 0 else { return self.answer(stream, answer) }
      hold(stream, entries, milliseconds: rule.delay) { [weak self] in self?.answer(stream, answer) }
    case .streams(let streams):
      record(request, examination, answered: examination.answer, fault: fault, accepted: accepted)
      server?.setMaximumConcurrentStreams(streams, on: stream.connection)
      answer(stream, examination.answer)
    case .goaway(let code, let reason):
      record(
        request, examination, answered: processed ? examination.answer : nil, fault: fault, accepted: accepted)
      if processed { answer(stream, examination.answer) }
      leave(stream, code: code, debug: vendor.farewell(reason), processed: processed)
    case .reset(let code):
      recordSilence()
      server?.reset(stream, code: code)
    case .close:
      recordSilence()
      server?.close(stream.connection)
    case .headers(let bytes):
      recordSilence()
      server?.floodHeaders(stream, bytes: bytes)
    case .hpack:
      recordSilence()
      server?.respondMalformed(stream)
    case .expire:
      record(request, examination, answered: examination.answer, fault: fault, accepted: accepted)
      answer(stream, examination.answer)
    // Meet connections.
    case .certificate, .handshake:
      record(request, examination, answered: examination.answer, fault: nil, accepted: accepted)
      answer(stream, examination.answer)
    case .stall:
      let ends = rule.delay > 0
      let entries = record(
        request, examination, answered: processed && ends ? examination.answer : nil, fault: fault, accepted: accepted)
      server?.stall(stream.connection, true)
      guard ends else { return }
      hold(stream, entries, milliseconds: rule.delay) { [weak self] in
        self?.server?.stall(stream.connection, false)
        if processed { self?.answer(stream, examination.answer) }
      }
    }
  }

  /// GOAWAY that says the truth: this stream and later ones were not processed, unless a later one was; then this one is
  /// refused by itself.
  private func leave(_ stream: HTTP2ServerStream, code: UInt32, debug: [UInt8], processed: Bool) {
    let highest = connections[stream.connection]?.highestProcessed ?? 0
    connections[stream.connection]?.leftAt = highest
    if !processed {
      if highest > stream.stream { server?.reset(stream, code: Self.refusedStream) }
      finished(stream.connection)
    }
    server?.goaway(stream.connection, code: code, debug: debug, lastStream: highest)
  }
  private static let refusedStream: UInt32 = 7

  /// The request's lines in the log: one, or one for each member.
  @discardableResult
  private func record(
    _ request: HTTP2ServerRequest, _ examination: Examination, answered: VendorAnswer?, fault: FaultKind?,
    accepted: Bool
  ) -> ClosedRange<UInt64> {
    if accepted { vendor.processed(examination, now: stage.loop.wallNow) }
    let id = request.stream.connection
    if accepted || answered != nil, request.stream.stream > connections[id]?.highestProcessed ?? .max {
      connections[id]?.highestProcessed = request.stream.stream
    }
    return stage.record(
      examination.provider ?? vendor.provider, connection: id, request: UInt64(request.stream.stream), examination,
      body: examination.isSecret ? [] : examination.readable ?? request.body, answered: answered, fault: fault,
      accepted: accepted)
  }

  private func hold(
    _ stream: HTTP2ServerStream, _ entries: ClosedRange<UInt64>, milliseconds: Int64, _ release: @escaping () -> Void
  ) {
    let timer = stage.loop.after(milliseconds: milliseconds) { [weak self] in
      guard self?.held.removeValue(forKey: stream) != nil else { return }
      release()
    }
    held[stream] = Held(timer: timer, entries: entries)
  }

  private func answer(_ stream: HTTP2ServerStream, _ answer: VendorAnswer) {
    if answer.filler > 0 {
      server?.respond(stream, status: answer.status, headers: answer.headers, bodyOf: answer.filler)
    } else {
      server?.respond(stream, status: answer.status, headers: answer.headers, body: answer.body)
    }
    finished(stream.connection)
  }

  // MARK: Streams at once

  private func begun(_ id: UInt64) {
    guard var connection = connections[id] else { return }
    connection.open += 1
    if connection.open > connection.streamsMaximum {
      connection.streamsMaximum = connection.open
      if connection.open > stage.statistics[vendor.provider].streamsMaximum {
        stage.statistics[vendor.provider].streamsMaximum = connection.open
      }
    }
    connections[id] = connection
  }

  /// Answers leave at the end of the turn: until then their streams count.
  private func finished(_ id: UInt64) {
    if answeredInTurn.isEmpty {
      stage.loop.atEndOfTurn { [weak self] in
        guard let self else { return }
        for id in answeredInTurn { connections[id]?.open -= 1 }
        answeredInTurn.removeAll(keepingCapacity: true)
      }
    }
    answeredInTurn.append(id)
  }
}
