/// A cumulative sum of log-likelihood ratios over verdicts on tokens: it falls with those that live, and passes a bound within some
/// twenty verdicts when all are called dead, whatever went before. What is ahead of it at one time is answered in any order, the dead
/// often first (they need no delivery) or last (their answers have a body), or stands in the order of registration: among those the
/// sum keeps what the living have earned, and counts those that are still ahead as alive.
struct JumpSum {
  /// What one verdict adds.
  struct Weights {
    var dead = 0.0
    var alive = 0.0
  }

  private(set) var sum = 0.0
  /// Since a living token last left the sum at 0 or less.
  private(set) var run = (seen: 0, dead: 0)
  private var spread = Spread()

  mutating func alive(_ weights: Weights, ahead: Int) {
    spread.saw(ahead)
    run.seen += 1
    sum += weights.alive
    bottom(weights, ahead)
    if sum <= 0 { run = (0, 0) }
  }

  /// The sum, if all that is ahead were alive.
  mutating func dead(_ weights: Weights, ahead: Int) -> Double {
    spread.saw(ahead)
    run.seen += 1
    run.dead += 1
    sum += weights.dead
    let least = sum + weights.alive * Double(ahead)
    bottom(weights, ahead)
    return least
  }

  /// What was reached before proves nothing now.
  mutating func forget() {
    sum = max(0, sum)
    spread = Spread()
  }

  /// What was earned by those that ended before any now ahead was there counts no more.
  private mutating func bottom(_ weights: Weights, _ ahead: Int) {
    if ahead == 0 { spread = Spread() }
    sum = max(sum, min(-weights.dead, weights.alive * Double(spread.width)))
  }

  /// How many were ahead together, at most, while those that are now came.
  private struct Spread {
    private var before = 0
    private var now = 0
    private var verdicts = 0
    var width: Int { max(before, now) }

    mutating func saw(_ ahead: Int) {
      now = max(now, ahead + 1)
      verdicts += 1
      guard verdicts >= width else { return }
      (before, now, verdicts) = (now, ahead + 1, 0)
    }
  }
}
