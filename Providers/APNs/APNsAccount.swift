import Domain

/// One team key, or one certificate, in one of APNs' two worlds.
struct APNsAccount: ProviderAccount {
  let credential: CredentialID
  var provider: ProviderName { .apns }
  let origin: Origin
  let channelOrigin: Origin?
  let topic: String
  let imageKey: String
  let dataKeys: DataKeys
  let proof: APNsProof
  let coverage: Coverage

  /// Only tokens are proven by the first request; a certificate is by the handshake.
  var wire: Wire { .http2(cautiousStart: clientCertificate == nil) }
  var recipientLimit: Int { 1 }

  func recipientClass(of address: Address) -> String { "" }

  /// The body is shared by all requests of a rendering, never copied. The topic is the device's own, or the account's,
  /// with what the kind adds.
  func request(_ rendering: Rendering, to recipients: [Address], id: UUIDBytes, authorization: String)
    -> ProviderRequest
  {
    let address = recipients[0]
    let bundleID = address.bundleID ?? topic
    var headers: [Header] = []
    headers.reserveCapacity(rendering.headers.count + 3)
    headers.append(contentsOf: rendering.headers)
    var path = rendering.path
    if address.tokenKind == .channel {
      path += bundleID
      headers.append(Header(APNsHeader.channelID, address.token, indexed: false))
      headers.append(Header(APNsHeader.requestID, id.description, indexed: false))
    } else {
      path += address.token
      headers.append(Header(APNsHeader.topic, Self.topic(bundleID, rendering.mark)))
      headers.append(Header(APNsHeader.id, id.description, indexed: false))
    }
    if !authorization.isEmpty { headers.append(Header("authorization", authorization, indexed: false)) }
    return ProviderRequest(path: path, headers: headers, body: rendering.head)
  }

  func frame(_ rendering: Rendering, like address: Address, authorization: String) -> PushFrame? {
    guard address.tokenKind != .channel else { return nil }
    var headers = rendering.headers
    headers.append(Header(APNsHeader.topic, Self.topic(address.bundleID ?? topic, rendering.mark)))
    if !authorization.isEmpty { headers.append(Header("authorization", authorization, indexed: false)) }
    return PushFrame(path: rendering.path, headers: headers, idHeader: APNsHeader.id, tokenPlace: .path)
  }

  /// APNs echoes the id of the request.
  func acceptance(status: Int, body: [UInt8]) -> PushReceipt? { status == 200 ? .requestID : nil }

  /// A bundle id that was registered with its suffix is not given a second one.
  private static func topic(_ bundleID: String, _ suffix: String) -> String {
    suffix.isEmpty || bundleID.hasSuffix(suffix) ? bundleID : bundleID + suffix
  }
}

/// The request headers of protocols/apns.md section 2.
enum APNsHeader {
  static let topic = "apns-topic"
  static let pushType = "apns-push-type"
  static let id = "apns-id"
  static let expiration = "apns-expiration"
  static let priority = "apns-priority"
  static let collapseID = "apns-collapse-id"
  /// Of broadcasts (protocols/apns.md section 9).
  static let channelID = "apns-channel-id"
  static let requestID = "apns-request-id"
}
