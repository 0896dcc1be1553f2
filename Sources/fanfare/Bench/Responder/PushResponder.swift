import Domain
import HTTP2
import Loop
import TLS

/// Stands for APNs or FCM: a bare HTTP/2 server that does as little per push as a vendor can.
final class PushResponder: HTTP2ServerDelegate {
  private var server: HTTP2Server?
  private let loop: EventLoop
  private let settings: ResponderSettings
  private(set) var tally = ResponderTally()
  private var untilGoaway: Int
  /// Answers that wait for their time, in order.
  private var held = FIFO<(due: Instant, stream: HTTP2ServerStream, id: String?, number: Int)>()
  private var timer: Timer?

  init(loop: EventLoop, certificate: [UInt8], key: [UInt8], settings: ResponderSettings) throws {
    self.loop = loop
    self.settings = settings
    untilGoaway = settings.goaway
    let tls = try TLSContext.server(certificate: certificate, key: key, alpn: ["h2"])
    var server = HTTP2ServerSettings()
    server.maximumConcurrentStreams = settings.streams
    self.server = try HTTP2Server(loop: loop, port: 0, tls: tls, settings: server)
    self.server?.delegate = self
  }

  var port: Int { server?.port ?? 0 }
  func stop() { server?.stop() }

  func opened(_ connection: UInt64) { tally.connections += 1 }
  func abandoned(_ stream: HTTP2ServerStream) {}
  func closed(_ connection: UInt64) {}

  func received(_ request: HTTP2ServerRequest) {
    let now = loop.now
    tally.received(1, milestone: settings.milestone, now: now)
    if settings.provider == .apns { note(request.path, now) }
    if settings.goaway > 0 { countDown(request.stream.connection) }
    if settings.stalled { return }
    let id = settings.provider == .apns ? request.header("apns-id") : nil
    guard settings.delay > 0 else { return answer(request.stream, id, number: tally.requests) }
    held.append((now + settings.delay, request.stream, id, tally.requests))
    if timer == nil { arm(settings.delay) }
  }

  private static let devicePath = "/3/device/"
  private func note(_ path: String, _ now: Instant) {
    let token = path.utf8.dropFirst(Self.devicePath.utf8.count)
    guard token.starts(with: ResponderTally.mark.utf8) else { return }
    tally.marked[String(decoding: token, as: UTF8.self)] = Int64(now.nanoseconds)
  }

  private func countDown(_ connection: UInt64) {
    untilGoaway -= 1
    guard untilGoaway == 0 else { return }
    untilGoaway = settings.goaway
    server?.goaway(connection, code: 0, debug: [])
  }

  private func arm(_ milliseconds: Int64) {
    timer = loop.after(milliseconds: milliseconds) { [weak self] in self?.release() }
  }

  private func release() {
    timer = nil
    let now = loop.now
    while let next = held.first {
      guard next.due <= now else { return arm(max(1, next.due - now)) }
      _ = held.popFirst()
      answer(next.stream, next.id, number: next.number)
    }
  }

  private func answer(_ stream: HTTP2ServerStream, _ id: String?, number: Int) {
    let own = id.map { [Header("apns-id", $0, indexed: false)] } ?? []
    if settings.faults, let fault = Fault(number: number) {
      let body = Array(fault.body(now: loop.wallNow).utf8)
      server?.respond(stream, status: fault.status, headers: own, body: body)
    } else if settings.provider == .fcm {
      server?.respond(stream, status: 200, headers: Self.json, body: Self.fcmBody)
    } else {
      server?.respond(stream, status: 200, headers: own, body: [])
    }
  }

  private static let json = [Header("content-type", "application/json; charset=UTF-8")]
  private static let fcmBody = Array("{\"name\":\"projects/bench/messages/0:1500415314455276%31bd1c9631bd1c96\"}".utf8)

  /// Which requests fail, and how: APNs' words.
  private enum Fault: Int {
    case gone = 17
    case busy = 43
    case unavailable = 71

    init?(number: Int) { self.init(rawValue: number % 100) }
    var status: Int {
      switch self {
      case .gone: 410
      case .busy: 429
      case .unavailable: 503
      }
    }
    func body(now: WallTime) -> String {
      switch self {
      case .gone: "{\"reason\":\"Unregistered\",\"timestamp\":\(now.milliseconds)}"
      case .busy: "{\"reason\":\"TooManyRequests\"}"
      case .unavailable: "{\"reason\":\"ServiceUnavailable\"}"
      }
    }
  }
}
