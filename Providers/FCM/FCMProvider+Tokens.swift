package import Domain

extension FCMProvider {
  /// Registration tokens and Firebase installation ids are opaque.
  package var tokens: TokenRules {
    TokenRules(kinds: [.device, .fid]) { text, _ throws(TokenRules.Fault) in TokenRules.Token(text) }
  }
}
