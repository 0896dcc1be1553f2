import APNs
import Domain
import FCM
import OneSignal
import Testing

@testable import Delivery

@Suite("What a verdict means for a delivery")
struct RetryPolicyTests {
  let apns = RetryPolicy(APNsProvider().retry)
  let fcm = RetryPolicy(FCMProvider().retry)
  let oneSignal = RetryPolicy(OneSignalProvider().retry)

  private static let day: Int64 = 86_400_000
  private static let hour: Int64 = 3_600_000

  private func history(
    spent: Int = 0, unanswered: Int = 0, atOnce: Int = 0, first: Int64? = nil, ttl: Int64 = 3 * day
  ) -> RetryPolicy.History {
    .init(
      spent: spent, unanswered: unanswered, atOnce: atOnce, firstAttempt: first.map(wall), expiresAt: wall(ttl),
      startBy: wall(max(ttl, 10_000)))
  }
  private func decide(
    _ policy: RetryPolicy, _ cause: Retry.Cause, _ history: RetryPolicy.History, retryAfter: Int? = nil,
    asked: Int64 = 0, now: Int64 = 0, jitter: Double = 0
  ) -> RetryPolicy.Decision {
    policy.decide(
      .retry(Retry(cause, reason: "R", retryAfter: retryAfter)), history, asked: wall(asked), now: wall(now),
      jitter: jitter)
  }
  /// The first waits of a delivery that gets the same answer each time, in seconds; 0: at once.
  private func waits(
    _ policy: RetryPolicy, _ cause: Retry.Cause, _ count: Int = 4, takes: Int64 = 0, jitter: Double = 0
  ) -> [Double] {
    var (past, now, waits) = (history(first: 0), Int64(0), [Double]())
    for _ in 0..<count {
      let asked = now
      now += takes
      switch decide(policy, cause, past, asked: asked, now: now, jitter: jitter) {
      case .wait(let due):
        now = due.milliseconds - wall(0).milliseconds
        past.spent += 1
        past.atOnce = 0
      case .again(let spends):
        past.atOnce += 1
        if spends { past.spent += 1 }
      case .stay, .end: return waits
      }
      if cause == .unknownOutcome { past.unanswered += 1 }
      waits.append(Double(now - asked) / 1_000)
    }
    return waits
  }

  @Test("a refusal ends it under its own word; the credential's trouble does not")
  func ends() {
    let fresh = history()
    func end(_ verdict: Verdict) -> RetryPolicy.Decision {
      apns.decide(verdict, fresh, asked: wall(0), now: wall(0), jitter: 0)
    }
    #expect(end(.accepted(id: "x")) == .end(.accepted, reason: nil))
    #expect(end(.rejected(reason: "TooBig")) == .end(.failed, reason: "TooBig"))
    #expect(end(.dead(Death(reason: "Gone"))) == .end(.dead, reason: "Gone"))
    #expect(end(.blocked(reason: "Key")) == .stay)
    #expect(decide(apns, .quota, fresh) == .stay)
    #expect(decide(apns, .authorizationTooNew, fresh) == .stay)
  }

  @Test("each cause waits as its vendor's sheet asks, twice as long each time")
  func sheets() {
    #expect(waits(apns, .tokenBusy) == [30, 60, 120, 240])
    #expect(waits(apns, .tokenBusy, jitter: 1) == [45, 90, 180, 360])
    #expect(waits(apns, .serverFault) == [900, 1_800, 3_600, 7_200])
    #expect(waits(apns, .closing) == [0, 900, 1_800, 3_600])
    #expect(waits(apns, .unknownOutcome) == [0, 2, 4, 8])
    #expect(waits(fcm, .serverFault) == [10, 20, 40, 80])
    #expect(waits(fcm, .unknownOutcome, takes: 30_000) == [40, 50, 70, 110])
    #expect(waits(fcm, .tokenBusy) == [60, 120, 240, 480])
    #expect(waits(oneSignal, .serverFault) == [2, 4, 8, 16])
    #expect(waits(oneSignal, .serverFault, jitter: 1) == [3, 6, 12, 24])
    // Counted from the request: a timeout is part of the wait.
    #expect(waits(oneSignal, .unknownOutcome) == [100, 200, 400, 800])
    #expect(waits(oneSignal, .unknownOutcome, takes: 60_000) == [100, 200, 400, 800])
    #expect(waits(oneSignal, .unknownOutcome, takes: 200_000)[0] == 202)
  }

