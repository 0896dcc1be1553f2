import Domain
import JSON

/// One account of Google's sending for one project.
struct FCMAccount: ProviderAccount {
  let credential: CredentialID
  var provider: ProviderName { .fcm }
  let origin: Origin
  let project: String
  let analyticsLabel: String?
  let dataKeys: DataKeys
  let source: any TokenSource

  var wire: Wire { .http2(cautiousStart: false) }
  var recipientLimit: Int { 1 }
  var quotaGroup: String { "fcm:\(project)" }

  func recipientClass(of address: Address) -> String { "" }
  func sampleToken(_ kind: TokenKind, for message: Message) -> String {
    kind == .fid ? "cSampleInstallation000" : "sample:APA91bRegistration"
  }

  /// The recipient stands between head and tail; all else is shared. FCM has no id of the sender's.
  func request(_ rendering: Rendering, to recipients: [Address], id: UUIDBytes, authorization: String)
    -> ProviderRequest
  {
    let address = recipients[0]
    var body: [UInt8] = []
    body.reserveCapacity(rendering.head.count + address.token.utf8.count + rendering.tail.count + 16)
    body += rendering.head
    if rendering.needsLiveActivityToken {
      guard let activity = address.liveActivityToken else {
        preconditionFailure("a Live Activity was sent to an address without one")
      }
      body += Self.activity
      JSONWriter.appendString(activity, to: &body)
      body += Self.end
    }
    body += address.tokenKind == .fid ? Self.fid : Self.token
    JSONWriter.appendString(address.token, to: &body)
    body += rendering.tail
    var headers = rendering.headers
    headers.append(Header("authorization", authorization, indexed: false))
    return ProviderRequest(path: rendering.path, headers: headers, body: body)
  }

  func frame(_ rendering: Rendering, like address: Address, authorization: String) -> PushFrame? {
    guard !rendering.needsLiveActivityToken, address.tokenKind != .fid else { return nil }
    var headers = rendering.headers
    headers.append(Header("authorization", authorization, indexed: false))
    return PushFrame(path: rendering.path, headers: headers, idHeader: nil, tokenPlace: .body)
  }

  func body(_ rendering: Rendering, token: [UInt8]) -> [UInt8] {
    let count = rendering.head.count + Self.token.count + token.count + rendering.tail.count + 2
    var body: [UInt8] = []
    body.reserveCapacity(count)
    body += rendering.head
    body += Self.token
    body.append(UInt8(ascii: "\""))
    body += token
    body.append(UInt8(ascii: "\""))
    body += rendering.tail
    return body
  }

  func acceptance(status: Int, body: [UInt8]) -> PushReceipt? {
    status == 200 ? FCMError.messageName(body).map { .named($0) } : nil
  }

  private static let fid = Array("\"fid\":".utf8)
  private static let token = Array("\"token\":".utf8)
  private static let activity = Array("\"\(AppleActivity.tokenKey)\":".utf8)
  private static let end = Array("},".utf8)

  func makeAuthorization(probeInterval: Int64) -> any Authorization {
    AccessToken(source: source, probeInterval: probeInterval)
  }

  var facts: CredentialFacts {
    var facts = source.facts
    facts.name += ", project \(project)"
    return facts
  }
}
