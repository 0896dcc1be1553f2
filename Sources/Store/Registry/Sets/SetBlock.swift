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
    bitmap.withUnsafeBytes { raw in
      (0..<wordCount).map { place in
        guard place * 8 + 8 <= raw.count else { return 0 }
        return UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: place * 8, as: UInt64.self))
      }
    }
  }

  static func bit(_ number: Int) -> UInt64 { 1 << UInt64(63 - number & 63) }

  static func numbers(listed stored: [UInt8]) -> [Int] {
    stride(from: 0, to: stored.count - 1, by: 2).map { Int(stored[$0]) << 8 | Int(stored[$0 + 1]) }
  }

  /// Ascending.
  static func numbers(_ words: [UInt64]) -> [Int] {
    var numbers: [Int] = []
    for (place, word) in words.enumerated() where word != 0 {
      var rest = word
      while rest != 0 {
        let lead = rest.leadingZeroBitCount
        numbers.append(place << 6 | lead)
        rest &= ~(1 << UInt64(63 - lead))
      }
    }
    return numbers
  }

  static func count(_ words: [UInt64]) -> Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }
  static func count(_ left: [UInt64], and right: [UInt64]) -> Int {
    var count = 0
    for place in left.indices { count += (left[place] & right[place]).nonzeroBitCount }
    return count
  }
  /// Of what `readSets` answers; a short list becomes no words for it.
  static func count(_ stored: RedisReply, and words: [UInt64]) -> Int {
    guard stored.array == nil else { return count(Self.words(stored), and: words) }
    return numbers(listed: stored.bytes ?? []).count { words[$0 >> 6] & bit($0) != 0 }
  }
  static func and(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] { zip(left, right).map { $0 & $1 } }
  static func formUnion(_ left: inout [UInt64], _ right: [UInt64]) {
    for place in left.indices { left[place] |= right[place] }
  }

  /// Numbers of a block as scripts take them.
  static func packed(_ numbers: [Int]) -> [UInt8] { numbers.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] } }
}
