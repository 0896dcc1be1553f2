import Domain
import HTTP2
import Loop
import TLS

/// Stands for APNs or FCM: a bare HTTP/2 server that does as little per push as a vendor can.
final class PushResponder: BareServerDelegate {
  private let server: BareServer
  private let loop: EventLoop
  private let settings: ResponderSettings
  private let usual: BareReply
  private(set) var tally = ResponderTally()
  private var untilGoaway: Int
  /// Answers that wait for their time, in order.
  private var held = FIFO<(due: Instant, stream: HTTP2ServerStream, reply: BareReply)>()
  private var timer: Timer?

  init(loop: EventLoop, certificate: [UInt8], key: [UInt8], settings: ResponderSettings) throws {
    self.loop = loop
    self.settings = settings
    untilGoaway = settings.goaway
    usual = BareReply(status: 200, body: settings.provider == .fcm ? Self.fcmBody : [])
    let tls = try TLSContext.server(certificate: certificate, key: key, alpn: ["h2"])
    server = try BareServer(loop: loop, tls: tls, streams: settings.streams)
    server.delegate = self
  }

  private static let fcmBody = Array("{\"name\":\"projects/bench/messages/0:1500415314455276%31bd1c9631bd1c96\"}".utf8)

  var port: Int { server.port }
  func stop() { server.stop() }

  func opened() { tally.connections += 1 }

  func received(_ stream: HTTP2ServerStream, path: UnsafeBufferPointer<UInt8>) -> BareReply? {
    let now = loop.now
    tally.received(1, milestone: settings.milestone, now: now)
    note(path, now)
    if settings.goaway > 0 { countDown(stream.connection) }
    if settings.stalled { return nil }
    let reply = settings.faults ? Fault(number: tally.requests)?.reply(now: loop.wallNow) ?? usual : usual
    guard settings.delay > 0 else { return reply }
    held.append((now + settings.delay, stream, reply))
    if timer == nil { arm(settings.delay) }
    return nil
  }

  private static let devicePath = "/3/device/".utf8.count
  private static let mark = Array(ResponderTally.mark.utf8)
  private func note(_ path: UnsafeBufferPointer<UInt8>, _ now: Instant) {
    let start = Self.devicePath
    guard path.count > start + 2, path[start] == Self.mark[0], path[start + 1] == Self.mark[1] else { return }
    tally.marked[String(decoding: path[start...], as: UTF8.self)] = Int64(now.nanoseconds)
  }

  private func countDown(_ connection: UInt64) {
    untilGoaway -= 1
    guard untilGoaway == 0 else { return }
    untilGoaway = settings.goaway
    loop.atEndOfTurn { [weak self] in self?.server.goaway(connection) }
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
      server.respond(next.stream, next.reply)
    }
  }

  /// Which requests fail, and how: APNs' words.
  private enum Fault: Int {
    case gone = 17
    case busy = 43
    case unavailable = 71

    init?(number: Int) { self.init(rawValue: number % 100) }

    func reply(now: WallTime) -> BareReply {
      switch self {
      case .gone:
        BareReply(
          status: 410, body: Array("{\"reason\":\"Unregistered\",\"timestamp\":\(now.milliseconds)}".utf8))
      case .busy: BareReply(status: 429, body: Array("{\"reason\":\"TooManyRequests\"}".utf8))
      case .unavailable: BareReply(status: 503, body: Array("{\"reason\":\"ServiceUnavailable\"}".utf8))
      }
    }
  }
}
