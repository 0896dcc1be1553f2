import Domain

/// How long a retry waits that came due while its credential does not send. The credential may send again before its wait is
/// over, after SIGHUP or an accepted probe, so such retries look again each minute. If there are many, a thousand of them look
/// in a second, in the order in which they came.
struct RetryPauses {
  /// Milliseconds.
  static let shortest: Int64 = 60_000
  static let betweenLooks: Int64 = 1

  private var free = Instant(nanoseconds: 0)

  /// Milliseconds until this one looks again; at most `wait`, when the credential is to be tried.
  mutating func next(wait: Int64, now: Instant) -> Int64 {
    let look = max(free, now + Self.shortest)
    let pause = look - now
    guard pause < wait else { return wait }
    free = look + Self.betweenLooks
    return pause
  }
}
