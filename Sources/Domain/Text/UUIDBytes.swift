/// The 16 bytes of a UUID; the text form is lower case.
package struct UUIDBytes: Hashable, Sendable, CustomStringConvertible, LosslessStringConvertible {
  package var high: UInt64
  package var low: UInt64
  /// Bytes 0 to 7 and 8 to 15, the first one highest. Version and variant are the caller's.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  private static let hex = Array("0123456789abcdef".utf8)

  /// Written for the hot path: each push to APNs carries one.
  package var description: String {
    let text = letters
    guard let digits = try? UTF8Span(validating: text.span) else { preconditionFailure("hexadecimal digits are ASCII") }
    return String(copying: digits)
  }

  /// The text form.
  package var letters: InlineArray<36, UInt8> {
    var text = InlineArray<36, UInt8>(repeating: UInt8(ascii: "-"))
    var place = 0
    for index in 0..<16 {
      if index == 4 || index == 6 || index == 8 || index == 10 { place += 1 }
      let byte = UInt8(truncatingIfNeeded: (index < 8 ? high : low) >> UInt64((7 - index % 8) * 8))
      text[place] = Self.digit(byte >> 4)
      text[place + 1] = Self.digit(byte & 15)
      place += 2
    }
    return text
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
  }

  /// 36 characters with dashes in their places; digits in both cases. Version and variant are not checked.
  package init?(_ description: String) {
    let text = Array(description.utf8)
    guard text.count == 36 else { return nil }
    var whole: UInt128 = 0
    for (place, byte) in text.enumerated() {
      if place == 8 || place == 13 || place == 18 || place == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Self.hex.firstIndex(of: byte | 0x20), byte > 0x20 else { return nil }
      whole = whole << 4 | UInt128(digit)
    }
    high = UInt64(truncatingIfNeeded: whole >> 64)
    low = UInt64(truncatingIfNeeded: whole)
  }
}
