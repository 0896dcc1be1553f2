/// Names a draft within its app: `drf_` and the 16 hexadecimal digits of a random word.
package struct DraftID: Hashable, Sendable {
  package let word: UInt64
  /// `word`: from a strong source, as it is all that keeps ids apart.
  package init(word: UInt64) { self.word = word }
}

extension DraftID: CustomStringConvertible, LosslessStringConvertible {
  private static let prefix = "drf_"
  private static let digits = 16

  package var description: String {
    let hex = String(word, radix: 16)
    return Self.prefix + String(repeating: "0", count: Self.digits - hex.utf8.count) + hex
  }

  /// Nil for any other text, also for one with capital digits: each id has one text.
  package init?(_ description: String) {
    guard description.hasPrefix(Self.prefix) else { return nil }
    let hex = description.utf8.dropFirst(Self.prefix.utf8.count)
    guard hex.count == Self.digits,
      hex.allSatisfy({ $0.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }),
      let word = UInt64(String(decoding: hex, as: UTF8.self), radix: 16)
    else { return nil }
    self.init(word: word)
  }
}
