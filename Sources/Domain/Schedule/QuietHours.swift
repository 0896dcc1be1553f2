/// A time of each day in which a device is left alone, by its own clock.
package struct QuietHours: Hashable, Sendable {
  /// What becomes of a push that would come then.
  package enum Action: String, Hashable, Sendable, CaseIterable {
    /// It waits until they end.
    case hold
    /// It is `skipped: quiet_hours`.
    case skip
  }
  /// Minutes of the day; `to` is the first one in which pushes go again. Never equal: such hours would never end.
  package var from: Int
  package var to: Int
  /// One for all devices; nil: each device's own.
  package var zone: String?
  package var action: Action

  /// Traps unless both are minutes of a day and differ: readers check that before. `from` may be later than `to`: over
  /// midnight.
  package init(from: Int, to: Int, zone: String? = nil, action: Action = .hold) {
    precondition(from != to && (0..<1_440).contains(from) && (0..<1_440).contains(to), "quiet hours that never end")
    self.from = from
    self.to = to
    self.zone = zone
    self.action = action
  }

  /// `22:00` in minutes.
  package static func minutes(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (48...57).contains($0) } }),
      let hours = Whole.read(parts[0], in: 0...23), let minutes = Whole.read(parts[1], in: 0...59)
    else { return nil }
    return hours * 60 + minutes
  }

  /// When they end, if they are at this time.
  package func opening(at time: WallTime, _ rules: ZoneRules) -> WallTime? {
    let local = rules.local(time)
    let minute = Int(local.secondOfDay / 60)
    let isQuiet = from < to ? (from..<to).contains(minute) : minute >= from || minute < to
    guard isQuiet else { return nil }
    let day = minute < to ? local.day : local.day + LocalTime.secondsPerDay
    let end = LocalTime(seconds: day + Int64(to) * 60)
    let opening = rules.instant(of: end)
    // A clock that was put back shows the end twice.
    return opening > time ? opening : WallTime(seconds: end.seconds - rules.offset(at: time))
  }

  /// When they begin next, for a time at which they are not.
  package func closing(after time: WallTime, _ rules: ZoneRules) -> WallTime {
    let local = rules.local(time)
    let today = LocalTime(seconds: local.day + Int64(from) * 60)
    let next = today > local ? today : LocalTime(seconds: today.seconds + LocalTime.secondsPerDay)
    return max(rules.instant(of: next), time + 1_000)
  }
}
