import Domain

package struct ConcurrencySettings: Sendable {
  /// Requests that may always be at work.
  package var minimum = 4
  /// Answers in milliseconds that are never called slow, and how many times its usual time makes an answer slow.
  package var calm = 1_000.0
  package var slow = 4.0
  /// The share of failures (5xx, no answer) from which a peer has too much to do.
  package var overload = 0.2
  /// Answers looked at together.
  package var window = 50
  package init() {}
}

/// How many requests of one credential may be at work at the same time, below what the peer's SETTINGS allow (design D14): it is
/// lowered by half by a quota (429) and by a third when answers take much longer than usual or many of them are failures, once for
/// the requests that were at work together, and raised step by step while all is well.
struct ConcurrencyLimit {
  private let settings: ConcurrencySettings
  /// Nil: only the peer's own limit holds.
  private(set) var bound: Int?
  /// Of answers that were given under no strain, in milliseconds.
  private(set) var usual: Double?
  private var window = (count: 0, failures: 0, unanswered: 0, time: 0.0, most: 0)
  /// Of the last answers, in milliseconds.
  private var recent = 0.0
  /// Requests begun before it say nothing new.
  private var lowered: Instant?

  init(_ settings: ConcurrencySettings) { self.settings = settings }

  /// One more may begin; `reserve`: leaving this share to others.
  func mayBegin(atWork: Int, reserve: Double = 0) -> Bool {
    room(atWork: atWork, reserve: reserve) > 0
  }

  /// How many more may begin.
  func room(atWork: Int, reserve: Double = 0) -> Int {
    guard let bound else { return .max }
    return bound - Int(Double(bound) * reserve) - atWork
  }

  /// Milliseconds after which an answer is late as others are not: who waits for it takes up no place of theirs.
  var patience: Int64 { Int64(max(settings.calm, settings.slow * recent)) }

  /// A request has ended; `atWork`: how many were at work, it among them; `capacity`: how many the peer allows.
  mutating func answered(
    _ verdict: Verdict, took milliseconds: Double, began: Instant, atWork: Int, capacity: @autoclosure () -> Int,
    now: Instant
  ) {
    if let lowered, began < lowered { return }
    var (isFailure, isAnswer) = (false, true)
    if case .retry(let retry) = verdict {
      switch retry.cause {
      case .quota: return lower(to: 0.5, atWork: atWork, now: now)
      case .serverFault: isFailure = true
      case .unknownOutcome: (isFailure, isAnswer) = (true, false)
      case .authorizationExpired, .authorizationTooNew, .closing, .notProcessed, .wrongConnection, .revised, .tokenBusy:
        break
      }
    }
    window.count += 1
    if isAnswer {
      window.time += milliseconds
      recent += 0.1 * (milliseconds - recent)
    } else {
      window.unanswered += 1
    }
    window.most = max(window.most, atWork)
    if isFailure { window.failures += 1 }
    if window.count >= min(settings.window, max(settings.minimum, bound ?? .max)) {
      judge(capacity: capacity(), now: now)
    }
  }

  private mutating func judge(capacity: Int, now: Instant) {
    let (count, failures, unanswered, time, most) = window
    window = (0, 0, 0, 0, 0)
    // What nobody answered took as long as it was waited for: it is a failure, and tells nothing of how long answers take.
    let mean = time / Double(max(1, count - unanswered))
    let isSlow = mean > max(settings.calm, settings.slow * (usual ?? mean))
    if isSlow || Double(failures) >= settings.overload * Double(count) {
      return lower(to: 2.0 / 3, atWork: most, now: now)
    }
    guard unanswered < count else { return }
    // Slowly, so that strain that grows over minutes does not become usual.
    usual = usual.map { $0 + (mean - $0) * (mean < $0 ? 0.1 : 0.01) } ?? mean
    guard let bound else { return }
    // Only a bound that is reached says that more would be of use.
    guard most * 2 > bound else { return }
    let raised = bound + max(1, bound / 10)
    self.bound = raised >= capacity ? nil : raised
  }

  private mutating func lower(to share: Double, atWork: Int, now: Instant) {
    let from = min(bound ?? atWork, max(atWork, settings.minimum))
    bound = max(settings.minimum, Int(Double(from) * share))
    lowered = now
    window = (0, 0, 0, 0, 0)
  }
}
