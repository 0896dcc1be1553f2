import Domain

/// The probes of one credential that is not open, and when another may go beside those without an answer: one that is
/// never answered must not hold the credential for its whole time-out. Deliveries that have failed before are paced by
/// themselves, as they are no reason for the others to wait longer.
struct Probes {
  private struct Pace: Hashable {
    /// How many have gone since the first.
    var count = 0
    var next: Instant?
  }

  private(set) var atWork = 0
  /// All that ever went.
  private(set) var gone = 0
  private var fresh = Pace()
  private var failed = Pace()
  /// Before the last one went.
  private var before: (fresh: Pace, failed: Pace)?

  /// The first of a series goes.
  mutating func begin() {
    fresh = Pace()
    failed = Pace()
  }

  func mayGo(isFresh: Bool, now: Instant) -> Bool { ((isFresh ? fresh : failed).next ?? now) <= now }

  /// When it is worth to ask again; nil as `now`: whenever that is.
  func next(after now: Instant?) -> Instant? {
    [fresh.next, failed.next].compactMap { $0 }.filter { next in now.map { $0 < next } ?? true }.min()
  }

  mutating func go(isFresh: Bool, now: Instant, _ settings: BreakerSettings) {
    before = (fresh, failed)
    atWork += 1
    gone &+= 1
    let soon = now + settings.probePatience
    let span = settings.probePatience << Int64(min(isFresh ? fresh.count : failed.count, 20))
    let later = now + max(settings.probePatience, min(settings.probeInterval, span))
    if isFresh {
      fresh = Pace(count: fresh.count + 1, next: later)
      failed.next = max(failed.next ?? soon, soon)
    } else {
      failed = Pace(count: failed.count + 1, next: later)
      fresh.next = max(fresh.next ?? soon, soon)
    }
  }

  /// Another one may go now.
  mutating func hurry(now: Instant) {
    fresh.next = fresh.next.map { min($0, now) }
    failed.next = failed.next.map { min($0, now) }
  }

  mutating func ended() { atWork -= 1 }

  /// The last one counts as not gone, and another may go from `now` on.
  mutating func allowAnother(now: Instant) {
    if let before { (fresh, failed) = before }
    before = nil
    fresh.next = max(fresh.next ?? now, now)
    failed.next = max(failed.next ?? now, now)
  }
}
