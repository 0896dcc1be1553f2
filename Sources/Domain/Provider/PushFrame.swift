/// All requests of one rendering to single devices of one kind, as one: only token, id and body differ between them, so that
/// the transport can prepare the rest once. Never different from what `ProviderAccount.request` gives.
package struct PushFrame: Hashable, Sendable {
  /// Where the token goes into each request.
  package enum TokenPlace: Hashable, Sendable {
    /// Behind `path`.
    case path
    /// In the body, between head and tail.
    case body
  }
  package var path: String
  package var headers: [Header]
  /// Carries the delivery's id.
  package var idHeader: String?
  package var tokenPlace: TokenPlace

  /// `idHeader` gets the delivery's id as a UUID; nil: the vendor takes none.
  package init(path: String, headers: [Header], idHeader: String?, tokenPlace: TokenPlace) {
    self.path = path
    self.headers = headers
    self.idHeader = idHeader
    self.tokenPlace = tokenPlace
  }

  /// Bytes. A longer token, or one that JSON would have to escape, is sent by a request of its own.
  package static let longestToken = 1_024

  /// Nothing has to be escaped in it.
  package static func takes(token: [UInt8]) -> Bool {
    guard !token.isEmpty, token.count <= longestToken else { return false }
    for byte in token where byte <= 0x20 || byte >= 0x7f || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
      return false
    }
    return true
  }
}
