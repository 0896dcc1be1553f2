import Domain

/// Whether the bytes of a body or an answer move fast enough. In each window of time so many bytes must move as the least
/// rate asks for, and all must have moved by the end. Values only.
struct TransferPace {
  private let window: Int64
  private let bytesPerWindow: Int
  private let end: Instant
  private var windowEnd: Instant
  private var moved = 0

  /// `window`, `longest`: milliseconds; `leastRate`: bytes a second.
  init(now: Instant, window: Int64, leastRate: Int, longest: Int64) {
    self.window = window
    let (bytes, isMore) = leastRate.multipliedReportingOverflow(by: Int(clamping: window))
    bytesPerWindow = isMore ? .max : max(1, bytes / 1_000)
    end = now + longest
    windowEnd = now + window
  }

  /// When it will have been too slow, unless more moves until then.
  var deadline: Instant { min(windowEnd, end) }

  mutating func move(_ bytes: Int, now: Instant) {
    let (sum, isMore) = moved.addingReportingOverflow(bytes)
    moved = isMore ? .max : sum
    guard moved >= bytesPerWindow else { return }
    moved = 0
    windowEnd = now + window
  }
}
