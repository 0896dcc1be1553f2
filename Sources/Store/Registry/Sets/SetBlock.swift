import RedisClient

/// The devices of a set within one block of 65,536 numbers (design D8), one bit each. The highest bit of word 0 is number 0,
/// so that a bitmap of Redis is read as it is.
struct SetBlock {
  static let size = 65_536
  static let wordCount = size / 64
  /// Bytes of a whole bitmap.
  static let bytes = size / 8
  /// A bitmap of Redis ends behind its highest number, at a multiple of this many bytes.
  static let bitmapStep = 512

  static let empty = [UInt64](repeating: 0, count: wordCount)

  /// From what `readSets` answers: an array of a bitmap, or numbers of two bytes each.
  static func words(_ stored: RedisReply) -> [UInt64] {
    if let bitmap = stored.array?.first?.bytes { return words(bitmap: bitmap) }
    var words = empty
    for number in numbers(listed: stored.bytes ?? []) { words[number >> 6] |= bit(number) }
    return words
  }
  static func words(bitmap: [UInt8]) -> [UInt64] {
    var words = empty
    let kept = min(wordCount, bitmap.count / 8)
    words.withUnsafeMutableBytes { target in
      bitmap.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<(kept * 8)])) }
    }
    var index = 0
    while index < kept {
      words[index] = words[index].byteSwapped
      index += 1
    }
    return words
  }

  static func bit(_ number: Int) -> UInt64 { 1 << UInt64(63 - number & 63) }

  static func numbers(listed stored: [UInt8]) -> [Int] {
    stride(from: 0, to: stored.count - 1, by: 2).map { Int(stored[$0]) << 8 | Int(stored[$0 + 1]) }
  }

  /// True of numbers of two bytes each that ascend: what is stored otherwise is damaged.
  static func isList(_ stored: [UInt8]) -> Bool {
    let numbers = numbers(listed: stored)
    return stored.count.isMultiple(of: 2) && zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
  }

  /// Ascending.
  static func numbers(_ words: [UInt64]) -> [Int] {
    var numbers: [Int] = []
    var index = 0
    while index < words.count {
      var rest = words[index]
      while rest != 0 {
        let lead = rest.leadingZeroBitCount
        numbers.append(index << 6 | lead)
        rest &= ~(1 << UInt64(63 - lead))
      }
      index += 1
    }
    return numbers
  }

  static func count(_ words: [UInt64]) -> Int { count(words, and: words) }
  static func count(_ left: [UInt64], and right: [UInt64]) -> Int {
    var (count, index) = (0, 0)
    while index < left.count {
      count += (left[index] & right[index]).nonzeroBitCount
      index += 1
    }
    return count
  }
  /// Of what `readSets` answers; a short list becomes no words for it.
  static func count(_ stored: RedisReply, and words: [UInt64]) -> Int {
    guard stored.array == nil else { return count(Self.words(stored), and: words) }
    return numbers(listed: stored.bytes ?? []).count { words[$0 >> 6] & bit($0) != 0 }
  }
  static func and(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
    var both = left
    combine(&both, right) { $0 & $1 }
    return both
  }
  static func formUnion(_ left: inout [UInt64], _ right: [UInt64]) { combine(&left, right) { $0 | $1 } }
  static func subtract(_ left: inout [UInt64], _ right: [UInt64]) { combine(&left, right) { $0 & ~$1 } }

  /// Both have as many words. A plain loop: without optimization an iterator costs ten times as much.
  @inline(__always) private static func combine(
    _ left: inout [UInt64], _ right: [UInt64], _ operation: (UInt64, UInt64) -> UInt64
  ) {
    var index = 0
    while index < left.count {
      left[index] = operation(left[index], right[index])
      index += 1
    }
  }

  /// Numbers of a block as scripts take them.
  static func packed(_ numbers: [Int]) -> [UInt8] { numbers.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] } }
}
