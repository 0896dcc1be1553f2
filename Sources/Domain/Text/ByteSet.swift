/// A set of bytes, to look through texts with: a bit is tested for each byte, and no closure is called.
package struct ByteSet: Sendable {
  /// Bytes below 64, a bit each, and those from there below 128.
  @usableFromInline let low: UInt64
  @usableFromInline let high: UInt64
  /// All bytes from 128 on, which are parts of longer letters in UTF-8.
  @usableFromInline let hasOthers: Bool
  /// Nil: texts are looked through byte by byte.
  private let words: WordTest?

  /// `others`: with all bytes from 128 on.
  package init(_ members: (UInt8) -> Bool, others: Bool = false) {
    func bits(from first: UInt8) -> UInt64 {
      (0..<64).reduce(UInt64(0)) { members(first + $1) ? $0 | 1 << UInt64($1) : $0 }
    }
    (low, high) = (bits(from: 0), bits(from: 64))
    hasOthers = others
    words = others ? nil : WordTest(members)
  }

  /// Of one byte.
  @inlinable package func contains(_ byte: UInt8) -> Bool {
    byte < 128 ? (byte < 64 ? low : high) &>> UInt64(byte) & 1 == 1 : hasOthers
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
    if let words, let found = unsafe text.utf8.withContiguousStorageIfAvailable({ unsafe words.holdsSome(of: $0) }) {
      return found
    }
    let bytes = text.utf8Span.span
    for place in bytes.indices where contains(bytes[place]) { return true }
    return false
  }

  /// For a set of all bytes below some byte, and at most two others: eight bytes are looked at together.
  private struct WordTest {
    private let below: UInt64
    private let first: UInt64
    private let second: UInt64
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    init?(_ members: (UInt8) -> Bool) {
      let bound = (UInt8(0)..<128).first { !members($0) } ?? 128
      let others = (bound..<128).filter(members)
      guard others.count <= 2 else { return nil }
      // A byte that is no member is equal to none of these: what stands for nothing is a byte from 128 on, and those below
      // are left out.
      below = UInt64(bound) &* Self.ones
      first = UInt64(others.first ?? 0xff) &* Self.ones
      second = UInt64(others.last ?? 0xff) &* Self.ones
    }

    func holdsSome(of bytes: UnsafeBufferPointer<UInt8>) -> Bool {
      let raw = UnsafeRawBufferPointer(bytes)
      var place = 0
      while place + 8 <= raw.count {
        if test(unsafe raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)) { return true }
        place += 8
      }
      guard place < raw.count else { return false }
      // What is left, before bytes that are in no such set.
      var last: UInt64 = Self.tops
      while place < raw.count {
        last = unsafe last << 8 | UInt64(raw[place])
        place += 1
      }
      return test(last)
    }

    private func test(_ word: UInt64) -> Bool {
      let ascii = Self.tops & ~word
      let low = (word &- below) & ascii
      return low | Self.zeros(word ^ first) & ascii | Self.zeros(word ^ second) & ascii != 0
    }
    /// The top bit of each byte that is 0, and perhaps of one above such a byte.
    private static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & tops }
  }

  /// Letters in both cases.
  package static let hexDigits = ByteSet { $0.isHexDigit }
  /// As tokens of APNs are kept.
  package static let lowercaseHexDigits = ByteSet { $0.isHexDigit && !(0x41...0x5a).contains($0) }
  /// Visible ASCII without space.
  package static let printable = ByteSet { (0x21...0x7e).contains($0) }
}
