/// Chance for waits, 0…1: many times cheaper than the system's generator, which seeds it. No secret depends on it.
struct Jitter {
  private var state = UInt64.random(in: 1 ... .max)

  /// xorshift64*
  mutating func next() -> Double {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return Double((state &* 0x2545_f491_4f6c_dd1d) >> 11) / Double(1 << 53)
  }
}
