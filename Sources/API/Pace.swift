import Domain
import Store

/// How fast a message goes, from its first attempt to its last outcome, and when it will have ended if that goes on.
struct Pace {
  /// Outcomes.
  let perSecond: Double
  /// Nil: nothing is left, or nothing ended yet.
  let end: WallTime?

  /// Shorter times say nothing.
  private static let shortest: Int64 = 100

  /// Nil before the first outcome.
  init?(_ report: MessageReport) {
    guard let first = report.firstAttemptAt, let last = report.lastOutcomeAt, last - first >= Self.shortest else {
      return nil
    }
    let final = report.counts.values.reduce(0, +)
    let rate = Double(final) * 1_000 / Double(last - first)
    perSecond = (rate * 10).rounded() / 10
    let left = report.total - final
    end =
      left > 0 && rate > 0 && report.completedAt == nil ? last + Int64((Double(left) * 1_000 / rate).rounded()) : nil
  }
}
