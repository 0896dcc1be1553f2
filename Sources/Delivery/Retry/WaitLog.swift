import Domain

/// Which waits of a credential the log tells: the first for a reason, and after it has passed again one a minute at most.
/// The others are counted: a provider that takes one push of many makes the credential wait once for each. Pure.
struct WaitLog {
  /// Milliseconds between two lines for the same reason.
  static let interval: Int64 = 60_000

  private var last: (reason: String, at: Instant)?
  /// The wait that lasts is told.
  private var isTold = false
  /// Since the last line.
  private var waits = 0

  /// The credential waits, or goes on to wait. Not nil: tell it, with how often it waited since the last line.
  mutating func began(_ reason: String, now: Instant) -> Int? {
    waits += 1
    if let last, last.reason == reason, isTold || now - last.at < Self.interval { return nil }
    last = (reason, now)
    isTold = true
    defer { waits = 0 }
    return waits
  }

  /// A refusal of the credential is told each time, and so is its end.
  mutating func blocked() {
    last = nil
    isTold = true
    waits = 0
  }

  /// The credential sends again. Not nil: tell it, with how often it waited since the last line.
  mutating func ended() -> Int? {
    guard isTold else { return nil }
    isTold = false
    defer { waits = 0 }
    return waits
  }
}
