/// Tokens without a lane by their hash: the number of each in `LaneIndex`. Two tokens of one hash count as one, and then
/// take turns, which does no harm.
///
/// Open addressing in place of a `Dictionary`, whose hashing alone costs as much as all of this.
struct TokenTable {
  private var hashes: [UInt64]
  private var numbers: [Int32]
  private(set) var count = 0
  private static let vacant: Int32 = -1

  init() {
    hashes = Array(repeating: 0, count: 1_024)
    numbers = Array(repeating: Self.vacant, count: 1_024)
  }

  /// Nobody outside knows which tokens have the same hash.
  private static let salt = UInt64.random(in: 0 ... .max)

  /// `owner`: another hash, of the app that has the token.
  static func hash(_ token: [UInt8], owner: UInt64 = salt) -> UInt64 {
    token.withUnsafeBytes { hash($0, owner: owner) }
  }
  static func hash(_ token: String, owner: UInt64 = salt) -> UInt64 {
    var token = token
    return token.withUTF8 { hash(UnsafeRawBufferPointer($0), owner: owner) }
  }
  private static func hash(_ bytes: UnsafeRawBufferPointer, owner: UInt64) -> UInt64 {
    var hash = mix(owner ^ UInt64(truncatingIfNeeded: bytes.count))
    var place = 0
    while place + 8 <= bytes.count {
      hash = mix(hash ^ bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      place += 8
    }
    while place < bytes.count {
      hash = mix(hash ^ UInt64(bytes[place]))
      place += 1
    }
    return hash
  }
  private static func mix(_ value: UInt64) -> UInt64 {
    let product = value &* 0xBF58_476D_1CE4_E5B9
    return product ^ product >> 29
  }

  func number(_ hash: UInt64) -> Int? {
    var place = home(hash)
    while numbers[place] != Self.vacant {
      if hashes[place] == hash { return Int(numbers[place]) }
      place = (place + 1) & (numbers.count - 1)
    }
    return nil
  }

  /// The hash must not be there.
  mutating func insert(_ hash: UInt64, number: Int) {
    if (count + 1) * 2 > numbers.count { grow() }
    place(hash, Int32(number))
    count += 1
  }

  mutating func remove(_ hash: UInt64) {
    var gap = home(hash)
    while hashes[gap] != hash || numbers[gap] == Self.vacant {
      guard numbers[gap] != Self.vacant else { preconditionFailure("a token that is not there") }
      gap = (gap + 1) & (numbers.count - 1)
    }
    count -= 1
    // What stands behind moves up, so that nobody's way to his place is interrupted.
    var next = gap
    while true {
      numbers[gap] = Self.vacant
      repeat {
        next = (next + 1) & (numbers.count - 1)
        if numbers[next] == Self.vacant { return }
      } while !isBetween(home(hashes[next]), gap, next)
      hashes[gap] = hashes[next]
      numbers[gap] = numbers[next]
      gap = next
    }
  }

  /// What belongs at `home` and stands at `place` may stand at `gap`.
  private func isBetween(_ home: Int, _ gap: Int, _ place: Int) -> Bool {
    let mask = numbers.count - 1
    return (place - home) & mask >= (place - gap) & mask
  }

  private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash ^ hash >> 32) & (numbers.count - 1) }

  private mutating func place(_ hash: UInt64, _ number: Int32) {
    var place = home(hash)
    while numbers[place] != Self.vacant { place = (place + 1) & (numbers.count - 1) }
    hashes[place] = hash
    numbers[place] = number
  }

  private mutating func grow() {
    let (oldHashes, oldNumbers) = (hashes, numbers)
    hashes = Array(repeating: 0, count: oldHashes.count * 2)
    numbers = Array(repeating: Self.vacant, count: oldNumbers.count * 2)
    for (hash, number) in zip(oldHashes, oldNumbers) where number != Self.vacant { place(hash, number) }
  }
}
