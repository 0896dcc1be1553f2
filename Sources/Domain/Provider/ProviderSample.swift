/// A credential and tokens that open and render, and that no vendor knows.
package struct ProviderSample: Sendable {
  /// Settings of a credential, as `Credential` has them.
  package var texts: [String: String]
  package var files: [String: [UInt8]]
  /// A token for such a message.
  package var token: @Sendable (TokenKind, Message) -> String

  package init(
    texts: [String: String] = [:], files: [String: [UInt8]] = [:],
    token: @escaping @Sendable (TokenKind, Message) -> String
  ) {
    self.texts = texts
    self.files = files
    self.token = token
  }

  /// A hexadecimal text as long as Apple's tokens mostly are.
  package static let hex = String(repeating: "0123456789abcdef", count: 4)
}
