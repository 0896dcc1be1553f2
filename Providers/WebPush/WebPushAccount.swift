import Domain
import TLS

/// One key at one push service.
struct WebPushAccount: ProviderAccount {
  let credential: CredentialID
  var provider: ProviderName { .webPush }
  var origin: Origin { service.origin }
  let service: PushService
  private let vapid: VAPID
  private let secret: [UInt8]

  init(credential: CredentialID, service: PushService, key: SigningKey, subject: String) {
    (self.credential, self.service) = (credential, service)
    vapid = VAPID(key: key, subject: subject)
    secret = key.secret(for: "Web Push message keys")
  }

  var wire: Wire { service.wire }
  var recipientLimit: Int { 1 }
  func sampleToken(_ kind: TokenKind, for message: Message) -> String { Subscription.sample(at: service) }
  var coverage: Coverage { Coverage(bundleIDs: [service.name: [.device]]) }
  func recipientClass(of address: Address) -> String { "" }

  var facts: CredentialFacts {
    CredentialFacts(kind: "VAPID key", name: "\(vapid.publicKey), \(vapid.subject)", topics: [service.name])
  }

  /// A service with many hosts wants a token for each: what is kept then is the time until which they hold.
  func makeAuthorization(probeInterval: Int64) -> any Authorization {
    let (vapid, service) = (vapid, service)
    return VAPIDAuthorization { until in
      service.hasManyHosts ? String(until) : vapid.header(for: service.origin, until: until)
    }
  }

  /// A text for each subscription: its keys encrypt it.
  func request(_ rendering: Rendering, to recipients: [Address], id: UUIDBytes, authorization: String)
    -> ProviderRequest
  {
    guard let subscription = try? Subscription(reading: recipients[0].token) else {
      // It was read when it was registered.
      return ProviderRequest(fault: "the subscription is damaged")
    }
    let text = rendering.head + rendering.tail
    let input = Array(id.description.utf8) + Digest.sha256(text) + Array(recipients[0].token.utf8)
    let body = MessageEncryption.seal(text, for: subscription, seed: Digest.hmacSHA256(input, key: secret))
    var headers = rendering.headers
    let host = subscription.endpoint.service.origin
    let until = service.hasManyHosts ? Int64(authorization) : nil
    let header = until.map { vapid.header(for: host, until: $0) } ?? authorization
    headers.append(Header("authorization", header, indexed: false))
    var request = ProviderRequest(path: subscription.endpoint.path, headers: headers, body: body)
    request.readable = text
    if service.hasManyHosts { request.origin = host }
    return request
  }

  func acceptance(status: Int, body: [UInt8]) -> PushReceipt? {
    WebPushVerdicts.accepted.contains(status) ? .unnamed : nil
  }

  func judge(_ answer: ProviderAnswer, recipients: [Address]) -> Judgement {
    Judgement(WebPushVerdicts.verdict(answer))
  }

  /// A push to a subscription that no browser has. A service knows a key by the subscriptions made with it alone, so no answer
  /// proves one.
  func probe(authorization: String) -> ProviderRequest? {
    if service.hasManyHosts { return nil }
    return ProviderRequest(
      path: "/fanfare-check",
      headers: [Header("ttl", "0"), Header("authorization", authorization, indexed: false)], body: [])
  }

  func read(probe answer: ProviderAnswer) -> ProbeFinding {
    if case .blocked(let reason) = WebPushVerdicts.verdict(answer) {
      return .refused("\(reason): is this machine's clock right, and does subject name somebody?")
    }
    return .reached("only a subscription that was made with this key shows whether it works")
  }
}
