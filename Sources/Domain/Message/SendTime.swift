/// When a message begins.
package enum SendTime: Hashable, Sendable {
  /// For all devices at once.
  case at(WallTime)
  /// For each device when its own clock shows this.
  case local(LocalTime)

  /// A message may be scheduled so far ahead.
  package static let furthest: Int64 = 90 * 86_400_000
  /// A time that is past by no more than this counts as now: clocks differ, and requests take their time.
  package static let tolerance: Int64 = 60_000

  /// The first instant at which it may go to anybody.
  package var earliest: WallTime {
    switch self {
    case .at(let time): time
    case .local(let time): time.earliest
    }
  }
}

/// The quiet hours that hold for a message.
package enum MessageQuietHours: Hashable, Sendable {
  /// As the app is configured.
  case ofApp
  /// None, whatever the app has.
  case none
  case own(QuietHours)
}
