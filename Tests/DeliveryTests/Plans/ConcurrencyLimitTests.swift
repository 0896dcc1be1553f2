import Domain
import Testing

@testable import Delivery

@Suite("The limit of concurrency")
struct ConcurrencyLimitTests {
  /// Answers to `count` requests that were at work together.
  private func answer(
    _ limit: inout ConcurrencyLimit, _ count: Int, took: Double, atWork: Int, from: UInt64, failing: Int = 0,
    cause: Retry.Cause = .serverFault
  ) {
    for number in 0..<count {
      let verdict: Verdict = number < failing ? .retry(Retry(cause, reason: "x")) : .accepted(id: nil)
      limit.answered(
        verdict, took: took, began: at(from), atWork: atWork, capacity: 1_000, now: at(from + UInt64(took)))
    }
  }

  @Test("while all is well only the peer's own limit holds, however quick or busy")
  func calm() {
    var limit = ConcurrencyLimit(ConcurrencySettings())
    for (took, atWork) in [(0.2, 1), (5, 900), (400, 1_000), (0.3, 3), (900, 1_000)] {
      answer(&limit, 500, took: took, atWork: atWork, from: 0, failing: 5)
    }
    #expect(limit.bound == nil && limit.mayBegin(atWork: 1_000_000))
  }

  @Test("a quota halves it once for all that were at work together, and good answers raise it until it is gone")
  func quota() {
    var limit = ConcurrencyLimit(ConcurrencySettings())
    answer(&limit, 200, took: 50, atWork: 400, from: 0)
    for _ in 0..<300 {
      limit.answered(
        .retry(Retry(.quota, reason: "429")), took: 10, began: at(1_000), atWork: 400, capacity: 1_000, now: at(1_010))
    }
    #expect(limit.bound == 200)
    #expect(limit.mayBegin(atWork: 199) && !limit.mayBegin(atWork: 200))
    // Answers that were on their way, and work that does not reach the bound, raise nothing.
    answer(&limit, 500, took: 5, atWork: 200, from: 900)
    answer(&limit, 500, took: 5, atWork: 20, from: 2_000)
    #expect(limit.bound == 200)
    var steps = 0
    while let bound = limit.bound, steps < 1_000 {
      answer(&limit, 50, took: 50, atWork: bound, from: 3_000)
      #expect(limit.bound.map { $0 > bound } ?? true)
      steps += 1
    }
    #expect((10...30).contains(steps), "\(steps)")
  }

  @Test("slow answers and many failures lower it to what can be borne, never below the minimum")
  func strain() {
    for (took, failing) in [(5_000.0, 0), (50, 25)] {
      var limit = ConcurrencyLimit(ConcurrencySettings())
      answer(&limit, 200, took: 50, atWork: 300, from: 0)
      answer(&limit, 50, took: took, atWork: 300, from: 1_000, failing: failing)
      #expect(limit.bound == 200)
      var from: UInt64 = 10_000
      for _ in 0..<30 {
        answer(&limit, 50, took: took, atWork: limit.bound ?? 0, from: from, failing: failing)
        from += 10_000
      }
      #expect(limit.bound == ConcurrencySettings().minimum)
    }
  }

  @Test("a peer that is always slow is not strained by it")
  func slow() {
    var limit = ConcurrencyLimit(ConcurrencySettings())
    answer(&limit, 2_000, took: 3_000, atWork: 100, from: 0)
    #expect(limit.bound == nil)
  }
}
