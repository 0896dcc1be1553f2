import Domain

/// UUIDs that differ: they count up from a random start.
struct UniqueIDs {
  private var last: UUIDBytes

  init(seed: UInt64) { last = UUIDBytes(high: seed & ~0xF000 | 0x4000, low: 0x8000_0000_0000_0000) }

  mutating func next() -> String {
    last.low &+= 1
    return last.description
  }
}
