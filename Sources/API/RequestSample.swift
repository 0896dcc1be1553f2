package import Domain
package import JSON

/// One request as a provider would get it. Secrets are masked, and ids that are made with the message are zeros.
package struct RequestSample: Sendable {
  package let request: ProviderRequest
  package let warnings: [RenderWarning]
  let address: Address
  let device: DeviceID?
  let credential: CredentialID
  let origin: Origin
  let bytesLeft: Int?

  static let mask = "***"

  /// Nil where the request needs what this address has not: the token of a Live Activity.
  package init?(
    _ message: Message, to address: Address, device: DeviceID?, by account: any ProviderAccount, startedAt: WallTime
  ) throws(RenderFault) {
    let rendering = try account.render(message, startedAt: startedAt)
    if rendering.needsLiveActivityToken, address.liveActivityToken == nil { return nil }
    request = account.request(
      rendering, to: [address], id: UUIDBytes(high: 0, low: 0), authorization: Self.mask)
    warnings = rendering.warnings
    bytesLeft = rendering.bytesLeft
    credential = account.credential
    origin = account.origin
    self.address = address
    self.device = device
  }

  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("provider", address.provider.rawValue)
    writer.member("credential", credential.rawValue)
    writer.member("device", device?.rawValue)
    writer.member("token_kind", address.tokenKind.rawValue)
    writer.member("method", request.method)
    writer.member("url", "https://\(origin.authority)\(request.path)")
    writer.key("headers")
    writer.beginObject()
    for header in request.headers { writer.member(header.name, header.value) }
    writer.endObject()
    writer.key("body")
    if request.body.isEmpty { writer.null() } else { writer.raw(request.body) }
    writer.member("bytes", request.body.count)
    writer.member("bytes_left", bytesLeft)
    writer.endObject()
  }
}