  @Test("waits grow up to an hour, to APNs up to four, and chance stays within that", arguments: [0, 0.5, 1])
  func longest(jitter: Double) {
    for (policy, longest) in [(apns, 4 * Self.hour), (oneSignal, Self.hour)] {
      for cause in [Retry.Cause.serverFault, .unknownOutcome, .tokenBusy] {
        let wait = policy.delay(cause, times: 40, retryAfter: nil, jitter: jitter)
        #expect(wait <= longest && wait >= longest / 3 * 2, "\(cause) \(wait)")
      }
    }
    // A floor goes before what an operator allows at most.
    var short = APNsProvider().retry
    short.maximum = 60_000
    #expect(RetryPolicy(short).delay(.serverFault, times: 9, retryAfter: nil, jitter: 0) == 900_000)
  }

  @Test("Retry-After is a floor too, and no peer makes a wait overflow")
  func retryAfter() {
    #expect(decide(fcm, .serverFault, history(), retryAfter: 30) == .wait(until: wall(30_000)))
    #expect(decide(fcm, .serverFault, history(), retryAfter: 3) == .wait(until: wall(10_000)))
    // Longer than it lives: it waits until its time is over, and is not sent away before.
    for asked in [86_400, .max] {
      let waiting = history(ttl: 3_600_000)
      #expect(decide(fcm, .serverFault, waiting, retryAfter: asked) == .wait(until: waiting.expiresAt))
    }
    var over = history()
    over.expiresAt = wall(0)
    #expect(decide(fcm, .serverFault, over, retryAfter: 86_400) == .end(.expired, reason: "R"))
  }

