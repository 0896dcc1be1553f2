import Support

/// Small changes of an input, as a fuzzer makes them.
enum Mutation {
  /// `other`: an input of the same target, of which a part may be taken.
  static func of(_ bytes: [UInt8], with other: [UInt8], _ random: inout Seeded) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &random) { change(&bytes, other, &random) }
    return bytes
  }

  private static func change(_ bytes: inout [UInt8], _ other: [UInt8], _ random: inout Seeded) {
    let place = Int.random(in: 0...bytes.count, using: &random)
    let end = min(bytes.count, place + Int.random(in: 1...16, using: &random))
    switch Int.random(in: 0..<6, using: &random) {
    case 0: bytes.insert(.random(in: 0...255, using: &random), at: place)
    case 1: bytes.removeSubrange(place..<end)
    case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
    case 3: bytes.removeLast(bytes.count - place)
    case 4:
      let from = Int.random(in: 0...other.count, using: &random)
      bytes.insert(contentsOf: other[from..<min(other.count, from + 32)], at: place)
    default: if place < bytes.count { bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random) }
    }
  }
}
