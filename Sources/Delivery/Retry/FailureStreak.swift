import Domain
import Loop

/// Finds a provider that takes nothing of the little it is asked. The breaker counts the first requests of many
/// deliveries; this counts every answer since the last push that was taken, also those to deliveries that had failed
/// before. Pure.
struct FailureStreak {
  private let settings: BreakerSettings
  private var failures = 0
  private var reason = ""
  /// Messages are refused, all for one reason; otherwise the provider fails.
  private var isRefused = false
  private var refused: MessageID?
  private(set) var lastFailure: Instant?
  private var lastTaken: Instant?
  /// When a delivery that failed goes again: one of those whose turn comes next.
  private(set) var nextRetry: Instant?

  init(_ settings: BreakerSettings) { self.settings = settings }

  /// The next push that is taken has to be told of.
  var isEmpty: Bool { failures == 0 }

  /// A push was taken, or its token called dead by who knows the sender.
  mutating func taken(now: Instant) {
    lastTaken = now
    failures = 0
    nextRetry = nil
  }

  /// `message`: one that is refused for many is one refusal.
  mutating func answered(_ verdict: Verdict, message: MessageID?, now: Instant) {
    switch verdict {
    case .accepted, .dead: taken(now: now)
    case .rejected(let reason):
      lastFailure = now
      guard !isRefused || message != refused || reason != self.reason else { return }
      refused = message
      add(reason, isRefused: true, now: now)
    case .retry(let retry) where retry.cause == .serverFault || retry.cause == .unknownOutcome:
      add(retry.reason, isRefused: false, now: now)
    case .retry, .blocked: break
    }
  }

  private mutating func add(_ reason: String, isRefused: Bool, now: Instant) {
    let isSame = isRefused == self.isRefused && (!isRefused || reason == self.reason)
    failures = isSame ? min(failures + 1, .max - 1) : 1
    self.reason = reason
    self.isRefused = isRefused
    lastFailure = now
  }

  /// A delivery that failed goes again then.
  mutating func rests(until due: Instant, now: Instant) {
    if let nextRetry, nextRetry > now, nextRetry < due { return }
    nextRetry = due
  }

  /// Nil as long as too few failed, or one was taken a moment ago.
  func trouble(now: Instant) -> CircuitBreaker.Trouble? {
    guard failures >= settings.failuresOfAllToTell else { return nil }
    if let lastTaken, now - lastTaken < settings.recently { return nil }
    return .init(
      state: .failing, reason: isRefused ? CircuitBreaker.refusal(reason) : reason, nextTry: isRefused ? nil : nextRetry
    )
  }
}
