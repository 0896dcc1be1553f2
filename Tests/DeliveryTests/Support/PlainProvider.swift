import Domain
import Synchronization

@testable import Delivery

/// A provider as plain as can be: the path names the token, the body is the message's title, the status is the verdict.
struct PlainAccount: ProviderAccount {
  func probe(authorization: String) -> ProviderRequest? { ProviderRequest(path: "/", headers: [], body: []) }
  func read(probe answer: ProviderAnswer) -> ProbeFinding { .unclear("nobody is asked") }
  var facts: CredentialFacts { CredentialFacts(kind: "test", name: credential.rawValue) }
  var credential: CredentialID
  var provider: ProviderName
  var origin: Origin
  var wire: Wire = .http2(cautiousStart: false)
  var recipientLimit = 1
  /// What its authorizations start with.
  var pass = "pass"
  /// Bytes of a body.
  var limit: Int?
  /// Tokens whose requests name a host of their own.
  var hosts: [String: Origin] = [:]
  /// Tokens for which no request can be made.
  var damaged: Set<String> = []
  /// Counts what is rendered.
  var tally: Tally?

  final class Tally: Sendable {
    private let titles = Mutex<[String]>([])
    var rendered: [String] { titles.withLock { $0 } }
    func note(_ title: String) { titles.withLock { $0.append(title) } }
  }

  func render(_ message: Message, startedAt: WallTime) throws(RenderFault) -> Rendering {
    let title = message.notification?.title ?? ""
    tally?.note(title)
    if let limit, title.utf8.count > limit {
      throw RenderFault(code: RenderFault.tooLargeCode, detail: "\(title.utf8.count - limit) bytes too many")
    }
    return Rendering(path: "/send/", headers: [], head: Array(title.utf8), limit: limit)
  }
  func recipientClass(of address: Address) -> String { "" }
  func request(_ rendering: Rendering, to recipients: [Address], id: UUIDBytes, authorization: String)
    -> ProviderRequest
  {
    if recipients.contains(where: { damaged.contains($0.token) }) { return ProviderRequest(fault: "damaged") }
    var request = ProviderRequest(
      path: rendering.path + recipients.map(\.token).joined(separator: ","),
      headers: [Header("authorization", authorization), Header("request-id", id.description)], body: rendering.head)
    request.origin = hosts[recipients[0].token]
    return request
  }

  func frame(_ rendering: Rendering, like address: Address, authorization: String) -> PushFrame? {
    if !damaged.isEmpty { return nil }
    return PushFrame(
      path: rendering.path, headers: [Header("authorization", authorization)], idHeader: "request-id",
      tokenPlace: .path)
  }
  func acceptance(status: Int, body: [UInt8]) -> PushReceipt? { status == 200 ? .unnamed : nil }

  func judge(_ answer: ProviderAnswer, recipients: [Address]) -> Judgement {
    let reason = answer.header("reason") ?? "status \(answer.status)"
    let refused = answer.header("refused").map { $0.split(separator: ",").map(String.init) } ?? []
    return switch answer.status {
    case 200: Judgement(.accepted(id: answer.header("id")))
    case 400: Judgement(.rejected(reason: reason))
    case 401: Judgement(.retry(Retry(.authorizationExpired, reason: reason)))
    case 403: Judgement(.blocked(reason: reason))
    case 410: Judgement(.dead(Death(reason: reason)))
    case 422:
      Judgement(
        .retry(Retry(.revised, reason: reason)),
        exceptions: Dictionary(uniqueKeysWithValues: refused.map { ($0, .rejected(reason: reason)) }))
    case 420: Judgement(.retry(Retry(.quota, reason: reason, retryAfter: answer.retryAfter)))
    case 429: Judgement(.retry(Retry(.tokenBusy, reason: reason)))
    case 503 where reason == "Shutdown": Judgement(.retry(Retry(.closing, reason: reason)))
    default: Judgement(.retry(Retry(.serverFault, reason: reason)))
    }
  }

  func makeAuthorization(probeInterval: Int64) -> any Authorization { Numbered(pass: pass) }

  /// A new header for each renewal.
  struct Numbered: Authorization {
    var pass: String
    private var number = 1
    init(pass: String) { self.pass = pass }
    mutating func need(now: WallTime) -> AuthorizationNeed { .use("\(pass)-\(number)", fetch: nil) }
    mutating func fetched(_ answer: ProviderAnswer?, now: WallTime) {}
    mutating func refused(_ cause: Retry.Cause, now: WallTime) { number += 1 }
  }
}

/// The stored body of a test's message: `title;name=value;…`.
struct PlainMessage {
  var title: String
  var ttl: Int?
  var collapseKey: String?
  var ordered = true
  var isAudience = false
  var rate: Int?
  /// By language: `de:Hallo`.
  var localized: [String] = []

  var body: [UInt8] {
    var words = [title]
    if let ttl { words.append("ttl=\(ttl)") }
    if let collapseKey { words.append("collapse=\(collapseKey)") }
    if !ordered { words.append("free") }
    if isAudience { words.append("audience") }
    if let rate { words.append("rate=\(rate)") }
    words += localized
    return Array(words.joined(separator: ";").utf8)
  }

  static func decode(_ body: [UInt8]) -> Message {
    let words = String(decoding: body, as: UTF8.self).split(separator: ";").map(String.init)
    var message = Message(to: .tokens([]), kind: .alert)
    message.notification = Notification()
    message.notification?.title = words[0]
    for word in words.dropFirst() {
      if word.hasPrefix("ttl=") { message.ttl = Int(word.dropFirst(4))! }
      if word.hasPrefix("collapse=") { message.collapseKey = String(word.dropFirst(9)) }
      if word == "free" { message.ordered = false }
      if word.hasPrefix("rate=") { message.ratePerSecond = Int(word.dropFirst(5))! }
      if word == "audience" { message.to = .audience("everyone") }
      if let colon = word.firstIndex(of: ":") {
        message.notification?.localized.append(
          LocalizedText(language: String(word[..<colon]), title: String(word[word.index(after: colon)...])))
      }
    }
    return message
  }
}
