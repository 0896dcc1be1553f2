/// The `Topic` of a web push: a newer message with the same one replaces what still waits (RFC 8030 section 5.4).
package enum WebTopic {
  /// Characters.
  package static let limit = 32

  /// A push service takes only characters of base64url, and not more than `limit` of them.
  package static func isValid(_ text: String) -> Bool {
    (1...limit).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
      }
  }
}
