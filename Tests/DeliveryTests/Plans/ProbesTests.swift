import Domain
import FCM
import Testing

@testable import Delivery

@Suite("Requests without an answer and the gate of a credential")
struct ProbesTests {
  private let settings = GateSettings()
  private let unanswered = Verdict.retry(Retry(.unknownOutcome, reason: "no answer in 30000 ms"))

  private func gate() -> CircuitBreaker {
    CircuitBreaker(settings: settings, policy: RetryPolicy(FCMProvider().retry))
  }

  /// What began and ended then failed.
  private func fail(_ gate: inout CircuitBreaker, _ count: Int, began: UInt64, now: UInt64) {
    for _ in 0..<count {
      _ = gate.answered(unanswered, began: at(began), probe: false, now: at(now), jitter: 0)
    }
  }

  /// Suspended at 30 s.
  private func suspended() -> CircuitBreaker {
    var gate = gate()
    fail(&gate, settings.failuresInARow, began: 0, now: 30_000)
    return gate
  }

  @Test("what fails and began before the last answer tells nothing of the provider")
  func old() {
    for byMember in [false, true] {
      var gate = gate()
      if byMember {
        gate.serves(now: at(29_000))
      } else {
        _ = gate.answered(.accepted(id: nil), began: at(28_990), probe: false, now: at(29_000), jitter: 0)
      }
      fail(&gate, 10 * settings.failuresInARow, began: 0, now: 30_000)
      #expect(gate.isOpen && gate.trouble == nil && !gate.heedsAcceptance)
      // What began since counts as ever.
      fail(&gate, settings.failuresInARow - 1, began: 29_001, now: 59_001)
      #expect(gate.isOpen)
      fail(&gate, 1, began: 29_001, now: 59_001)
      #expect(!gate.isOpen)
    }
  }

  @Test("a probe without an answer lets another one try, ever more rarely, and any answer opens the gate")
  func silentProbe() {
    var gate = suspended()
    var now: UInt64 = 30_250
    #expect(gate.passage(now: at(now)) == .probe)
    for wait in [1_000, 2_000, 4_000, 8_000] as [UInt64] {
      #expect(!gate.wantsProbe(now: at(now + 1)) && gate.wantsProbe(now: at(now + wait)))
      #expect(gate.passage(now: at(now + wait)) == .probe)
      now += wait
    }
    // The first is not answered: those behind it are still at work.
    #expect(gate.answered(unanswered, began: at(30_250), probe: true, now: at(60_250), jitter: 0) == .none)
    #expect(gate.passage(now: at(60_251)) == .wait(until: at(61_250)))
    #expect(gate.passage(now: at(61_250)) == .probe)
    #expect(
      gate.answered(.accepted(id: nil), began: at(31_250), probe: true, now: at(61_260), jitter: 0) == .reopened)
    #expect(gate.passage(now: at(61_261)) == .go && gate.trouble == nil)
    // The others end by and by, and close nothing.
    for began in [33_250, 37_250, 45_250, 61_250] as [UInt64] {
      #expect(gate.answered(unanswered, began: at(began), probe: true, now: at(91_250), jitter: 0) == .none)
      #expect(gate.isOpen)
    }
  }

  @Test("probes that have failed before keep one that has not waiting no longer than a second")
  func failedBefore() {
    var gate = suspended()
    var now: UInt64 = 30_250
    #expect(gate.passage(now: at(now), isFresh: false) == .probe)
    for wait in [1_000, 2_000, 4_000, 8_000, 16_000] as [UInt64] {
      #expect(gate.passage(now: at(now + wait - 1), isFresh: false) != .probe)
      #expect(gate.passage(now: at(now + wait), isFresh: false) == .probe)
      now += wait
    }
    #expect(gate.passage(now: at(now + 999)) != .probe)
    #expect(gate.passage(now: at(now + 1_000)) == .probe)
  }

  @Test("one that did not go after all changes nothing of when the next may")
  func withdrawn() {
    var gate = suspended()
    #expect(gate.passage(now: at(30_250)) == .probe)
    for _ in 0..<100 {
      #expect(gate.passage(now: at(31_250)) == .probe)
      gate.withdrawn(now: at(31_250))
    }
    #expect(gate.passage(now: at(31_250)) == .probe)
    #expect(gate.passage(now: at(33_249)) == .wait(until: at(33_250)))
  }

  @Test("a provider that never answers gets few probes at once, and few in an hour")
  func silence() {
    var gate = suspended()
    var atWork: [UInt64] = []
    var (gone, most) = (0, 0)
    // Each of them has never failed before.
    for now in stride(from: 30_000 as UInt64, to: 3_630_000, by: 50) {
      while let first = atWork.first, first + 30_000 <= now {
        atWork.removeFirst()
        _ = gate.answered(unanswered, began: at(first), probe: true, now: at(now), jitter: 0)
      }
      while gate.passage(now: at(now)) == .probe {
        atWork.append(now)
        gone += 1
      }
      most = max(most, atWork.count)
    }
    #expect(most <= 6)
    #expect(gone <= 3_600 / 5, "\(gone)")
    #expect(!gate.isOpen)
  }
}
