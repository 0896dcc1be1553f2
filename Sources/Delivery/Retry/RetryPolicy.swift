import Domain

/// What a verdict means for one delivery: when it goes again, if it does (design D12). Pure; `jitter` is 0…1.
struct RetryPolicy: Sendable {
  let settings: RetryRules
  /// How often in a row a delivery goes again at once before it is made to wait after all.
  static let atOnce = 5

  init(_ settings: RetryRules) { self.settings = settings }

  /// What has happened to a delivery before this verdict.
  struct History: Hashable, Sendable {
    /// Attempts that count, the present one not among them.
    var spent = 0
    /// Those of them that nobody answered.
    var unanswered = 0
    /// Times in a row it went again at once.
    var atOnce = 0
    /// When the first attempt that counts was made; nil: the present one is that.
    var firstAttempt: WallTime?
    /// No second attempt starts after it.
    var expiresAt: WallTime
    /// No first attempt starts after it: a little later than `expiresAt` for `ttl: 0`, which means one attempt.
    var startBy: WallTime
    /// Its message is: it does not wait for another attempt.
    var isCancelled = false
  }

  enum Decision: Hashable, Sendable {
    case end(Outcome, reason: String?)
    /// Into the retry set; the attempt counts.
    case wait(until: WallTime)
    /// Again at once, if possible on another connection. `spends`: the attempt counts.
    case again(spends: Bool)
    /// The credential waits; the delivery goes back to the head of its lane and no attempt is spent.
    case stay
  }

  /// `asked`: when the request was made that got this verdict.
  func decide(_ verdict: Verdict, _ history: History, asked: WallTime, now: WallTime, jitter: Double) -> Decision {
    switch verdict {
    case .accepted: .end(.accepted, reason: nil)
    case .dead(let death): .end(.dead, reason: death.reason)
    case .rejected(let reason): .end(.failed, reason: reason)
    case .blocked: .stay
    case .retry(let retry): decide(retry, history, asked: asked, now: now, jitter: jitter)
    }
  }

  private func decide(_ retry: Retry, _ history: History, asked: WallTime, now: WallTime, jitter: Double) -> Decision {
    switch retry.cause {
    case .quota, .authorizationTooNew: return .stay
    case .notProcessed, .wrongConnection, .revised:
      if history.atOnce < Self.atOnce { return bounded(.again(spends: false), retry, history, now: now) }
    case .authorizationExpired:
      // Refused again although it was renewed, the credential is blocked and tried with one delivery: no attempt of that one.
      guard history.atOnce < Self.atOnce else { return .stay }
      return bounded(.again(spends: false), retry, history, now: now)
    case .closing:
      // What has waited once does not go twice at a time any more.
      let most = settings.resendsAtOnce[.closing] ?? Self.atOnce
      if history.spent == 0, history.atOnce < most { return bounded(.again(spends: false), retry, history, now: now) }
    case .unknownOutcome:
      let again = history.unanswered < settings.resendsAtOnce[.unknownOutcome] ?? 0 && mayTry(history.spent + 1)
      if again { return bounded(.again(spends: true), retry, history, now: now) }
    case .tokenBusy, .serverFault: break
    }
    guard mayTry(history.spent + 1) else { return .end(.failed, reason: Self.exhausted(retry.reason)) }
    if history.isCancelled { return .end(.cancelled, reason: nil) }
    return wait(retry, history, asked: asked, now: now, jitter: jitter)
  }

  private func mayTry(_ spent: Int) -> Bool { settings.attempts.map { spent < $0 } ?? true }

  // MARK: Ends

  /// The reason of a delivery that had all attempts that the operator allows.
  static func exhausted(_ reason: String?) -> String { worded("attempts_exhausted", reason) }
  /// … that was tried for as long as its vendor allows.
  static func givenUp(_ reason: String?) -> String { worded("given_up", reason) }
  private static func worded(_ word: String, _ reason: String?) -> String { reason.map { "\(word): \($0)" } ?? word }

  /// Its vendor does not let it be tried any more.
  func isGivenUp(firstAttempt: WallTime?, now: WallTime) -> Bool {
    guard let most = settings.giveUpAfter, let firstAttempt else { return false }
    return firstAttempt + most <= now
  }

  /// What goes again at once still has to go before it expires.
  private func bounded(_ decision: Decision, _ retry: Retry, _ history: History, now: WallTime) -> Decision {
    let first = history.spent == 0 && decision == .again(spends: false)
    if now >= (first ? history.startBy : history.expiresAt) { return .end(.expired, reason: retry.reason) }
    return isGivenUp(firstAttempt: history.firstAttempt, now: now)
      ? .end(.failed, reason: Self.givenUp(retry.reason)) : decision
  }

  // MARK: Waits

  /// A last attempt goes this long before the end of its time.
  static let lastChance: Int64 = 5_000

  private func wait(_ retry: Retry, _ history: History, asked: WallTime, now: WallTime, jitter: Double) -> Decision {
    let end = settings.giveUpAfter.map { min(history.expiresAt, (history.firstAttempt ?? asked) + $0) }
    let until = end ?? history.expiresAt
    let times = history.spent + 1
    let passed = max(0, now - asked)
    let due =
      now + delay(retry.cause, times: times, passed: passed, retryAfter: retry.retryAfter, jitter: jitter)
    if due < until { return .wait(until: due) }
    // The wait has outgrown what is left: one more attempt before that ends, if the cause's own floor allows it.
    let last = until + -Self.lastChance
    let soonest = now + delay(retry.cause, times: 1, passed: passed, retryAfter: retry.retryAfter, jitter: 0)
    if soonest <= last { return .wait(until: last) }
    // Nobody is sent away by a provider's wish before its own time is over.
    if retry.retryAfter != nil, now < until { return .wait(until: until) }
    return until < history.expiresAt
      ? .end(.failed, reason: Self.givenUp(retry.reason)) : .end(.expired, reason: retry.reason)
  }

  /// The wait after the `times`th attempt that counts, whose request was made `passed` milliseconds ago: the cause's first wait, doubled
  /// each time, with up to a half by chance, within the longest. Never shorter than what the vendor asked for.
  func delay(_ cause: Retry.Cause, times: Int, passed: Int64 = 0, retryAfter: Int?, jitter: Double) -> Int64 {
    let first = settings.floors[cause] ?? settings.base
    var wait = doubled(first, times)
    var chance = wait / 2
    if cause == .unknownOutcome {
      // It may still be at work: the floor counts from the request.
      wait = max(wait - passed, doubled(settings.base, times))
      chance = min(chance, wait / 2)
    }
    return max(wait, milliseconds(retryAfter)) + Int64(min(max(0, jitter), 1) * Double(chance))
  }

  /// What chance adds fits within the longest wait.
  private func doubled(_ first: Int64, _ times: Int) -> Int64 {
    max(first, min(first << Int64(min(max(0, times - 1), 20)), settings.maximum / 3 * 2))
  }

  /// How long a credential waits that ran into its quota for the `times`th time in a row.
  func suspension(_ cause: Retry.Cause, times: Int, retryAfter: Int?, maximum: Int64, jitter: Double) -> Int64 {
    let floor = settings.floors[cause] ?? settings.base
    let doubled = min(maximum, floor << Int64(min(max(0, times - 1), 20)))
    return max(doubled, milliseconds(retryAfter)) + Int64(jitter * Double(min(settings.base, maximum)))
  }

  /// A provider that asks for more than a year is not believed.
  private func milliseconds(_ retryAfter: Int?) -> Int64 { Int64(min(max(0, retryAfter ?? 0), 31_536_000)) * 1000 }
}
