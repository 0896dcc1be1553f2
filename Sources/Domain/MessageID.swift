/// Names a message and says where and when it was accepted: 48 bits of milliseconds since 1970, 16 bits of home
/// partition, 64 random bits. The text form is `msg_` and 26 digits of Crockford's base 32; texts sort as times do.
package struct MessageID: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  /// `partition` must fit 16 bits; `random` must come from a strong source, as it is all that keeps ids apart.
  package init(acceptedAt: WallTime, partition: Int, random: UInt64) {
    high = UInt64(acceptedAt.milliseconds) << 16 | UInt64(UInt16(partition))
    low = random
  }

  package var acceptedAt: WallTime { WallTime(milliseconds: Int64(high >> 16)) }
  package var homePartition: Int { Int(high & 0xffff) }
}

extension MessageID: CustomStringConvertible, LosslessStringConvertible, Comparable {
  private static let prefix = "msg_"
  private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
  private static let digitCount = 26

  package var description: String {
    var text = [UInt8](Self.prefix.utf8)
    let whole = (UInt128(high) << 64) | UInt128(low)
    for place in (0..<Self.digitCount).reversed() {
      text.append(Self.digits[Int(truncatingIfNeeded: whole >> UInt128(place * 5)) & 31])
    }
    return String(decoding: text, as: UTF8.self)
  }

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

  package static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }
}
