import Domain
import FCM
import Testing

@testable import Delivery

@Suite("Requests without an answer and the breaker of a credential")
struct ProbesTests {
  private let settings = BreakerSettings()
  private let unanswered = Verdict.retry(Retry(.unknownOutcome, reason: "no answer in 30000 ms"))

  private func breaker() -> CircuitBreaker {
    CircuitBreaker(settings: settings, policy: RetryPolicy(FCMProvider().retry))
  }

  /// What began and ended then failed.
  private func fail(_ breaker: inout CircuitBreaker, _ count: Int, began: UInt64, now: UInt64) {
    for _ in 0..<count {
      _ = breaker.answered(unanswered, began: at(began), probe: false, now: at(now), jitter: 0)
    }
  }

  /// Suspended at 30 s.
  private func suspended() -> CircuitBreaker {
    var breaker = breaker()
    fail(&breaker, settings.failuresInARow, began: 0, now: 30_000)
    return breaker
  }

  @Test("what fails and began before the last answer tells nothing of the provider")
  func old() {
    for byMember in [false, true] {
      var breaker = breaker()
      if byMember {
        breaker.serves(now: at(29_000))
      } else {
        _ = breaker.answered(.accepted(id: nil), began: at(28_990), probe: false, now: at(29_000), jitter: 0)
      }
      fail(&breaker, 10 * settings.failuresInARow, began: 0, now: 30_000)
      #expect(breaker.isClosed && breaker.trouble == nil && !breaker.heedsAcceptance)
      // What began since counts as ever.
      fail(&breaker, settings.failuresInARow - 1, began: 29_001, now: 59_001)
      #expect(breaker.isClosed)
      fail(&breaker, 1, began: 29_001, now: 59_001)
      #expect(!breaker.isClosed)
    }
  }

  @Test("a probe without an answer lets another one try, ever more rarely, and any answer closes the breaker")
  func silentProbe() {
    var breaker = suspended()
    var now: UInt64 = 30_250
    #expect(breaker.passage(now: at(now)) == .probe)
    for wait in [1_000, 2_000, 4_000, 8_000] as [UInt64] {
      #expect(!breaker.wantsProbe(now: at(now + 1)) && breaker.wantsProbe(now: at(now + wait)))
      #expect(breaker.passage(now: at(now + wait)) == .probe)
      now += wait
    }
    // The first is not answered: those behind it are still at work.
    #expect(breaker.answered(unanswered, began: at(30_250), probe: true, now: at(60_250), jitter: 0) == .none)
    #expect(breaker.passage(now: at(60_251)) == .wait(until: at(61_250)))
    #expect(breaker.passage(now: at(61_250)) == .probe)
    #expect(
      breaker.answered(.accepted(id: nil), began: at(31_250), probe: true, now: at(61_260), jitter: 0) == .recovered)
    #expect(breaker.passage(now: at(61_261)) == .go && breaker.trouble == nil)
    // The others end by and by, and close nothing.
    for began in [33_250, 37_250, 45_250, 61_250] as [UInt64] {
      #expect(breaker.answered(unanswered, began: at(began), probe: true, now: at(91_250), jitter: 0) == .none)
      #expect(breaker.isClosed)
    }
  }

  @Test("probes that have failed before keep one that has not waiting no longer than a second")
  func failedBefore() {
    var breaker = suspended()
    var now: UInt64 = 30_250
    #expect(breaker.passage(now: at(now), isFresh: false) == .probe)
    for wait in [1_000, 2_000, 4_000, 8_000, 16_000] as [UInt64] {
      #expect(breaker.passage(now: at(now + wait - 1), isFresh: false) != .probe)
      #expect(breaker.passage(now: at(now + wait), isFresh: false) == .probe)
      now += wait
    }
    #expect(breaker.passage(now: at(now + 999)) != .probe)
    #expect(breaker.passage(now: at(now + 1_000)) == .probe)
  }

  @Test("one that did not go after all changes nothing of when the next may")
  func withdrawn() {
    var breaker = suspended()
    #expect(breaker.passage(now: at(30_250)) == .probe)
    for _ in 0..<100 {
      #expect(breaker.passage(now: at(31_250)) == .probe)
      breaker.withdrawn(now: at(31_250))
    }
    #expect(breaker.passage(now: at(31_250)) == .probe)
    #expect(breaker.passage(now: at(33_249)) == .wait(until: at(33_250)))
  }

  @Test("a provider that never answers gets few probes at once, and few in an hour")
  func silence() {
    var breaker = suspended()
    var atWork: [UInt64] = []
    var (gone, most) = (0, 0)
    // Each of them has never failed before.
    for now in stride(from: 30_000 as UInt64, to: 3_630_000, by: 50) {
      while let first = atWork.first, first + 30_000 <= now {
        atWork.removeFirst()
        _ = breaker.answered(unanswered, began: at(first), probe: true, now: at(now), jitter: 0)
      }
      while breaker.passage(now: at(now)) == .probe {
        atWork.append(now)
        gone += 1
      }
      most = max(most, atWork.count)
    }
    #expect(most <= 6)
    #expect(gone <= 3_600 / 5, "\(gone)")
    #expect(!breaker.isClosed)
  }
}
