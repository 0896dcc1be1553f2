package import Domain

extension APNsProvider {
  /// They have no fixed length; this much hex is taken (protocols/apns.md section 12).
  private static let longestToken = 512

  package var tokens: TokenRules {
    TokenRules(kinds: TokenKind.allCases.filter { $0 != .fid && $0.isOfDevice }) { text, _ throws(TokenRules.Fault) in
      let isLowercase = ByteSet.lowercaseHexDigits.holdsAll(of: text)
      guard text.utf8.count.isMultiple(of: 2), isLowercase || ByteSet.hexDigits.holdsAll(of: text) else {
        throw TokenRules.Fault("an APNs token is an even number of hex digits, the bytes of the token")
      }
      guard text.utf8.count <= Self.longestToken else {
        throw TokenRules.Fault(
          "the token has \(text.utf8.count) hex digits; the limit is \(Self.longestToken)", isTooLong: true)
      }
      return TokenRules.Token(isLowercase ? text : text.lowercased())
    }
  }
}
