import Domain
import FCM
import Testing

@testable import Delivery

@Suite("The gate of a credential")
struct CircuitBreakerTests {
  private func gate() -> CircuitBreaker {
    CircuitBreaker(settings: GateSettings(), policy: RetryPolicy(FCMProvider().retry))
  }
  private func quota(_ retryAfter: Int? = nil) -> Verdict {
    .retry(Retry(.quota, reason: "QUOTA_EXCEEDED", retryAfter: retryAfter))
  }
  private let expired = Verdict.retry(Retry(.authorizationExpired, reason: "Expired"))

  @Test("a quota makes the credential wait, then one tries, and its success opens the gate")
  func quota() {
    var gate = gate()
    #expect(
      gate.answered(quota(), began: at(0), probe: false, now: at(10), jitter: 0)
        == .suspended(reason: "QUOTA_EXCEEDED"))
    #expect(gate.passage(now: at(60_009)) == .wait(until: at(60_010)))
    #expect(gate.passage(now: at(60_010)) == .probe)
    #expect(gate.passage(now: at(60_011)) == .wait(until: at(61_010)))
    #expect(
      gate.answered(.accepted(id: nil), began: at(60_010), probe: true, now: at(60_020), jitter: 0) == .reopened)
    #expect(gate.passage(now: at(60_021)) == .go)
  }

  @Test("quotas in a row wait longer; the many answers of one moment count once")
  func echo() {
    var gate = gate()
    _ = gate.answered(quota(), began: at(0), probe: false, now: at(10), jitter: 0)
    for _ in 0..<500 {
      #expect(gate.answered(quota(), began: at(1), probe: false, now: at(12), jitter: 0) == .none)
    }
    #expect(gate.passage(now: at(60_010)) == .probe)
    _ = gate.answered(quota(), began: at(60_010), probe: true, now: at(60_020), jitter: 0)
    #expect(gate.passage(now: at(60_021)) == .wait(until: at(180_020)))
  }

  @Test("Retry-After of a late answer prolongs the wait")
  func retryAfter() {
    var gate = gate()
    _ = gate.answered(quota(5), began: at(0), probe: false, now: at(10), jitter: 0)
    #expect(gate.passage(now: at(11)) == .wait(until: at(60_010)))
    _ = gate.answered(quota(90), began: at(0), probe: false, now: at(20), jitter: 0)
    #expect(gate.passage(now: at(21)) == .wait(until: at(90_020)))
  }

  @Test("a blocked credential is told once, probed by one delivery, and stays blocked until that one passes")
  func blocked() {
    var gate = gate()
    let blocked = Verdict.blocked(reason: "BadKey")
    #expect(gate.answered(blocked, began: at(0), probe: false, now: at(1), jitter: 0) == .blocked(reason: "BadKey"))
    #expect(gate.answered(blocked, began: at(0), probe: false, now: at(2), jitter: 0) == .none)
    // One that was at work before and succeeded proves nothing.
    #expect(gate.answered(.accepted(id: nil), began: at(0), probe: false, now: at(3), jitter: 0) == .none)
    #expect(gate.passage(now: at(30_000)) == .wait(until: at(30_001)))
    #expect(gate.passage(now: at(30_001)) == .probe)
    #expect(gate.answered(blocked, began: at(30_001), probe: true, now: at(30_005), jitter: 0) == .none)
    #expect(gate.passage(now: at(60_005)) == .probe)
    #expect(
      gate.answered(.dead(Death(reason: "Gone")), began: at(60_005), probe: true, now: at(60_010), jitter: 0)
        == .reopened)
  }

  @Test("a probe that did not go, or got no answer, lets another try")
  func withdrawn() {
    var gate = gate()
    _ = gate.answered(.blocked(reason: "BadKey"), began: at(0), probe: false, now: at(0), jitter: 0)
    #expect(gate.passage(now: at(30_000)) == .probe)
    gate.withdrawn(now: at(30_000))
    #expect(gate.passage(now: at(30_000)) == .probe)
    let lost = Verdict.retry(Retry(.unknownOutcome, reason: "lost"))
    _ = gate.answered(lost, began: at(30_000), probe: true, now: at(30_100), jitter: 0)
    #expect(gate.passage(now: at(40_100)) == .probe)
  }

  @Test("an expired authorization is renewed once; refused again, it blocks")
  func expiredTwice() {
    var gate = gate()
    #expect(gate.renews(expired, began: at(0), probe: false))
    #expect(gate.answered(expired, began: at(0), probe: false, now: at(10), jitter: 0) == .none)
    // Others that were at work with the old one.
    #expect(!gate.renews(expired, began: at(5), probe: false))
    #expect(gate.answered(expired, began: at(5), probe: false, now: at(11), jitter: 0) == .none)
    #expect(gate.passage(now: at(12)) == .go)
    #expect(
      gate.answered(expired, began: at(12), probe: false, now: at(20), jitter: 0) == .blocked(reason: "Expired"))
  }

  @Test("an authorization that is too new is told of once, and by each probe")
  func tooNew() {
    var gate = gate()
    let tooNew = Verdict.retry(Retry(.authorizationTooNew, reason: "TooNew"))
    #expect(gate.renews(tooNew, began: at(0), probe: false))
    _ = gate.answered(tooNew, began: at(0), probe: false, now: at(10), jitter: 0)
    // Refused beside it.
    #expect(!gate.renews(tooNew, began: at(5), probe: false))
    #expect(gate.renews(tooNew, began: at(90_000), probe: true))
  }

  @Test("an expired authorization an hour after a good renewal is renewed again")
  func expiredLater() {
    var gate = gate()
    _ = gate.answered(expired, began: at(0), probe: false, now: at(10), jitter: 0)
    _ = gate.answered(.accepted(id: nil), began: at(20), probe: false, now: at(30), jitter: 0)
    #expect(gate.answered(expired, began: at(3_600_000), probe: false, now: at(3_600_010), jitter: 0) == .none)
    #expect(gate.passage(now: at(3_600_020)) == .go)
  }

  @Test("without an authorization nothing goes, and the reason is told once")
  func unavailable() {
    var gate = gate()
    #expect(gate.unavailable(blocked: "invalid_grant", until: at(1_000)) == .blocked(reason: "invalid_grant"))
    #expect(gate.passage(now: at(1_000)) == .probe)
    #expect(gate.unavailable(blocked: "invalid_grant", until: at(2_000)) == .none)
    #expect(gate.passage(now: at(1_500)) == .wait(until: at(2_000)))
  }

  private func failure(_ cause: Retry.Cause = .serverFault) -> Verdict {
    .retry(Retry(cause, reason: "InternalServerError"))
  }

  @Test("failures in a row suspend it, probes wait longer each time, and the first other answer opens it")
  func failures() {
    var gate = gate()
    let limit = GateSettings().failuresInARow
    for number in 1..<limit {
      let cause: Retry.Cause = number.isMultiple(of: 2) ? .serverFault : .unknownOutcome
      #expect(gate.answered(failure(cause), began: at(0), probe: false, now: at(1), jitter: 0) == .none)
    }
    #expect(
      gate.answered(failure(), began: at(0), probe: false, now: at(10), jitter: 0)
        == .suspended(reason: "InternalServerError"))
    // What was at work fails too, and tells nothing new.
    for _ in 0..<500 {
      #expect(gate.answered(failure(), began: at(5), probe: false, now: at(20), jitter: 0) == .none)
    }
    var due: UInt64 = 10
    // The first probes come quickly: it may have been those at work that failed, and not the provider.
    let quick = [UInt64](repeating: 250, count: GateSettings().quickProbes)
    for wait in quick + [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
      #expect(gate.passage(now: at(due + wait - 1)) == .wait(until: at(due + wait)))
      due += wait
      #expect(gate.passage(now: at(due)) == .probe)
      #expect(gate.answered(failure(.unknownOutcome), began: at(due), probe: true, now: at(due), jitter: 0) == .none)
    }
    #expect(gate.passage(now: at(due + 30_000)) == .probe)
    #expect(
      gate.answered(
        .rejected(reason: "BadTopic"), began: at(due + 30_000), probe: true, now: at(due + 30_001), jitter: 0)
        == .reopened)
    #expect(
      gate.answered(failure(), began: at(due + 30_002), probe: false, now: at(due + 30_002), jitter: 0) == .none)
    #expect(gate.isOpen)
  }

  @Test("deliveries that have failed before suspend nothing, and make nobody wait longer")
  func failedBefore() {
    var gate = gate()
    func fail(isTelling: Bool, probe: Bool = false, at time: UInt64) {
      _ = gate.answered(failure(), began: at(time), probe: probe, isTelling: isTelling, now: at(time), jitter: 0)
    }
    for _ in 0..<2_000 { fail(isTelling: false, at: 1) }
    #expect(gate.isOpen && gate.trouble == nil && !gate.heedsAcceptance)
    for _ in 0..<GateSettings().failuresInARow { fail(isTelling: true, at: 2) }
    #expect(!gate.isOpen)
    // As the only ones that are there they probe, again and again at the first pause.
    var now: UInt64 = 2
    for _ in 0..<100 {
      now += 250
      #expect(gate.passage(now: at(now)) == .probe)
      fail(isTelling: false, probe: true, at: now)
    }
    #expect(gate.passage(now: at(now + 249)) == .wait(until: at(now + 250)))
  }

  @Test("failures with other answers between them suspend nothing")
  func mixed() {
    var gate = gate()
    for number in 1...2_000 {
      let verdict = number.isMultiple(of: 40) ? Verdict.accepted(id: nil) : failure()
      let time = UInt64(number)
      #expect(gate.answered(verdict, began: at(time), probe: false, now: at(time + 1), jitter: 0) == .none)
    }
    #expect(gate.isOpen)
  }

  @Test("failures with acceptances between them suspend nothing when only those are told that are heeded")
  func heeded() {
    var gate = gate()
    #expect(!gate.heedsAcceptance)
    for number in 1...2_000 {
      let time = UInt64(number)
      if number.isMultiple(of: 40), gate.heedsAcceptance {
        _ = gate.answered(.accepted(id: nil), began: at(time), probe: false, now: at(time + 1), jitter: 0)
        #expect(!gate.heedsAcceptance)
      } else {
        #expect(gate.answered(failure(), began: at(time), probe: false, now: at(time + 1), jitter: 0) == .none)
      }
    }
    #expect(gate.isOpen)
  }

  @Test("a Retry-After of a day is obeyed, with one delivery each hour that tries, and all of it is told")
  func day() throws {
    var gate = gate()
    let hour: UInt64 = 3_600_000
    _ = gate.answered(quota(86_400), began: at(0), probe: false, now: at(0), jitter: 0)
    #expect(gate.trouble?.state == .waiting && gate.trouble?.reason == "QUOTA_EXCEEDED")
    #expect(gate.trouble?.nextTry == at(hour) && gate.trouble?.until == at(24 * hour))
    for number in 1...3 as ClosedRange<UInt64> {
      let now = at(number * hour)
      #expect(gate.passage(now: at(number * hour - 1)) == .wait(until: now))
      #expect(gate.passage(now: now) == .probe)
      #expect(gate.passage(now: now) == .wait(until: now + 1_000))
      // One that says nothing of time changes nothing of what was asked for.
      let left = 86_400 - Int(number) * 3_600
      _ = gate.answered(quota(number == 2 ? nil : left), began: now, probe: true, now: now, jitter: 0)
      #expect(gate.trouble?.nextTry == at((number + 1) * hour) && gate.trouble?.until == at(24 * hour))
    }
    #expect(gate.passage(now: at(4 * hour)) == .probe)
    _ = gate.answered(.accepted(id: nil), began: at(4 * hour), probe: true, now: at(4 * hour), jitter: 0)
    #expect(gate.isOpen && gate.trouble == nil)
    // No answer makes it overflow.
    _ = gate.answered(quota(.max), began: at(5 * hour), probe: false, now: at(5 * hour), jitter: 1)
    #expect(gate.trouble?.nextTry == at(6 * hour))
  }

  @Test("failures and refusals in a row are told before anything waits for them, and no longer than they last")
  func told() {
    var gate = gate()
    for _ in 1..<GateSettings().failuresToTell {
      _ = gate.answered(failure(), began: at(0), probe: false, now: at(1), jitter: 0)
      #expect(gate.trouble == nil)
    }
    _ = gate.answered(failure(), began: at(0), probe: false, now: at(1), jitter: 0)
    #expect(gate.isOpen && gate.trouble?.state == .failing && gate.trouble?.reason == "InternalServerError")
    #expect(gate.heedsAcceptance)
    _ = gate.answered(.accepted(id: nil), began: at(0), probe: false, now: at(1), jitter: 0)
    #expect(gate.trouble == nil)

    let refusal = Verdict.rejected(reason: "TopicDisallowed")
    for _ in 1..<GateSettings().refusalsToTell {
      _ = gate.answered(refusal, began: at(0), probe: false, now: at(1), jitter: 0)
      #expect(gate.trouble == nil)
    }
    _ = gate.answered(refusal, began: at(0), probe: false, now: at(1), jitter: 0)
    #expect(gate.isOpen && gate.trouble?.state == .failing)
    #expect(gate.trouble?.reason.contains("TopicDisallowed") == true)
    #expect(gate.heedsAcceptance)
    _ = gate.answered(.accepted(id: nil), began: at(0), probe: false, now: at(1), jitter: 0)
    #expect(gate.trouble == nil)
  }

  @Test("an operator's wish lets one try at once, whatever the gate waits for")
  func hurry() {
    for verdict in [quota(86_400), .blocked(reason: "BadKey")] {
      var gate = gate()
      _ = gate.answered(verdict, began: at(0), probe: false, now: at(0), jitter: 0)
      #expect(gate.passage(now: at(1)) != .probe)
      gate.hurry(now: at(1))
      #expect(gate.passage(now: at(1)) == .probe)
      #expect(gate.passage(now: at(1)) == .wait(until: at(1_001)))
      // The one that went has no answer yet: another may go beside it.
      gate.hurry(now: at(2))
      #expect(gate.passage(now: at(2)) == .probe)
      #expect(gate.passage(now: at(3)) == .wait(until: at(1_002)))
    }
  }
}
