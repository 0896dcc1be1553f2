import Domain

/// Waits between tries to reach a peer: doubling, full jitter, back to none by a success.
struct Backoff: Hashable {
  private(set) var failures = 0
  private(set) var until: Instant?
  let base: Int64
  let maximum: Int64

  init(base: Int64, maximum: Int64) {
    self.base = base
    self.maximum = maximum
  }

  /// A failure while it waits already is an echo of the one that began the wait.
  mutating func failed(now: Instant, jitter: Double) {
    guard mayTry(now: now) else { return }
    failures += 1
    let span = min(maximum, base << Int64(min(failures - 1, 20)))
    // At least a tenth, so that no unlucky series becomes a hot loop.
    until = now + max(span / 10, Int64(jitter * Double(span)))
  }

  mutating func succeeded() {
    failures = 0
    until = nil
  }

  /// The next try may come at once; if it fails, the waits go on from where they were.
  mutating func hurry() { until = nil }

  func mayTry(now: Instant) -> Bool { until.map { $0 <= now } ?? true }
}
