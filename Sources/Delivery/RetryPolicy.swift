import Domain

/// What a verdict means for one delivery: when it goes again, if it does (design D12). Pure; `jitter` is 0…1.
struct RetryPolicy: Sendable {
  var settings: RetrySettings
  /// How often in a row a delivery goes again at once before it is made to wait after all.
  static let atOnce = 5

  init(_ settings: RetrySettings) { self.settings = settings }

  /// What has happened to a delivery before this verdict.
  struct History: Hashable, Sendable {
    /// Attempts that count, the present one not among them.
    var spent = 0
    /// Times in a row it went again at once.
    var atOnce = 0
    /// Unknown outcomes that were sent again at once.
    var resends = 0
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

  func decide(_ verdict: Verdict, _ history: History, now: WallTime, jitter: Double) -> Decision {
    switch verdict {
    case .accepted: .end(.accepted, reason: nil)
    case .dead(let death): .end(.dead, reason: death.reason)
    case .rejected(let reason): .end(.failed, reason: reason)
    case .blocked: .stay
    case .retry(let retry): decide(retry, history, now: now, jitter: jitter)
    }
  }

  private func decide(_ retry: Retry, _ history: History, now: WallTime, jitter: Double) -> Decision {
    switch retry.cause {
    case .quota, .authorizationTooNew: return .stay
    case .closing, .notProcessed, .wrongConnection, .authorizationExpired, .revised:
      if history.atOnce < Self.atOnce { return bounded(.again(spends: false), retry, history, now: now) }
    case .unknownOutcome:
      let again = history.resends < settings.resendsAtOnce && history.spent + 1 < settings.attempts
      if again { return bounded(.again(spends: true), retry, history, now: now) }
    case .tokenBusy, .serverFault: break
    }
    let spent = history.spent + 1
    guard spent < settings.attempts else { return .end(.failed, reason: retry.reason) }
    if history.isCancelled { return .end(.cancelled, reason: nil) }
    let due = now + delay(retry.cause, spent: spent, retryAfter: retry.retryAfter, jitter: jitter)
    return due < history.expiresAt ? .wait(until: due) : .end(.expired, reason: retry.reason)
  }

  /// What goes again at once still has to go before it expires.
  private func bounded(_ decision: Decision, _ retry: Retry, _ history: History, now: WallTime) -> Decision {
    let first = history.spent == 0 && decision == .again(spends: false)
    return now < (first ? history.startBy : history.expiresAt) ? decision : .end(.expired, reason: retry.reason)
  }

  /// The floor of the cause, or what the provider asked for if that is longer, and over it a random part of a span that
  /// doubles with each attempt.
  func delay(_ cause: Retry.Cause, spent: Int, retryAfter: Int?, jitter: Double) -> Int64 {
    let floor = max(settings.floors[cause] ?? 0, milliseconds(retryAfter))
    return floor + part(of: max(settings.base, settings.floors[cause] ?? 0), doubled: spent - 1, jitter: jitter)
  }

  /// How long a credential waits that ran into its quota for the `times`th time in a row.
  func suspension(_ cause: Retry.Cause, times: Int, retryAfter: Int?, maximum: Int64, jitter: Double) -> Int64 {
    let floor = settings.floors[cause] ?? settings.base
    let doubled = min(maximum, floor << Int64(min(max(0, times - 1), 20)))
    return max(doubled, milliseconds(retryAfter)) + Int64(jitter * Double(min(settings.base, maximum)))
  }

  private func part(of span: Int64, doubled times: Int, jitter: Double) -> Int64 {
    let whole = min(settings.maximum, span << Int64(min(max(0, times), 20)))
    return Int64(min(max(0, jitter), 1) * Double(whole))
  }

  /// A provider that asks for more than a year is not believed.
  private func milliseconds(_ retryAfter: Int?) -> Int64 { Int64(min(max(0, retryAfter ?? 0), 31_536_000)) * 1000 }
}
