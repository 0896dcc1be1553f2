/// Two clocks that disagree: one of them will sign tokens that vendors refuse, or let messages expire too early.
struct ClockSkew {
  /// Vendors refuse a provider token whose time is an hour off; five seconds is far outside what NTP leaves.
  static let tolerated: Int64 = 5_000

  private let offset: Int64

  /// `offset`: milliseconds by which this machine is ahead of Redis'. Nil: they agree well enough.
  init?(offset: Int64) {
    guard abs(offset) > Self.tolerated else { return nil }
    self.offset = offset
  }

  var text: String {
    "this machine's clock is \(abs(offset) / 1_000) s \(offset > 0 ? "ahead of" : "behind") that of Redis' machine: set "
      + "both by NTP (timedatectl set-ntp true), as vendors refuse tokens signed by a wrong clock"
  }
}
