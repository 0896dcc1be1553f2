/// Names a message and says where and when it was accepted: 48 bits of milliseconds since 1970, 16 bits of home
/// partition, 64 random bits. The text form is `msg_` and 26 digits of Crockford's base 32; texts sort as times do.
package struct MessageID: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  /// What the milliseconds of an id can say: until the year 10889.
  private static let latest: UInt64 = 1 << 48 - 1

  /// A time that an id cannot say, as one before 1970, counts as the nearest that it can: callers look for the place of
  /// times that somebody else wrote. `partition` must fit 16 bits; `random` must come from a strong source, as it is all
  /// that keeps ids apart.
  package init(acceptedAt: WallTime, partition: Int, random: UInt64) {
    high = min(UInt64(clamping: acceptedAt.milliseconds), Self.latest) << 16 | UInt64(UInt16(partition))
    low = random
  }

  package var acceptedAt: WallTime { WallTime(milliseconds: Int64(high >> 16)) }
  package var homePartition: Int { Int(high & 0xffff) }

  /// The random half alone: it tells ids apart as well as the whole, for half of the work.
  package func hash(into hasher: inout Hasher) { hasher.combine(low) }
}

extension MessageID: CustomStringConvertible, LosslessStringConvertible, Comparable {
  private static let prefix = "msg_"
  private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
  private static let digitCount = 26

  package var description: String {
    // Written many times for each message that is accepted: in the names of its keys.
    var text = InlineArray<30, UInt8>(repeating: UInt8(ascii: "_"))
    text[0] = UInt8(ascii: "m")
    text[1] = UInt8(ascii: "s")
    text[2] = UInt8(ascii: "g")
    var (high, low) = (high, low)
    for place in (4..<30).reversed() {
      text[place] = Self.letter(UInt8(truncatingIfNeeded: low & 31))
      low = low >> 5 | high << 59
      high >>= 5
    }
    guard let letters = try? UTF8Span(validating: text.span) else { preconditionFailure("base 32 is ASCII") }
    return String(copying: letters)
  }

  /// Of base 32 without i, l, o and u.
  private static func letter(_ value: UInt8) -> UInt8 {
    let shifted =
      value < 18 ? value : value < 20 ? value + 1 : value < 22 ? value + 2 : value < 27 ? value + 3 : value + 4
    return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + shifted
  }

  /// Nil for any other text, also with capitals or with digits beyond 128 bits: each id has one text.
  package init?(_ description: String) {
    let text = Array(description.utf8)
    guard text.count == Self.prefix.utf8.count + Self.digitCount, text.starts(with: Self.prefix.utf8) else {
      return nil
    }
    var whole: UInt128 = 0
    for (place, byte) in text.dropFirst(Self.prefix.utf8.count).enumerated() {
      guard let digit = Self.digits.firstIndex(of: byte), place > 0 || digit < 8 else { return nil }
      whole = whole << 5 | UInt128(digit)
    }
    high = UInt64(truncatingIfNeeded: whole >> 64)
    low = UInt64(truncatingIfNeeded: whole)
  }

  /// By time of acceptance, in milliseconds, then by partition and random bits.
  package static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }
}
