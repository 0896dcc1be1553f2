import Domain
import FCM
import Testing

@testable import Delivery

@Suite("The breaker of a credential")
struct CircuitBreakerTests {
  private func breaker() -> CircuitBreaker {
    CircuitBreaker(settings: BreakerSettings(), policy: RetryPolicy(FCMProvider().retry))
  }
  private func quota(_ retryAfter: Int? = nil) -> Verdict {
    .retry(Retry(.quota, reason: "QUOTA_EXCEEDED", retryAfter: retryAfter))
  }
  private let expired = Verdict.retry(Retry(.authorizationExpired, reason: "Expired"))

  @Test("a quota makes the credential wait, then one tries, and its success closes the breaker")
  func quota() {
    var breaker = breaker()
    #expect(
      breaker.answered(quota(), began: at(0), probe: false, now: at(10), jitter: 0)
        == .suspended(reason: "QUOTA_EXCEEDED"))
    #expect(breaker.passage(now: at(60_009)) == .wait(until: at(60_010)))
    #expect(breaker.passage(now: at(60_010)) == .probe)
    #expect(breaker.passage(now: at(60_011)) == .wait(until: at(61_010)))
    #expect(
      breaker.answered(.accepted(id: nil), began: at(60_010), probe: true, now: at(60_020), jitter: 0) == .recovered)
    #expect(breaker.passage(now: at(60_021)) == .go)
  }

  @Test("quotas in a row wait longer; the many answers of one moment count once")
  func echo() {
    var breaker = breaker()
    _ = breaker.answered(quota(), began: at(0), probe: false, now: at(10), jitter: 0)
    for _ in 0..<500 {
      #expect(breaker.answered(quota(), began: at(1), probe: false, now: at(12), jitter: 0) == .none)
    }
    #expect(breaker.passage(now: at(60_010)) == .probe)
    _ = breaker.answered(quota(), began: at(60_010), probe: true, now: at(60_020), jitter: 0)
    #expect(breaker.passage(now: at(60_021)) == .wait(until: at(180_020)))
  }

  @Test("Retry-After of a late answer prolongs the wait")
  func retryAfter() {
    var breaker = breaker()
    _ = breaker.answered(quota(5), began: at(0), probe: false, now: at(10), jitter: 0)
    #expect(breaker.passage(now: at(11)) == .wait(until: at(60_010)))
    _ = breaker.answered(quota(90), began: at(0), probe: false, now: at(20), jitter: 0)
    #expect(breaker.passage(now: at(21)) == .wait(until: at(90_020)))
  }

  @Test("a blocked credential is told once, probed by one delivery, and stays blocked until that one passes")
  func blocked() {
    var breaker = breaker()
    let blocked = Verdict.blocked(reason: "BadKey")
    #expect(breaker.answered(blocked, began: at(0), probe: false, now: at(1), jitter: 0) == .blocked(reason: "BadKey"))
    #expect(breaker.answered(blocked, began: at(0), probe: false, now: at(2), jitter: 0) == .none)
    // One that was at work before and succeeded proves nothing.
    #expect(breaker.answered(.accepted(id: nil), began: at(0), probe: false, now: at(3), jitter: 0) == .none)
    #expect(breaker.passage(now: at(30_000)) == .wait(until: at(30_001)))
    #expect(breaker.passage(now: at(30_001)) == .probe)
    #expect(breaker.answered(blocked, began: at(30_001), probe: true, now: at(30_005), jitter: 0) == .none)
    #expect(breaker.passage(now: at(60_005)) == .probe)
    #expect(
      breaker.answered(.dead(Death(reason: "Gone")), began: at(60_005), probe: true, now: at(60_010), jitter: 0)
        == .recovered)
  }

  @Test("a probe that did not go, or got no answer, lets another try")
  func withdrawn() {
    var breaker = breaker()
    _ = breaker.answered(.blocked(reason: "BadKey"), began: at(0), probe: false, now: at(0), jitter: 0)
    #expect(breaker.passage(now: at(30_000)) == .probe)
    breaker.withdrawn(now: at(30_000))
    #expect(breaker.passage(now: at(30_000)) == .probe)
    let lost = Verdict.retry(Retry(.unknownOutcome, reason: "lost"))
    _ = breaker.answered(lost, began: at(30_000), probe: true, now: at(30_100), jitter: 0)
    #expect(breaker.passage(now: at(40_100)) == .probe)
  }

  @Test("an expired authorization is renewed once; refused again, it blocks")
  func expiredTwice() {
    var breaker = breaker()
    #expect(breaker.renews(expired, began: at(0), probe: false))
    #expect(breaker.answered(expired, began: at(0), probe: false, now: at(10), jitter: 0) == .none)
    // Others that were at work with the old one.
    #expect(!breaker.renews(expired, began: at(5), probe: false))
    #expect(breaker.answered(expired, began: at(5), probe: false, now: at(11), jitter: 0) == .none)
    #expect(breaker.passage(now: at(12)) == .go)
    #expect(
      breaker.answered(expired, began: at(12), probe: false, now: at(20), jitter: 0) == .blocked(reason: "Expired"))
  }

  @Test("an authorization that is too new is told of once, and by each probe")
  func tooNew() {
    var breaker = breaker()
    let tooNew = Verdict.retry(Retry(.authorizationTooNew, reason: "TooNew"))
    #expect(breaker.renews(tooNew, began: at(0), probe: false))
    _ = breaker.answered(tooNew, began: at(0), probe: false, now: at(10), jitter: 0)
    // Refused beside it.
    #expect(!breaker.renews(tooNew, began: at(5), probe: false))
    #expect(breaker.renews(tooNew, began: at(90_000), probe: true))
  }

  @Test("an expired authorization an hour after a good renewal is renewed again")
  func expiredLater() {
    var breaker = breaker()
    _ = breaker.answered(expired, began: at(0), probe: false, now: at(10), jitter: 0)
    _ = breaker.answered(.accepted(id: nil), began: at(20), probe: false, now: at(30), jitter: 0)
    #expect(breaker.answered(expired, began: at(3_600_000), probe: false, now: at(3_600_010), jitter: 0) == .none)
    #expect(breaker.passage(now: at(3_600_020)) == .go)
  }

  @Test("without an authorization nothing goes, and the reason is told once")
  func unavailable() {
    var breaker = breaker()
    #expect(breaker.unavailable(blocked: "invalid_grant", until: at(1_000)) == .blocked(reason: "invalid_grant"))
    #expect(breaker.passage(now: at(1_000)) == .probe)
    #expect(breaker.unavailable(blocked: "invalid_grant", until: at(2_000)) == .none)
    #expect(breaker.passage(now: at(1_500)) == .wait(until: at(2_000)))
  }

  private func failure(_ cause: Retry.Cause = .serverFault) -> Verdict {
    .retry(Retry(cause, reason: "InternalServerError"))
  }

  @Test("failures in a row suspend it, probes wait longer each time, and the first other answer opens it")
  func failures() {
    var breaker = breaker()
    let limit = BreakerSettings().failuresInARow
    for number in 1..<limit {
      let cause: Retry.Cause = number.isMultiple(of: 2) ? .serverFault : .unknownOutcome
      #expect(breaker.answered(failure(cause), began: at(0), probe: false, now: at(1), jitter: 0) == .none)
    }
    #expect(
      breaker.answered(failure(), began: at(0), probe: false, now: at(10), jitter: 0)
        == .suspended(reason: "InternalServerError"))
    // What was at work fails too, and tells nothing new.
    for _ in 0..<500 {
      #expect(breaker.answered(failure(), began: at(5), probe: false, now: at(20), jitter: 0) == .none)
    }
    var due: UInt64 = 10
    // The first probes come quickly: it may have been those at work that failed, and not the provider.
    let quick = [UInt64](repeating: 250, count: BreakerSettings().quickProbes)
    for wait in quick + [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
      #expect(breaker.passage(now: at(due + wait - 1)) == .wait(until: at(due + wait)))
      due += wait
      #expect(breaker.passage(now: at(due)) == .probe)
      #expect(breaker.answered(failure(.unknownOutcome), began: at(due), probe: true, now: at(due), jitter: 0) == .none)
    }
    #expect(breaker.passage(now: at(due + 30_000)) == .probe)
    #expect(
      breaker.answered(
        .rejected(reason: "BadTopic"), began: at(due + 30_000), probe: true, now: at(due + 30_001), jitter: 0)
        == .recovered)
    #expect(
      breaker.answered(failure(), began: at(due + 30_002), probe: false, now: at(due + 30_002), jitter: 0) == .none)
    #expect(breaker.isClosed)
  }

  @Test("deliveries that have failed before suspend nothing, and make nobody wait longer")
  func failedBefore() {
    var breaker = breaker()
    func fail(isTelling: Bool, probe: Bool = false, at time: UInt64) {
      _ = breaker.answered(failure(), began: at(time), probe: probe, isTelling: isTelling, now: at(time), jitter: 0)
    }
    for _ in 0..<2_000 { fail(isTelling: false, at: 1) }
    #expect(breaker.isClosed && breaker.trouble == nil && !breaker.heedsAcceptance)
    for _ in 0..<BreakerSettings().failuresInARow { fail(isTelling: true, at: 2) }
    #expect(!breaker.isClosed)
    // As the only ones that are there they probe, again and again at the first pause.
    var now: UInt64 = 2
    for _ in 0..<100 {
      now += 250
      #expect(breaker.passage(now: at(now)) == .probe)
      fail(isTelling: false, probe: true, at: now)
    }
    #expect(breaker.passage(now: at(now + 249)) == .wait(until: at(now + 250)))
  }

  @Test("failures with other answers between them suspend nothing")
  func mixed() {
    var breaker = breaker()
    for number in 1...2_000 {
      let verdict = number.isMultiple(of: 40) ? Verdict.accepted(id: nil) : failure()
      let time = UInt64(number)
      #expect(breaker.answered(verdict, began: at(time), probe: false, now: at(time + 1), jitter: 0) == .none)
    }
    #expect(breaker.isClosed)
  }

  @Test("failures with acceptances between them suspend nothing when only those are told that are heeded")
  func heeded() {
    var breaker = breaker()
    #expect(!breaker.heedsAcceptance)
    for number in 1...2_000 {
      let time = UInt64(number)
      if number.isMultiple(of: 40), breaker.heedsAcceptance {
        _ = breaker.answered(.accepted(id: nil), began: at(time), probe: false, now: at(time + 1), jitter: 0)
        #expect(!breaker.heedsAcceptance)
      } else {
        #expect(breaker.answered(failure(), began: at(time), probe: false, now: at(time + 1), jitter: 0) == .none)
      }
    }
    #expect(breaker.isClosed)
  }

  @Test("a Retry-After of a day is obeyed, with one delivery each hour that tries, and all of it is told")
  func day() throws {
    var breaker = breaker()
    let hour: UInt64 = 3_600_000
    _ = breaker.answered(quota(86_400), began: at(0), probe: false, now: at(0), jitter: 0)
    #expect(breaker.trouble?.state == .waiting && breaker.trouble?.reason == "QUOTA_EXCEEDED")
    #expect(breaker.trouble?.nextTry == at(hour) && breaker.trouble?.until == at(24 * hour))
    for number in 1...3 as ClosedRange<UInt64> {
      let now = at(number * hour)
      #expect(breaker.passage(now: at(number * hour - 1)) == .wait(until: now))
      #expect(breaker.passage(now: now) == .probe)
      #expect(breaker.passage(now: now) == .wait(until: now + 1_000))
      // One that says nothing of time changes nothing of what was asked for.
      let left = 86_400 - Int(number) * 3_600
      _ = breaker.answered(quota(number == 2 ? nil : left), began: now, probe: true, now: now, jitter: 0)
      #expect(breaker.trouble?.nextTry == at((number + 1) * hour) && breaker.trouble?.until == at(24 * hour))
    }
    #expect(breaker.passage(now: at(4 * hour)) == .probe)
    _ = breaker.answered(.accepted(id: nil), began: at(4 * hour), probe: true, now: at(4 * hour), jitter: 0)
    #expect(breaker.isClosed && breaker.trouble == nil)
    // No answer makes it overflow.
    _ = breaker.answered(quota(.max), began: at(5 * hour), probe: false, now: at(5 * hour), jitter: 1)
    #expect(breaker.trouble?.nextTry == at(6 * hour))
  }

  @Test("failures and refusals in a row are told before anything waits for them, and no longer than they last")
  func told() {
    var breaker = breaker()
    for _ in 1..<BreakerSettings().failuresToTell {
      _ = breaker.answered(failure(), began: at(0), probe: false, now: at(1), jitter: 0)
      #expect(breaker.trouble == nil)
    }
    _ = breaker.answered(failure(), began: at(0), probe: false, now: at(1), jitter: 0)
    #expect(breaker.isClosed && breaker.trouble?.state == .failing && breaker.trouble?.reason == "InternalServerError")
    #expect(breaker.heedsAcceptance)
    _ = breaker.answered(.accepted(id: nil), began: at(0), probe: false, now: at(1), jitter: 0)
    #expect(breaker.trouble == nil)

    let refusal = Verdict.rejected(reason: "TopicDisallowed")
    for _ in 1..<BreakerSettings().refusalsToTell {
      _ = breaker.answered(refusal, began: at(0), probe: false, now: at(1), jitter: 0)
      #expect(breaker.trouble == nil)
    }
    _ = breaker.answered(refusal, began: at(0), probe: false, now: at(1), jitter: 0)
    #expect(breaker.isClosed && breaker.trouble?.state == .failing)
    #expect(breaker.trouble?.reason.contains("TopicDisallowed") == true)
    #expect(breaker.heedsAcceptance)
    _ = breaker.answered(.accepted(id: nil), began: at(0), probe: false, now: at(1), jitter: 0)
    #expect(breaker.trouble == nil)
  }

  @Test("an operator's wish lets one try at once, whatever the breaker waits for")
  func hurry() {
    for verdict in [quota(86_400), .blocked(reason: "BadKey")] {
      var breaker = breaker()
      _ = breaker.answered(verdict, began: at(0), probe: false, now: at(0), jitter: 0)
      #expect(breaker.passage(now: at(1)) != .probe)
      breaker.hurry(now: at(1))
      #expect(breaker.passage(now: at(1)) == .probe)
      #expect(breaker.passage(now: at(1)) == .wait(until: at(1_001)))
      // The one that went has no answer yet: another may go beside it.
      breaker.hurry(now: at(2))
      #expect(breaker.passage(now: at(2)) == .probe)
      #expect(breaker.passage(now: at(3)) == .wait(until: at(1_002)))
    }
  }
}
