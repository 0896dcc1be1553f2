import Domain
import Store

/// How fast a message goes, from its first attempt to its last outcome, and when it will have ended if that goes on.
struct Pace {
  /// Outcomes.
  let perSecond: Double
  /// Nil: nothing is left, or some of it waits for something else.
  let end: WallTime?

  /// Shorter times say nothing.
  private static let shortest: Int64 = 100

  /// Nil before the first outcome, and of a message that does not go on: it has ended, or is paused or cancelled.
  init?(_ report: MessageReport) {
    guard report.completedAt == nil, report.state != .paused, report.state != .cancelled,
      let first = report.firstAttemptAt, let last = report.lastOutcomeAt, last - first >= Self.shortest
    else { return nil }
    let final = report.counts.values.reduce(0, +)
    let rate = Double(final) * 1_000 / Double(last - first)
    perSecond = (rate * 10).rounded() / 10
    let left = report.total - final
    // A pace says more than what was: a pause counts into that.
    let ahead = report.ratePerSecond.map { Double($0) } ?? rate
    // Nobody knows when what stands against a credential has ended; what waits for its time does not go at this rate.
    let isMoving = report.waits.isEmpty && report.delay == nil
    end = left > 0 && ahead > 0 && isMoving ? last + Int64((Double(left) * 1_000 / ahead).rounded()) : nil
  }
}
