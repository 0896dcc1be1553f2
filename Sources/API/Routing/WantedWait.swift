import Domain
import HTTPServer

/// How long a request is willing to wait for the outcome of what it sends: `Prefer: wait=5` (RFC 7240), or `?wait=5`.
struct WantedWait {
  static let longest = 30

  let seconds: Int
  /// Asked for by the header, so that the answer says whether it was followed.
  let isPreference: Bool

  /// Nil: it does not wait. The query has been checked, and counts before the header.
  init?(_ request: HTTPServerRequest) {
    if let text = request.query("wait") {
      guard let seconds = Self.seconds(ofQuery: text) else { return nil }
      (self.seconds, isPreference) = (seconds, false)
    } else {
      guard let seconds = Self.preferred(by: request) else { return nil }
      (self.seconds, isPreference) = (seconds, true)
    }
  }

  /// Nil: it is none.
  static func seconds(ofQuery text: String) -> Int? { Whole.read(text, in: 1...longest) }

  // MARK: The header

  /// The first `wait` counts. One that is malformed is ignored, as is what else is preferred.
  private static func preferred(by request: HTTPServerRequest) -> Int? {
    for header in request.headers where header.name == "prefer" {
      for preference in parts(of: Array(header.value.utf8)[...], at: UInt8(ascii: ",")) {
        // Behind a semicolon stand parameters, of which `wait` has none.
        let whole = parts(of: preference, at: UInt8(ascii: ";"))[0]
        let sides = whole.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard String(decoding: trimmed(sides[0]), as: UTF8.self).lowercased() == "wait" else { continue }
        return sides.count == 2 ? seconds(ofPreference: trimmed(sides[1])) : nil
      }
    }
    return nil
  }

  /// However many digits it has: more than the longest counts as the longest.
  private static func seconds(ofPreference value: ArraySlice<UInt8>) -> Int? {
    var digits = value
    if digits.count >= 2, digits.first == quote, digits.last == quote { digits = digits.dropFirst().dropLast() }
    guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    let significant = digits.drop { $0 == UInt8(ascii: "0") }
    guard significant.count <= 2 else { return longest }
    return Whole.read(String(decoding: significant, as: UTF8.self), in: 1...99).map { min($0, longest) }
  }

  /// One part at least. What is quoted is not parted.
  private static func parts(of text: ArraySlice<UInt8>, at separator: UInt8) -> [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var (start, isQuoted, isEscaped) = (text.startIndex, false, false)
    for (index, byte) in zip(text.indices, text) {
      if isEscaped {
        isEscaped = false
      } else if byte == quote {
        isQuoted.toggle()
      } else if isQuoted {
        isEscaped = byte == UInt8(ascii: "\\")
      } else if byte == separator {
        parts.append(text[start..<index])
        start = index + 1
      }
    }
    return parts + [text[start...]]
  }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let rest = text.drop(while: isSpace)
    return rest.prefix(rest.reversed().drop(while: isSpace).count)
  }

  private static let quote = UInt8(ascii: "\"")
}
