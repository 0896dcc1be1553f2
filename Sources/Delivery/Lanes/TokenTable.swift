/// Tokens at work without a lane, by their hash: which request in flight each has. Two tokens of one hash count as one,
/// and then take turns, which does no harm.
///
/// Open addressing in place of a `Dictionary`, whose hashing alone costs as much as all of this.
struct TokenTable {
  private var hashes: [UInt64]
  private var inFlightRequests: [Int32]
  private(set) var count = 0
  private static let vacant: Int32 = -1

  init() {
    hashes = Array(repeating: 0, count: 1_024)
    inFlightRequests = Array(repeating: Self.vacant, count: 1_024)
  }

  /// Nobody outside knows which tokens have the same hash.
  private static let salt = UInt64.random(in: 0 ... .max)

  /// `owner`: another hash, of the app that has the token.
  static func hash(_ token: [UInt8], owner: UInt64 = salt) -> UInt64 {
    token.withUnsafeBytes { bytes in
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
  }
  private static func mix(_ value: UInt64) -> UInt64 {
    let product = value &* 0xBF58_476D_1CE4_E5B9
    return product ^ product >> 29
  }

  func inFlight(_ hash: UInt64) -> Int? {
    var place = home(hash)
    while inFlightRequests[place] != Self.vacant {
      if hashes[place] == hash { return Int(inFlightRequests[place]) }
      place = (place + 1) & (inFlightRequests.count - 1)
    }
    return nil
  }

  /// The hash must not be there.
  mutating func insert(_ hash: UInt64, inFlight: Int) {
    if (count + 1) * 2 > inFlightRequests.count { grow() }
    place(hash, Int32(inFlight))
    count += 1
  }

  mutating func remove(_ hash: UInt64) {
    var gap = home(hash)
    while hashes[gap] != hash || inFlightRequests[gap] == Self.vacant {
      guard inFlightRequests[gap] != Self.vacant else { preconditionFailure("a token that is not at work") }
      gap = (gap + 1) & (inFlightRequests.count - 1)
    }
    count -= 1
    // What stands behind moves up, so that nobody's way to his place is interrupted.
    var next = gap
    while true {
      inFlightRequests[gap] = Self.vacant
      repeat {
        next = (next + 1) & (inFlightRequests.count - 1)
        if inFlightRequests[next] == Self.vacant { return }
      } while !isBetween(home(hashes[next]), gap, next)
      hashes[gap] = hashes[next]
      inFlightRequests[gap] = inFlightRequests[next]
      gap = next
    }
  }

  /// What belongs at `home` and stands at `place` may stand at `gap`.
  private func isBetween(_ home: Int, _ gap: Int, _ place: Int) -> Bool {
    let mask = inFlightRequests.count - 1
    return (place - home) & mask >= (place - gap) & mask
  }

  private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash ^ hash >> 32) & (inFlightRequests.count - 1) }

  private mutating func place(_ hash: UInt64, _ inFlight: Int32) {
    var place = home(hash)
    while inFlightRequests[place] != Self.vacant { place = (place + 1) & (inFlightRequests.count - 1) }
    hashes[place] = hash
    inFlightRequests[place] = inFlight
  }

  private mutating func grow() {
    let (oldHashes, oldRequests) = (hashes, inFlightRequests)
    hashes = Array(repeating: 0, count: oldHashes.count * 2)
    inFlightRequests = Array(repeating: Self.vacant, count: oldRequests.count * 2)
    for (hash, inFlight) in zip(oldHashes, oldRequests) where inFlight != Self.vacant { place(hash, inFlight) }
  }
}
