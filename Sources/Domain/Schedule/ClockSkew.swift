/// Two clocks that disagree: one of them will sign tokens that vendors refuse, or let messages expire too early.
package struct ClockSkew: Hashable, Sendable {
  /// Vendors refuse a provider token whose time is an hour off; five seconds is far outside what NTP leaves.
  static let tolerated: Int64 = 5_000
  /// What was told is over below this, so that it does not come and go.
  private static let overBelow: Int64 = 4_000

  private let offset: Int64

  /// `offset`: milliseconds by which this machine is ahead of Redis'. Nil: they agree well enough.
  package init?(offset: Int64) {
    guard offset.magnitude > UInt64(Self.tolerated) else { return nil }
    self.offset = offset
  }

  /// What is told after another measurement.
  package static func told(_ before: Self?, offset: Int64) -> Self? {
    if let skew = Self(offset: offset) { return skew }
    return offset.magnitude < UInt64(overBelow) ? nil : before
  }

  package var text: String {
    "this machine's clock is \(offset.magnitude / 1_000) s \(offset > 0 ? "ahead of" : "behind") the clock of Redis' "
      + "machine: synchronise both with NTP (timedatectl set-ntp true); vendors refuse tokens signed by a wrong clock"
  }
}
