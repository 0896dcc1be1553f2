import Domain

/// How often each device of a partition has heard of a topic in a period, those at work among them. The partition's owner
/// alone sends, so what it knows is all there is.
struct CapBook {
  private var counts: [UInt8]

  init(_ counts: [UInt8]) { self.counts = counts }

  func count(_ number: Int) -> Int { number < counts.count ? Int(counts[number]) : 0 }

  /// One more, unless that were too many.
  mutating func take(_ number: Int, limit: Int) -> Bool {
    guard count(number) < limit else { return false }
    add(number)
    return true
  }

  mutating func add(_ number: Int) {
    if number >= counts.count {
      counts.append(contentsOf: repeatElement(0, count: number + 1 - counts.count))
    }
    counts[number] = min(counts[number] + 1, UInt8.max - 1)
  }

  mutating func giveBack(_ number: Int) {
    precondition(count(number) > 0, "more came back than was taken")
    counts[number] -= 1
  }
}
