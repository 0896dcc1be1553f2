import Domain
import Support

/// A provider as the API sees one: it renders, with a size limit, and carries alerts and background pushes to devices.
struct FakeProvider: PushProvider {
  var name: ProviderName
  var settings: [CredentialSetting] { [] }
  var tokens: TokenRules {
    guard let rules = knownProviders[name] else { preconditionFailure("a fake of no provider") }
    return rules
  }
  var sample: ProviderSample { ProviderSample() }
  var retry: RetryRules { RetryRules() }
  var quota: Quota { Quota() }
  func carries(_ pushType: PushType, to address: Address) -> Bool {
    (pushType.kind == .alert || pushType.kind == .background) && [.device, .fid].contains(address.tokenKind)
  }
  func open(_ credential: Credential) throws(CredentialFault) -> any ProviderAccount {
    throw CredentialFault(setting: "", problem: "a fake opens nothing", fix: "")
  }
}

struct FakeAccount: ProviderAccount {
  func probe(authorization: String) -> ProviderRequest? { ProviderRequest(path: "/", headers: [], body: []) }
  func read(probe answer: ProviderAnswer) -> ProbeFinding { .unclear("nobody is asked") }
  var facts: CredentialFacts { CredentialFacts(kind: "test", name: credential.rawValue) }
  static let apns = CredentialID(rawValue: "shop/apns:production")
  static let fcm = CredentialID(rawValue: "shop/fcm")
  static let limit = 200
  /// A title that is warned of in an audience with three devices of the account.
  static let bulkOnly = "bulk"

  var credential: CredentialID
  var name: String
  var channelOrigin: Origin? = Origin(host: "localhost", port: 1)
  var provider: ProviderName { ProviderName(rawValue: name) }
  var origin: Origin { Origin(host: "localhost", port: 1) }
  var wire: Wire { .http2(cautiousStart: false) }
  var recipientLimit: Int { 1 }

  func render(_ message: Message, startedAt: WallTime) throws(RenderFault) -> Rendering {
    let size = message.notification?.body?.utf8.count ?? 0
    guard size <= Self.limit else {
      throw RenderFault(code: "payload_too_large", detail: "\(name): \(size - Self.limit) bytes too many")
    }
    var warnings: [RenderWarning] = []
    if message.notification?.buttons.isEmpty == false {
      warnings.append(RenderWarning("/notification/buttons", "\(name): no buttons", isLeftOut: true))
    }
    if message.notification?.title == Self.bulkOnly {
      warnings.append(RenderWarning("/notification/title", "\(name): for bulk only", leastDevices: 3))
    }
    let head = Array(#"{"shown":"\#(message.notification?.title ?? "")""#.utf8)
    var rendering = Rendering(
      path: "/push/", headers: [Header("x-kind", message.kind.rawValue)], head: head, warnings: warnings)
    rendering.dataLeft = Self.limit - size
    return rendering
  }
  func recipientClass(of address: Address) -> String { "" }
  func request(_ rendering: Rendering, to recipients: [Address], id: UUIDBytes, authorization: String)
    -> ProviderRequest
  {
    ProviderRequest(
      path: rendering.path + recipients[0].token, headers: rendering.headers + [Header("authorization", authorization)],
      body: rendering.head + Array("}".utf8))
  }
  func judge(_ answer: ProviderAnswer, recipients: [Address]) -> Judgement { Judgement(.accepted(id: nil)) }
  func makeAuthorization(probeInterval: Int64) -> any Authorization { FakeAuthorization() }
}

struct FakeAuthorization: Authorization {
  mutating func need(now: WallTime) -> AuthorizationNeed { .use("fake", fetch: nil) }
  mutating func fetched(_ answer: ProviderAnswer?, now: WallTime) {}
  mutating func refused(_ cause: Retry.Cause, now: WallTime) {}
}
