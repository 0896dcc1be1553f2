import Synchronization

/// Counts observations by upper bound. One observation costs a short search and two atomic writes.
package final class Histogram: @unchecked Sendable {
  package let bounds: [Double]
  /// One for each bound, and one for what lies above. Never moved; `deinit` frees it.
  private let buckets: UnsafeMutablePointer<Atomic<UInt64>>
  /// The bits of a double.
  private let total = Atomic<UInt64>(0)

  init(bounds: [Double]) {
    precondition(!bounds.isEmpty && bounds.allSatisfy(\.isFinite), "a histogram needs finite bounds")
    precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "the bounds of a histogram ascend")
    self.bounds = bounds
    buckets = .allocate(capacity: bounds.count + 1)
    for index in 0...bounds.count { (buckets + index).initialize(to: Atomic(0)) }
  }

  deinit {
    buckets.deinitialize(count: bounds.count + 1)
    buckets.deallocate()
  }

  /// A bound belongs to its bucket. What is below zero, or no number, counts as zero: clocks may step back.
  package func observe(seconds: Double, times: UInt64 = 1) {
    let seconds = seconds > 0 ? seconds : 0
    var index = 0
    while index < bounds.count, seconds > bounds[index] { index += 1 }
    buckets[index].add(times, ordering: .relaxed)
    var old = total.load(ordering: .relaxed)
    while true {
      let new = (Double(bitPattern: old) + seconds * Double(times)).bitPattern
      let (exchanged, seen) = total.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
      if exchanged { return }
      old = seen
    }
  }

  /// How many lie at or below each bound, and how many there are.
  package var cumulative: [UInt64] {
    var sum: UInt64 = 0
    return (0...bounds.count).map { index in
      sum += buckets[index].load(ordering: .relaxed)
      return sum
    }
  }
  package var sum: Double { Double(bitPattern: total.load(ordering: .relaxed)) }
}
