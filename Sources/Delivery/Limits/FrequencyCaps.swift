import Domain

/// How often each device of a partition has heard of a topic in a period, those at work among them. The partition's
/// owner alone sends, so what it knows is all there is.
struct FrequencyCaps {
  private var counts: [UInt8]
  /// Taken for deliveries that are in memory: until they have left it, the book stays.
  private(set) var out = 0
  var lastUsed: Instant

  init(_ counts: [UInt8], now: Instant) {
    self.counts = counts
    lastUsed = now
  }

  func count(_ number: Int) -> Int { number < counts.count ? Int(counts[number]) : 0 }

  /// One more, unless that were too many.
  mutating func take(_ number: Int, limit: Int) -> Bool {
    guard count(number) < limit else { return false }
    add(number)
    out += 1
    return true
  }

  mutating func add(_ number: Int) {
    if number >= counts.count {
      counts.append(contentsOf: repeatElement(0, count: number + 1 - counts.count))
    }
    counts[number] = min(counts[number] + 1, UInt8.max - 1)
  }

  mutating func release(_ number: Int) {
    guard out > 0, count(number) > 0 else { return }
    out -= 1
    counts[number] -= 1
  }
}
