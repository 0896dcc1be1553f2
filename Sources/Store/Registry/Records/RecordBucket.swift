/// Records of neighbouring numbers, one string of Redis: for each its place in the bucket × 2^28 + its length, in four bytes, and
/// itself. A hash would spend 60 bytes on each of them.
struct RecordBucket {
  let bytes: [UInt8]

  private static let lengthBits = 28

  static func head(_ number: Int, length: Int) -> Int {
    (number % Keys.recordsPerBucket) << lengthBits | length
  }

  /// A record within a bucket; `entry` has its head as well.
  struct Part {
    var slot: Int
    var record: Range<Int>
    var entry: Range<Int> { record.lowerBound - 4..<record.upperBound }
  }

  /// The record at `place`, and where the next one begins. Nil: there is none; what is damaged is not read.
  private func part(at place: Int) -> Part? {
    guard place + 4 <= bytes.count else { return nil }
    let head = from32(bytes[place..<place + 4])
    let length = head & (1 << Self.lengthBits - 1)
    guard place + 4 + length <= bytes.count else { return nil }
    return Part(slot: head >> Self.lengthBits, record: place + 4..<place + 4 + length)
  }

  func part(of number: Int) -> Part? {
    let slot = number % Keys.recordsPerBucket
    var place = 0
    while let part = part(at: place) {
      if part.slot == slot { return part }
      place = part.record.upperBound
    }
    return nil
  }

  func forEachPart(_ body: (Part) -> Void) {
    var place = 0
    while let part = part(at: place) {
      body(part)
      place = part.record.upperBound
    }
  }
}
