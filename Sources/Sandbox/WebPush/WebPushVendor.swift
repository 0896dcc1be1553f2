import Domain
import HTTP2
import JSON

/// Plays a push service (RFC 8030) and the browsers behind it: each message is read with its browser's keys, and one that the browser
/// could not read is refused, so that it shows.
///
/// `GET /subscriptions/NAME` gives a subscription; with `?key=APPLICATION_SERVER_KEY` one that takes pushes of that key alone.
final class WebPushVendor: Vendor {
  static let pushPath = "/push/"
  static let subscriptionPath = "/subscriptions/"
  private static let bodyLimit = 4_096
  private static let topicLimit = 32
  private static let longestTTL = 2_419_200

  let provider = SandboxProvider.webPush
  private let browsers: Browsers
  private var messages: UInt64 = 0

  init(browsers: Browsers) { self.browsers = browsers }

  func examine(_ request: HTTP2ServerRequest, now: WallTime) -> Examination {
    var examination = Examination(valid: false, answer: VendorAnswer(status: 201))
    let path = request.barePath
    if path.hasPrefix(Self.subscriptionPath) {
      examination.rehearsal = true
      examination.answer = subscription(String(path.dropFirst(Self.subscriptionPath.count)), request)
      return examination
    }
    guard path.hasPrefix(Self.pushPath) else {
      examination.answer = Self.refusal(404, "NoSuchPath")
      return examination
    }
    let parts = path.dropFirst(Self.pushPath.count).split(separator: ".", omittingEmptySubsequences: false)
    examination.token = String(parts[0])
    examination.topic = request.header("topic") ?? ""
    if let refusal = refusal(request, parts.map(String.init), &examination, now) {
      examination.answer = refusal
      return examination
    }
    messages += 1
    let location = "https://\(request.authority)/message/\(messages)"
    examination.valid = true
    examination.answer = VendorAnswer(status: 201, headers: [Header("location", location)], name: location)
    return examination
  }

  private func subscription(_ name: String, _ request: HTTP2ServerRequest) -> VendorAnswer {
    guard request.method == "GET" else { return Self.refusal(405, "MethodNotAllowed") }
    guard Self.isName(name) else { return Self.refusal(400, "BadName") }
    let subscription = browsers.subscription(
      name, senderKey: request.query["key"], authority: request.authority)
    return VendorAnswer(
      status: 200, headers: [Header("content-type", "application/json")], body: subscription.encoded)
  }

  private func refusal(
    _ request: HTTP2ServerRequest, _ parts: [String], _ examination: inout Examination, _ now: WallTime
  ) -> VendorAnswer? {
    guard request.method == "POST" else { return Self.refusal(405, "MethodNotAllowed") }
    guard parts.count <= 2, Self.isName(parts[0]) else { return Self.refusal(404, "NoSuchSubscription") }
    let sender: String
    switch SenderCheck.sender(request.header("authorization"), for: request.authority, now: now) {
    case .failure(let fault): return Self.refusal(fault.status, fault.reason)
    case .success(let key): sender = key
    }
    if parts.count == 2, Browsers.print(of: sender) != parts[1] { return Self.refusal(403, "VapidPkHashMismatch") }
    guard let ttl = request.header("ttl").flatMap({ Whole.read($0, in: 0...Int.max) }), ttl <= Self.longestTTL else {
      return Self.refusal(400, "BadTTL")
    }
    if let urgency = request.header("urgency"), !["very-low", "low", "normal", "high"].contains(urgency) {
      return Self.refusal(400, "BadUrgency")
    }
    if let topic = request.header("topic"), !Self.isName(topic) || topic.utf8.count > Self.topicLimit {
      return Self.refusal(400, "BadWebPushTopic")
    }
    guard request.body.count <= Self.bodyLimit else { return Self.refusal(413, "PayloadTooLarge") }
    guard !request.body.isEmpty else { return nil }
    guard request.header("content-encoding") == "aes128gcm" else { return Self.refusal(415, "BadContentEncoding") }
    guard let text = browsers.browser(parts[0]).open(request.body) else { return Self.refusal(400, "Unreadable") }
    examination.readable = text
    return nil
  }

  /// Of base64url's alphabet.
  private static func isName(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
      }
  }

  private static func refusal(_ status: Int, _ reason: String) -> VendorAnswer {
    VendorAnswer(
      status: status, reason: reason, headers: [Header("content-type", "application/json")],
      body: JSONValue.object([JSONMember("reason", .string(reason))]).encoded)
  }

  func refuses(_ reply: Rule.Reply) -> Bool { !(200...202).contains(reply.status) }

  func answer(_ reply: Rule.Reply, to examination: Examination) -> VendorAnswer {
    guard refuses(reply) else { return reply.filling(examination.answer) }
    var answer = VendorAnswer(status: reply.status, reason: reply.reason ?? "")
    if let reason = reply.reason { answer = Self.refusal(reply.status, reason) }
    if let wait = reply.retryAfter { answer.headers.append(Header("retry-after", wait)) }
    return reply.filling(answer)
  }
}
