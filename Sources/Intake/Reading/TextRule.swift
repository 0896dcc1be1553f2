import Domain

/// What a text may consist of.
struct TextRule {
  enum Alphabet {
    /// Anything, line breaks too, but NUL.
    case prose
    /// No control characters, no white space at either end: safe in a header, a path segment's value, a log line.
    case line
    /// Printable ASCII without space and slash.
    case identifier
    /// As `identifier`, with the slash.
    case printable
    /// Base64, plain or for URLs.
    case base64
  }
  var alphabet: Alphabet
  /// Bytes in UTF-8.
  var maximum: Int
  var mayBeEmpty = false

  static let prose = TextRule(alphabet: .prose, maximum: 4_096, mayBeEmpty: true)
  /// Whatever the app and its backend agreed on.
  static let opaque = TextRule(alphabet: .prose, maximum: 5_120)
  static func line(_ maximum: Int) -> TextRule { TextRule(alphabet: .line, maximum: maximum) }
  static func identifier(_ maximum: Int) -> TextRule { TextRule(alphabet: .identifier, maximum: maximum) }
  /// An id of a broadcast channel; how long they are is not said.
  static let base64 = TextRule(alphabet: .base64, maximum: 256)

  /// What is wrong with the text, or nil.
  func fault(in text: String) -> (code: Violation.Code, detail: String)? {
    if text.isEmpty { return mayBeEmpty ? nil : (.empty, "is empty: give a value or leave it out") }
    let length = text.utf8.count
    guard length <= maximum else { return (.tooLong, "has \(length) bytes; the limit is \(maximum)") }
    switch alphabet {
    case .prose:
      return text.holds(0) ? (.invalidFormat, "holds a NUL character: remove it") : nil
    case .line:
      if !text.isASCII(from: UInt8(ascii: " ")), text.unicodeScalars.contains(where: \.breaksLine) {
        return (.invalidFormat, "holds a control character (a line break?): remove it")
      }
      if text.isPadded {
        return (.invalidFormat, "begins or ends with a space: remove it")
      }
      return nil
    case .base64:
      let fits = text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "+/-_=".utf8.contains($0) }
      return fits ? nil : (.invalidFormat, "is not base64")
    case .identifier, .printable:
      let slash: UInt8? = alphabet == .identifier ? UInt8(ascii: "/") : nil
      if text.isASCII(from: UInt8(ascii: "!"), without: slash) { return nil }
      return (
        .invalidFormat, "may hold only printable ASCII without space\(alphabet == .identifier ? " and slash" : "")"
      )
    }
  }
}

/// These look at each byte: a loop without an early end takes many bytes at a time.
extension String {
  func holds(_ byte: UInt8) -> Bool {
    let bytes = utf8Span.span
    var found: UInt8 = 0
    for index in bytes.indices { found |= bytes[index] == byte ? 1 : 0 }
    return found != 0
  }

  /// True if it begins or ends with a space; it is not empty.
  var isPadded: Bool {
    let bytes = utf8Span.span
    return bytes[0] == UInt8(ascii: " ") || bytes[bytes.count - 1] == UInt8(ascii: " ")
  }

  /// True if all bytes are visible ASCII, where `first` is the lowest that counts: a space, or the first behind it.
  /// `missing`: one that does not count.
  func isASCII(from first: UInt8, without missing: UInt8? = nil) -> Bool {
    let bytes = utf8Span.span
    let others = 0x7e - first
    // NUL lies below all that count.
    let missing = missing ?? 0
    var found: UInt8 = 0
    for index in bytes.indices {
      let byte = bytes[index]
      found |= (byte &- first > others ? 1 : 0) | (byte == missing ? 1 : 0)
    }
    return found == 0
  }
}
