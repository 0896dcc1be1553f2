import Domain

/// Lets so many log lines pass in a second and counts the rest.
struct RateLimit {
  private let interval: Int64
  private var next: Instant?
  private var skipped = 0

  init(perSecond: Int64) { interval = 1000 / perSecond }

  /// How many were skipped before this one; nil: skip this one too.
  mutating func pass(now: Instant) -> Int? {
    if let next, now < next {
      skipped += 1
      return nil
    }
    next = now + interval
    defer { skipped = 0 }
    return skipped
  }
}
