import Domain
import FCM
import Testing

@testable import Delivery

@Suite("Failures of all that little is asked")
struct FailureStreakTests {
  private func failure(_ cause: Retry.Cause = .serverFault, _ retryAfter: Int? = nil) -> Verdict {
    .retry(Retry(cause, reason: "UNAVAILABLE", retryAfter: retryAfter))
  }

  @Test("two failures with nothing taken are told, be it of one delivery or of two, until a push is taken")
  func told() {
    var streak = FailureStreak(BreakerSettings())
    streak.answered(failure(), message: Sample.message(1), now: at(1))
    #expect(streak.trouble(now: at(1)) == nil)
    streak.answered(failure(.unknownOutcome), message: Sample.message(1), now: at(10_000))
    #expect(streak.trouble(now: at(10_000))?.state == .failing)
    #expect(streak.trouble(now: at(10_000))?.reason == "UNAVAILABLE")
    // A wait that is the token's own, or a quota, says nothing here.
    streak.answered(failure(.tokenBusy), message: Sample.message(1), now: at(11_000))
    #expect(streak.trouble(now: at(11_000)) != nil && !streak.isEmpty)
    streak.answered(.accepted(id: nil), message: Sample.message(2), now: at(12_000))
    #expect(streak.trouble(now: at(12_000)) == nil && streak.isEmpty)
  }

  @Test("failures beside pushes that are taken are not told before none was taken for two minutes")
  func recently() {
    var streak = FailureStreak(BreakerSettings())
    streak.answered(.dead(Death(reason: "Gone")), message: nil, now: at(0))
    for time in 1...20 as ClosedRange<UInt64> { streak.answered(failure(), message: nil, now: at(time)) }
    #expect(streak.trouble(now: at(119_999)) == nil)
    #expect(streak.trouble(now: at(120_000)) != nil)
  }

  @Test("refusals of two messages for one reason are told; one message refused for many is one")
  func refused() {
    var streak = FailureStreak(BreakerSettings())
    func refuse(_ number: Int, _ reason: String) {
      streak.answered(.rejected(reason: reason), message: Sample.message(number), now: at(1))
    }
    for _ in 0..<15 { refuse(1, "TopicDisallowed") }
    #expect(streak.trouble(now: at(1)) == nil)
    refuse(2, "PayloadEmpty")
    #expect(streak.trouble(now: at(1)) == nil)
    refuse(3, "PayloadEmpty")
    #expect(streak.trouble(now: at(1))?.reason == "every request is refused: PayloadEmpty")
    // The provider answers again: another trouble begins.
    streak.answered(failure(), message: Sample.message(4), now: at(2))
    #expect(streak.trouble(now: at(2)) == nil)
  }

  @Test("the next try is the retry that comes next")
  func nextRetry() {
    var streak = FailureStreak(BreakerSettings())
    for _ in 0..<2 { streak.answered(failure(), message: nil, now: at(0)) }
    streak.rests(until: at(9_000), now: at(0))
    streak.rests(until: at(5_000), now: at(1))
    streak.rests(until: at(7_000), now: at(2))
    #expect(streak.trouble(now: at(3))?.nextTry == at(5_000))
    streak.rests(until: at(20_000), now: at(5_000))
    #expect(streak.trouble(now: at(5_001))?.nextTry == at(20_000))
    streak.answered(.accepted(id: nil), message: nil, now: at(6_000))
    #expect(streak.nextRetry == nil)
  }

  @Test("a failing provider that asks for more than five minutes asks it of the credential, and of nobody's attempts")
  func longWait() {
    let policy = RetryPolicy(FCMProvider().retry)
    var breaker = CircuitBreaker(settings: BreakerSettings(), policy: policy)
    let (short, long) = (failure(.serverFault, 300), failure(.serverFault, 86_400))
    #expect(short.heedingLongWait == short && failure().heedingLongWait == failure())
    _ = breaker.answered(long.heedingLongWait, began: at(0), probe: false, now: at(0), jitter: 0)
    #expect(breaker.trouble?.state == .waiting && breaker.trouble?.reason == "UNAVAILABLE")
    #expect(breaker.trouble?.nextTry == at(3_600_000) && breaker.trouble?.until == at(86_400_000))
    let history = RetryPolicy.History(
      expiresAt: WallTime(milliseconds: 200_000_000), startBy: WallTime(milliseconds: 200_000_000))
    let now = WallTime(milliseconds: 0)
    #expect(policy.decide(long.heedingLongWait, history, asked: now, now: now, jitter: 0) == .stay)
  }

  @Test("a next try is never shown in the past")
  func shown() {
    let then = WallTime(milliseconds: 1_000_000)
    let condition = CredentialCondition(.failing, reason: "UNAVAILABLE", since: then, nextTry: then + 1_000)
    #expect(condition.shown(now: then) == condition)
    #expect(condition.shown(now: then + 2_000).nextTry == then + 2_000)
    #expect(condition.shown(now: then + 100_000).nextTry == nil)
  }
}
