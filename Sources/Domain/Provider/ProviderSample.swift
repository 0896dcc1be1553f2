/// Settings of a credential that opens and renders, and that no vendor knows.
package struct ProviderSample: Sendable {
  /// As `Credential` has them.
  package var texts: [String: String]
  package var files: [String: [UInt8]]

  /// By setting name, as in a configuration; a file by its content.
  package init(texts: [String: String] = [:], files: [String: [UInt8]] = [:]) {
    self.texts = texts
    self.files = files
  }

  /// A hexadecimal text as long as Apple's tokens mostly are.
  package static let hex = String(repeating: "0123456789abcdef", count: 4)
}
