package import Domain
package import JSON

/// One request as a provider would get it. Secrets are masked, and ids that are made with the message are zeros.
package struct RequestSample: Sendable {
  package let request: ProviderRequest
  package let warnings: [RenderWarning]
  /// Under the vendor's limit.
  package let bytesLeft: Int?
  /// The vendor's limit, where it is on the message as a whole.
  package let limit: Int?
  let address: Address
  let device: DeviceID?
  package let credential: CredentialID
  /// Of a message with variants.
  package let variant: String?
  let origin: Origin

  package var provider: ProviderName { address.provider }
  package var tokenKind: TokenKind { address.tokenKind }
  package var url: String { "https://\((request.origin ?? origin).authority)\(request.path)" }

  static let mask = "***"

  /// Nil where the device lacks what the request needs: an attribute, the token of a Live Activity, or one that can be
  /// read.
  package init?(
    _ message: Message, variant: String? = nil, to address: Address, device: DeviceID?, facts: DeviceFacts,
    by account: any ProviderAccount, startedAt: WallTime
  ) throws(RenderFault) {
    guard let own = MessageTexts(message).message(for: facts, providerChooses: account.choosesLanguage) else {
      return nil
    }
    let rendering = try account.render(own, startedAt: startedAt)
    if rendering.needsLiveActivityToken, address.liveActivityToken == nil { return nil }
    request = account.request(
      rendering, to: [address], id: UUIDBytes(high: 0, low: 0), authorization: Self.mask(account, startedAt))
    guard request.fault == nil else { return nil }
    warnings = rendering.warnings
    bytesLeft = rendering.limit.map { $0 - rendering.head.count - rendering.tail.count } ?? rendering.dataLeft
    limit = rendering.limit
    credential = account.credential
    origin = account.origin
    self.variant = variant
    self.address = address
    self.device = device
  }

  /// In place of the header's value; a connection that shows a certificate has no header.
  private static func mask(_ account: any ProviderAccount, _ now: WallTime) -> String {
    var authorization = account.makeAuthorization()
    if case .use(let header, _) = authorization.need(now: now), header.isEmpty { return "" }
    return mask
  }

  /// One object. A body that is encrypted on the wire is written as its reader sees it; `bytes` is its size on the
  /// wire.
  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("provider", address.provider.rawValue)
    writer.member("credential", credential.rawValue)
    writer.member("variant", variant)
    writer.member("device", device?.rawValue)
    writer.member("token_kind", address.tokenKind.rawValue)
    writer.member("method", request.method)
    writer.member("url", url)
    writer.key("headers")
    writer.beginObject()
    for header in request.headers { writer.member(header.name, header.value) }
    writer.endObject()
    writer.key("body")
    let body = request.readable ?? request.body
    if body.isEmpty { writer.null() } else { writer.raw(body) }
    writer.member("bytes", request.body.count)
    writer.member("bytes_left", bytesLeft)
    writer.endObject()
  }
}
