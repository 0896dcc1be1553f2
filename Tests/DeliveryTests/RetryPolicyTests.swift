import Domain
import Testing

@testable import Delivery

@Suite("What a verdict means for a delivery")
struct RetryPolicyTests {
  let apns = RetryPolicy(.vendor(.apns))
  let fcm = RetryPolicy(.vendor(.fcm))
  let oneSignal = RetryPolicy(.vendor(.oneSignal))

  private func history(spent: Int = 0, atOnce: Int = 0, resends: Int = 0, ttl: Int64 = 259_200_000)
    -> RetryPolicy.History
  {
    .init(spent: spent, atOnce: atOnce, resends: resends, expiresAt: wall(ttl), startBy: wall(max(ttl, 10_000)))
  }
  private func decide(
    _ policy: RetryPolicy, _ cause: Retry.Cause, _ history: RetryPolicy.History, retryAfter: Int? = nil,
    jitter: Double = 0
  ) -> RetryPolicy.Decision {
    policy.decide(
      .retry(Retry(cause, reason: "R", retryAfter: retryAfter)), history, now: wall(0), jitter: jitter)
  }

  @Test("a refusal ends it under its own word; the credential's trouble does not")
  func ends() {
    let fresh = history()
    #expect(apns.decide(.accepted(id: "x"), fresh, now: wall(0), jitter: 0) == .end(.accepted, reason: nil))
    #expect(apns.decide(.rejected(reason: "TooBig"), fresh, now: wall(0), jitter: 0) == .end(.failed, reason: "TooBig"))
    #expect(
      apns.decide(.dead(Death(reason: "Gone")), fresh, now: wall(0), jitter: 0) == .end(.dead, reason: "Gone"))
    #expect(apns.decide(.blocked(reason: "Key"), fresh, now: wall(0), jitter: 0) == .stay)
    #expect(decide(apns, .quota, fresh) == .stay)
    #expect(decide(apns, .authorizationTooNew, fresh) == .stay)
  }

  @Test("the vendors' floors hold whatever the jitter, and jitter only adds")
  func floors() {
    #expect(decide(apns, .serverFault, history()) == .wait(until: wall(900_000)))
    #expect(decide(apns, .serverFault, history(), jitter: 1) == .wait(until: wall(1_800_000)))
    #expect(decide(apns, .tokenBusy, history()) == .wait(until: wall(30_000)))
    #expect(decide(fcm, .serverFault, history()) == .wait(until: wall(10_000)))
    #expect(decide(fcm, .unknownOutcome, history()) == .wait(until: wall(10_000)))
    #expect(decide(oneSignal, .unknownOutcome, history()) == .wait(until: wall(100_000)))
  }

  @Test("Retry-After is a floor too, and no peer makes a wait overflow")
  func retryAfter() {
    #expect(decide(fcm, .serverFault, history(), retryAfter: 30) == .wait(until: wall(30_000)))
    #expect(decide(fcm, .serverFault, history(), retryAfter: 3) == .wait(until: wall(10_000)))
    #expect(decide(fcm, .serverFault, history(), retryAfter: .max) == .end(.expired, reason: "R"))
  }

  @Test("the span over the floor doubles with each attempt, up to its maximum")
  func doubling() {
    let first = fcm.delay(.serverFault, spent: 1, retryAfter: nil, jitter: 1)
    #expect(first == 20_000)
    #expect(fcm.delay(.serverFault, spent: 2, retryAfter: nil, jitter: 1) == 30_000)
    #expect(fcm.delay(.serverFault, spent: 60, retryAfter: nil, jitter: 1) == 3_610_000)
  }

  @Test("the last attempt fails it with its reason, and nothing waits beyond its time to live")
  func bounds() {
    #expect(decide(apns, .serverFault, history(spent: 9)) == .end(.failed, reason: "R"))
    #expect(decide(apns, .serverFault, history(spent: 8)) == .wait(until: wall(900_000)))
    #expect(decide(apns, .serverFault, history(ttl: 900_000)) == .end(.expired, reason: "R"))
    #expect(decide(apns, .tokenBusy, history(ttl: 0)) == .end(.expired, reason: "R"))
  }

  @Test("what the peer did not process goes again at once, spends nothing, and does not spin")
  func atOnce() {
    #expect(decide(apns, .notProcessed, history()) == .again(spends: false))
    #expect(decide(apns, .closing, history(atOnce: RetryPolicy.atOnce - 1)) == .again(spends: false))
    #expect(decide(apns, .closing, history(atOnce: RetryPolicy.atOnce)) == .wait(until: wall(0)))
    #expect(decide(apns, .closing, history(atOnce: RetryPolicy.atOnce), jitter: 1) == .wait(until: wall(1_000)))
    // A ttl of 0 promises one attempt: what was not processed was none.
    #expect(decide(apns, .notProcessed, history(ttl: 0)) == .again(spends: false))
  }

  @Test("an unknown outcome goes again at once to APNs only, and only once")
  func unknown() {
    #expect(decide(apns, .unknownOutcome, history()) == .again(spends: true))
    #expect(decide(apns, .unknownOutcome, history(spent: 1, resends: 1), jitter: 0.5) == .wait(until: wall(1_000)))
    #expect(decide(apns, .unknownOutcome, history(ttl: 0)) == .end(.expired, reason: "R"))
  }

  @Test("no history of answers keeps a delivery for ever", arguments: Retry.Cause.allCases)
  func terminates(cause: Retry.Cause) {
    guard cause != .quota, cause != .authorizationTooNew else { return }
    var past = history(ttl: .max / 2)
    for _ in 0..<200 {
      switch decide(fcm, cause, past, jitter: 0.7) {
      case .end: return
      case .wait: past.spent += 1
      case .again(let spends):
        past.atOnce += 1
        if spends {
          past.spent += 1
          past.resends += 1
        }
      case .stay: Issue.record("\(cause) keeps it")
      }
    }
    Issue.record("\(cause) never ended")
  }
}
