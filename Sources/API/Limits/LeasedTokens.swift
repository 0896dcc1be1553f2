import Domain
import Store

/// Tokens of a shared bucket that this process has leased and may spend without asking (decision 0068). Values only.
struct LeasedTokens {
  /// A process leases so small a part of a bucket at a time, one token at least.
  static let parts = 16
  /// Milliseconds in which nobody asks again, after the bucket had too few and after Redis did not answer.
  static let pauseWhenEmpty: Int64 = 20
  static let pauseWhenUnanswered: Int64 = 250

  /// What is to become of a use.
  enum Verdict: Hashable {
    case granted
    /// Milliseconds until the bucket has as many.
    case refused(wait: Int64)
    /// The bucket must be asked first.
    case unknown
  }

  let limit: RateLimit
  private(set) var held = 0
  /// In the bucket, when it was asked last.
  private(set) var elsewhere: Int
  /// Leased tokens that nobody has spent for a window have come again in the bucket by now.
  private var lapseAt = Instant(nanoseconds: 0)
  /// As many and more were refused, and are until then.
  private var refused = Int.max
  private var refusedUntil = Instant(nanoseconds: 0)
  private var uncheckedUntil = Instant(nanoseconds: 0)

  init(_ limit: RateLimit) {
    self.limit = limit
    elsewhere = limit.quota
  }

  var portion: Int { max(1, limit.quota / Self.parts) }
  /// As far as this process knows.
  var left: Int { held + elsewhere }
  var isLow: Bool { left < limit.quota / 2 }

  /// More should be leased before these are spent.
  func isRunningOut(_ now: Instant) -> Bool { held < portion / 2 && now >= refusedUntil && now >= uncheckedUntil }

  /// `count`: at most the quota.
  mutating func take(_ count: Int, now: Instant) -> Verdict {
    if now >= lapseAt { held = 0 }
    if count <= held {
      held -= count
      return .granted
    }
    if now < uncheckedUntil { return .granted }
    if count >= refused, now < refusedUntil { return .refused(wait: max(1, refusedUntil - now)) }
    return .unknown
  }

  /// Puts aside what is held towards `count` tokens; the bucket is asked for the rest.
  mutating func reserve(_ count: Int) -> Int {
    let reserved = min(held, count - 1)
    held -= reserved
    return reserved
  }

  /// `least`: what was asked for.
  mutating func answered(_ lease: TokenLease, least: Int, now: Instant) {
    elsewhere = max(0, lease.left)
    if lease.granted > 0 {
      held += lease.granted
      lapseAt = now + limit.window
      refused = .max
    } else {
      refused = least
      refusedUntil = now + max(lease.wait, Self.pauseWhenEmpty)
    }
  }

  /// Nobody knows what the bucket holds: for a moment everything passes.
  mutating func unanswered(now: Instant) { uncheckedUntil = now + Self.pauseWhenUnanswered }

  mutating func refund(_ count: Int) { held = min(limit.quota, held + count) }
}