  @Test("it is tried as long as it has time, unless the operator has set attempts: the reason says which")
  func bounds() {
    #expect(decide(apns, .serverFault, history(spent: 500)) == .wait(until: wall(9_600_000)))
    var bounded = APNsProvider().retry
    bounded.attempts = 10
    #expect(
      decide(RetryPolicy(bounded), .serverFault, history(spent: 9)) == .end(.failed, reason: "attempts_exhausted: R"))
    #expect(decide(RetryPolicy(bounded), .serverFault, history(spent: 8)) == .wait(until: wall(9_600_000)))
    #expect(decide(apns, .serverFault, history(ttl: 900_000)) == .end(.expired, reason: "R"))
    #expect(decide(apns, .tokenBusy, history(ttl: 0)) == .end(.expired, reason: "R"))
  }

  @Test("what would come too late goes once more before its time is over, if the vendor's first wait allows it")
  func lastChance() {
    #expect(decide(apns, .serverFault, history(spent: 4, ttl: 2 * Self.hour)) == .wait(until: wall(7_195_000)))
    #expect(decide(apns, .serverFault, history(spent: 4, ttl: 905_000)) == .wait(until: wall(900_000)))
    #expect(decide(apns, .serverFault, history(spent: 4, ttl: 904_999)) == .end(.expired, reason: "R"))
    // That was it.
    #expect(
      decide(oneSignal, .serverFault, history(spent: 9, ttl: 7_200_000), now: 7_195_000)
        == .end(.expired, reason: "R"))
  }

  @Test("FCM is asked for 60 minutes and no longer")
  func givenUp() {
    let late = history(spent: 8, first: 0)
    #expect(decide(fcm, .serverFault, late, now: 1_000_000) == .wait(until: wall(3_400_000)))
    #expect(decide(fcm, .serverFault, late, now: 2_000_000) == .wait(until: wall(3_595_000)))
    #expect(decide(fcm, .serverFault, late, now: 3_595_000) == .end(.failed, reason: "given_up: R"))
    #expect(decide(fcm, .notProcessed, late, now: 3_600_000) == .end(.failed, reason: "given_up: R"))
    // What has less time than that ends for that reason.
    #expect(
      decide(fcm, .serverFault, history(spent: 8, first: 0, ttl: 1_800_000), now: 1_796_000)
        == .end(.expired, reason: "R"))
    #expect(!fcm.isGivenUp(firstAttempt: wall(0), now: wall(3_599_999)))
    #expect(fcm.isGivenUp(firstAttempt: wall(0), now: wall(3_600_000)))
    #expect(!fcm.isGivenUp(firstAttempt: nil, now: wall(Self.day)))
    #expect(!apns.isGivenUp(firstAttempt: wall(0), now: wall(Self.day)))
  }

  @Test("what the peer did not process goes again at once, spends nothing, and does not spin")
  func atOnce() {
    #expect(decide(apns, .notProcessed, history()) == .again(spends: false))
    #expect(decide(apns, .wrongConnection, history(atOnce: RetryPolicy.atOnce - 1)) == .again(spends: false))
    #expect(decide(apns, .wrongConnection, history(atOnce: RetryPolicy.atOnce)) == .wait(until: wall(1_000)))
    #expect(
      decide(apns, .wrongConnection, history(atOnce: RetryPolicy.atOnce), jitter: 1) == .wait(until: wall(1_500)))
    // However often it is the one that tries for a refused credential.
    #expect(decide(fcm, .authorizationExpired, history()) == .again(spends: false))
    #expect(decide(fcm, .authorizationExpired, history(atOnce: RetryPolicy.atOnce)) == .stay)
    // A ttl of 0 promises one attempt: what was not processed was none.
    #expect(decide(apns, .notProcessed, history(ttl: 0)) == .again(spends: false))
  }

  @Test("an unknown outcome and a server that goes away are met once at once by APNs only, and only once")
  func once() {
    #expect(decide(apns, .unknownOutcome, history()) == .again(spends: true))
    #expect(decide(apns, .unknownOutcome, history(spent: 1, unanswered: 1)) == .wait(until: wall(2_000)))
    // A wait in between changes nothing.
    #expect(decide(apns, .unknownOutcome, history(spent: 2, unanswered: 1)) == .wait(until: wall(4_000)))
    #expect(decide(apns, .unknownOutcome, history(ttl: 0)) == .end(.expired, reason: "R"))
    #expect(decide(apns, .closing, history()) == .again(spends: false))
    #expect(decide(apns, .closing, history(atOnce: 1)) == .wait(until: wall(900_000)))
    #expect(decide(apns, .closing, history(spent: 1)) == .wait(until: wall(1_800_000)))
    for policy in [fcm, oneSignal] {
      if case .again = decide(policy, .unknownOutcome, history()) { Issue.record("it may be at work") }
    }
  }

  @Test(
    "no history of answers keeps a delivery beyond its time, or makes more requests than that has room for",
    arguments: Retry.Cause.allCases)
  func terminates(cause: Retry.Cause) {
    // With these the credential waits, and the delivery with it.
    guard ![.quota, .authorizationTooNew, .authorizationExpired].contains(cause) else { return }
    for policy in [apns, fcm, oneSignal] {
      var (past, now, requests) = (history(first: 0, ttl: 30 * Self.day), Int64(0), 0)
      history: while true {
        requests += 1
        switch decide(policy, cause, past, asked: now, now: now, jitter: 0.7) {
        case .end: break history
        case .wait(let due):
          let next = due.milliseconds - wall(0).milliseconds
          #expect(next > now)
          now = next
          past.spent += 1
        case .again(let spends):
          past.atOnce += 1
          if spends {
            past.spent += 1
            past.unanswered += 1
          }
        case .stay: Issue.record("\(cause) keeps it")
        }
        guard requests < 2_000 else { break }
      }
      #expect(now <= 30 * Self.day && requests < 1_200, "\(cause) \(requests)")
    }
  }
}
