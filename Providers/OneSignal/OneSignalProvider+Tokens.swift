package import Domain

extension OneSignalProvider {
  private static let longestAliasPart = 128
  private static let aliasStart = "alias:"

  /// An activity goes by the id that its start gave it; anyone else by a subscription id, or `alias:<label>:<id>`.
  package var tokens: TokenRules {
    var rules = TokenRules(kinds: [.device, .voip, .activity]) { text, kind throws(TokenRules.Fault) in
      if kind == .activity { return TokenRules.Token(text) }
      if text.hasPrefix(Self.aliasStart) {
        guard Self.isAlias(text) else {
          throw TokenRules.Fault(
            "an alias is `alias:<label>:<id>`: the label has letters, digits and `_`, each part has "
              + "1–\(Self.longestAliasPart) bytes")
        }
        return TokenRules.Token(text)
      }
      guard let id = UUIDBytes(text) else {
        throw TokenRules.Fault("a OneSignal token is a subscription id (a UUID) or `alias:<label>:<id>`")
      }
      return TokenRules.Token(id.description)
    }
    // An alias names all subscriptions of a user, an activity's id all that follow it.
    rules.reachesSeveral = { text, kind in kind == .activity || text.hasPrefix(Self.aliasStart) }
    return rules
  }

  private static func isAlias(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return false }
    let labelIsWord = parts[1].allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
    return labelIsWord && parts[1...].allSatisfy { (1...longestAliasPart).contains($0.count) }
  }
}
