/// A set of bytes, to look through texts with: a bit is tested for each byte, and no closure is called.
package struct ByteSet: Sendable {
  /// Bytes below 128, a bit each.
  @usableFromInline let ascii: UInt128
  /// All bytes from 128 on, which are parts of longer letters in UTF-8.
  @usableFromInline let hasOthers: Bool

  /// `others`: with all bytes from 128 on.
  package init(_ members: (UInt8) -> Bool, others: Bool = false) {
    var bits: UInt128 = 0
    for byte in UInt8(0)..<128 where members(byte) { bits |= 1 << UInt128(byte) }
    ascii = bits
    hasOthers = others
  }

  /// Of one byte.
  @inlinable package func contains(_ byte: UInt8) -> Bool {
    byte < 128 ? ascii >> UInt128(byte) & 1 == 1 : hasOthers
  }

  /// True of an empty text.
  package func holdsAll(of text: String) -> Bool {
    let bytes = text.utf8Span.span
    for place in bytes.indices where !contains(bytes[place]) { return false }
    return true
  }
  /// True of no bytes.
  package func holdsAll(of bytes: Span<UInt8>) -> Bool {
    for place in bytes.indices where !contains(bytes[place]) { return false }
    return true
  }
  /// False of an empty text.
  package func holdsSome(of text: String) -> Bool {
    let bytes = text.utf8Span.span
    for place in bytes.indices where contains(bytes[place]) { return true }
    return false
  }

  package static let hexDigits = ByteSet { $0.isHexDigit }
  /// Visible ASCII without space.
  package static let printable = ByteSet { (0x21...0x7e).contains($0) }
  package static let printableWithoutSlash = ByteSet { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "/") }
  package static let capitals = ByteSet { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
  package static let nul = ByteSet { $0 == 0 }
}
