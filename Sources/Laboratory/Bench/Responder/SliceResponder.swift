import Domain
import HTTPServer
import Loop

/// Stands for OneSignal: HTTPS/1.1, one request with many subscriptions.
final class SliceResponder {
  private var server: HTTPServer?
  private(set) var tally = ResponderTally()
  private let loop: EventLoop
  private let settings: ResponderSettings

  /// The vendor's own limit is smaller than what 20,000 subscriptions need.
  private static let largestBody = 4 << 20

  init(loop: EventLoop, certificate: [UInt8], key: [UInt8], settings: ResponderSettings) throws {
    self.loop = loop
    self.settings = settings
    var server = HTTPServerSettings()
    server.certificate = certificate
    server.key = key
    server.maximumBody = Self.largestBody
    self.server = try HTTPServer(loop: loop, settings: server) { [unowned self] in await answer($0) }
  }

  var port: Int { server?.port ?? 0 }
  func stop() async { await server?.stop() }

  private func answer(_ request: HTTPServerRequest) async -> HTTPServerResponse {
    tally.received(Self.recipients(request.body), milestone: settings.milestone, now: loop.now)
    if settings.delay > 0 { await loop.sleep(milliseconds: settings.delay) }
    while settings.stalled { await loop.sleep(milliseconds: 60_000) }
    let body = Array("{\"id\":\"00000000-0000-4000-8000-000000000000\",\"external_id\":null}".utf8)
    return HTTPServerResponse(status: 200, headers: [Header("content-type", "application/json")], body: body)
  }

  /// Texts in the list of subscriptions.
  private static func recipients(_ body: [UInt8]) -> Int {
    let name = Array("\"include_subscription_ids\":[".utf8)
    guard let first = name.first else { return 0 }
    var place = 0
    while let found = body[place...].firstIndex(of: first) {
      place = found + 1
      guard body[found...].starts(with: name) else { continue }
      let list = body[(found + name.count)...].prefix { $0 != UInt8(ascii: "]") }
      return list.count { $0 == UInt8(ascii: "\"") } / 2
    }
    return 0
  }
}
