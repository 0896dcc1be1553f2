import Domain
import HTTP2
import Loop
import TLS

/// A vendor that speaks HTTP/2: examines requests and words answers. Owned by the loop.
protocol HTTP2Vendor: AnyObject {
  var provider: SandboxProvider { get }
  /// Streams that a connection may carry once a request on it proved itself; nil: what it may from the start.
  var raisedStreams: Int? { get }
  func opened(_ connection: UInt64, _ certificate: HTTP2ClientCertificate?)
  func closed(_ connection: UInt64)
  /// The connection may carry `raisedStreams` from the start.
  func raisesAtOnce(_ connection: UInt64) -> Bool
  func examine(_ request: HTTP2ServerRequest, now: WallTime) -> Examination
  /// The examined request was taken for delivery.
  func processed(_ examination: Examination)
  /// The request's credential stops working; false if it cannot.
  func expire(_ request: HTTP2ServerRequest) -> Bool
  /// The answer of a rule, in the vendor's form.
  func answer(_ reply: Rule.Reply, to examination: Examination) -> VendorAnswer
  /// A rule's answer goes out on the connection.
  func played(_ reply: Rule.Reply, on connection: UInt64)
  /// GOAWAY's debug data.
  func farewell(_ reason: String) -> [UInt8]
}

extension HTTP2Vendor {
  func raisesAtOnce(_ connection: UInt64) -> Bool { false }
  func processed(_ examination: Examination) {}
  func played(_ reply: Rule.Reply, on connection: UInt64) {}
}

/// Stands between an HTTP/2 server and a vendor: asks the vendor, then the rules, plays what they say, and records it.
final class HTTP2Front: HTTP2ServerDelegate {
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
    var entry: UInt64
  }

  private let stage: Stage
  private let vendor: any HTTP2Vendor
  private var server: HTTP2Server?
  private var connections: [UInt64: Connection] = [:]
  private var held: [HTTP2ServerStream: Held] = [:]
  /// Connections of requests that were answered in this turn.
  private var answeredInTurn: [UInt64] = []

  /// Server certificates that a careful client refuses.
  private let badCertificates: [Rule.CertificateFault: TLSContext]

  init(stage: Stage, vendor: any HTTP2Vendor, badCertificates: [Rule.CertificateFault: TLSContext] = [:]) {
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
    guard !stage.rules.isEmpty, let rule = stage.rules.drawConnection(vendor.provider) else { return greeting }
    stage.statistics[vendor.provider].faults[rule.fault, default: 0] += 1
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
    stage.log.withhold(waiting.entry)
    finished(stream.connection)
  }

  func received(_ request: HTTP2ServerRequest) {
    let id = request.stream.connection
    guard let connection = connections[id] else { return }
    begun(id)
    let examination = vendor.examine(request, now: stage.loop.wallNow)
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
    let rule =
      examination.valid && !stage.rules.isEmpty ? stage.rules.draw(vendor.provider, token: examination.token) : nil
    guard let rule else {
      record(request, examination, answered: examination.answer, fault: nil, accepted: examination.delivers)
      return answer(request.stream, examination.answer)
    }
    play(rule, request, examination)
  }

  private func play(_ rule: Rule, _ request: HTTP2ServerRequest, _ examination: Examination) {
    let stream = request.stream
    let fault = rule.fault
    let processed = rule.when == .after
    let delivered = processed && examination.delivers
    switch rule.action {
    case nil:
      let answer = rule.reply.map { vendor.answer($0, to: examination) } ?? examination.answer
      if let reply = rule.reply { vendor.played(reply, on: stream.connection) }
      let accepted = examination.delivers && (rule.reply == nil || processed || answer.status == 200)
      let entry = record(request, examination, answered: answer, fault: fault, accepted: accepted)
      guard rule.delay > 0 else { return self.answer(stream, answer) }
      hold(stream, entry, milliseconds: rule.delay) { [weak self] in self?.answer(stream, answer) }
    case .streams(let streams):
      record(request, examination, answered: examination.answer, fault: fault, accepted: examination.delivers)
      server?.setMaximumConcurrentStreams(streams, on: stream.connection)
      answer(stream, examination.answer)
    case .goaway(let code, let reason):
      record(
        request, examination, answered: processed ? examination.answer : nil, fault: fault, accepted: delivered)
      if processed { answer(stream, examination.answer) }
      leave(stream, code: code, debug: vendor.farewell(reason), processed: processed)
    case .reset(let code):
      record(request, examination, answered: nil, fault: fault, accepted: delivered)
      server?.reset(stream, code: code)
      finished(stream.connection)
    case .close:
      record(request, examination, answered: nil, fault: fault, accepted: delivered)
      finished(stream.connection)
      server?.close(stream.connection)
    case .headers(let bytes):
      record(request, examination, answered: nil, fault: fault, accepted: delivered)
      finished(stream.connection)
      server?.floodHeaders(stream, bytes: bytes)
    case .hpack:
      record(request, examination, answered: nil, fault: fault, accepted: delivered)
      finished(stream.connection)
      server?.respondMalformed(stream)
    case .expire:
      let refused = vendor.expire(request) ? vendor.examine(request, now: stage.loop.wallNow) : examination
      record(request, refused, answered: refused.answer, fault: fault, accepted: refused.delivers)
      answer(stream, refused.answer)
    // Meet connections.
    case .certificate, .handshake:
      record(request, examination, answered: examination.answer, fault: nil, accepted: examination.delivers)
      answer(stream, examination.answer)
    case .stall:
      let ends = rule.delay > 0
      let entry = record(
        request, examination, answered: processed && ends ? examination.answer : nil, fault: fault, accepted: delivered)
      server?.stall(stream.connection, true)
      guard ends else { return }
      hold(stream, entry, milliseconds: rule.delay) { [weak self] in
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

  @discardableResult
  private func record(
    _ request: HTTP2ServerRequest, _ examination: Examination, answered: VendorAnswer?, fault: FaultKind?,
    accepted: Bool
  ) -> UInt64 {
    if accepted { vendor.processed(examination) }
    let id = request.stream.connection
    if accepted || answered != nil, request.stream.stream > connections[id]?.highestProcessed ?? .max {
      connections[id]?.highestProcessed = request.stream.stream
    }
    return stage.record(
      vendor.provider, connection: id, request: UInt64(request.stream.stream), examination, body: request.body,
      answered: answered, fault: fault, accepted: accepted)
  }

  private func hold(
    _ stream: HTTP2ServerStream, _ entry: UInt64, milliseconds: Int64, _ release: @escaping () -> Void
  ) {
    let timer = stage.loop.after(milliseconds: milliseconds) { [weak self] in
      guard self?.held.removeValue(forKey: stream) != nil else { return }
      release()
    }
    held[stream] = Held(timer: timer, entry: entry)
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
