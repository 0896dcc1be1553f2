/// At most so many messages of a topic to a device in a day or a week.
package struct Cap: Hashable, Sendable {
  /// The calendar of the counters, the same for all devices whatever their zones.
  package enum Period: String, Hashable, Sendable, CaseIterable {
    /// A day of UTC.
    case day
    /// From Monday to Sunday, of UTC.
    case week
  }
  /// 1…`maximum`.
  package var limit: Int
  package var period: Period
  /// What it counts: `offers`.
  package var topic: String

  /// Counters have four bits.
  package static let maximum = 15
  /// Why a delivery over its cap is skipped, and why one rests whose count cannot be read yet.
  package static let reason = SkipReason.capped.rawValue

  /// Not checked: Intake reads a `limit` of 1…`maximum` only.
  package init(limit: Int, period: Period, topic: String) {
    self.limit = limit
    self.period = period
    self.topic = topic
  }
}

extension Cap.Period {
  private static let millisecondsPerDay: Int64 = 86_400_000

  /// Counts periods since 1970; a week begins on Monday.
  package func number(at time: WallTime) -> Int64 {
    switch self {
    case .day: time.milliseconds / Self.millisecondsPerDay
    // 1970-01-01 was a Thursday.
    case .week: (time.milliseconds / Self.millisecondsPerDay + 3) / 7
    }
  }
  /// When the period of this number has ended.
  package func end(of number: Int64) -> WallTime {
    switch self {
    case .day: WallTime(milliseconds: (number + 1) * Self.millisecondsPerDay)
    case .week: WallTime(milliseconds: ((number + 1) * 7 - 3) * Self.millisecondsPerDay)
    }
  }
}
