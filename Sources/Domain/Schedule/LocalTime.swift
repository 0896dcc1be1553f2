/// A date and a time of day as a clock on a wall shows them, of no zone yet.
package struct LocalTime: Hashable, Comparable, Sendable {
  /// Since 1970-01-01T00:00:00 on the same wall, with days of 86,400 seconds.
  package var seconds: Int64
  package init(seconds: Int64) { self.seconds = seconds }

  /// `2026-12-01T09:00:00`: RFC 3339 without its offset. Fractions of a second are cut off.
  package init?(_ text: String) {
    guard let last = text.utf8.last, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(last), text.utf8.count >= 19,
      !text.utf8.dropFirst(19).contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }),
      let time = WallTime(rfc3339: text + "Z")
    else { return nil }
    seconds = (time.milliseconds - (time.milliseconds % 1_000 + 1_000) % 1_000) / 1_000
  }

  package var text: String { String(WallTime(seconds: seconds).rfc3339.prefix(19)) }

  package static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }

  static let secondsPerDay: Int64 = 86_400
  /// Midnight of its day.
  var day: Int64 { seconds - secondOfDay }
  var secondOfDay: Int64 { (seconds % Self.secondsPerDay + Self.secondsPerDay) % Self.secondsPerDay }

  /// The zone whose clocks show a time first: UTC+14.
  package static let earliestZone = "Pacific/Kiritimati"
  /// When the first clock on earth shows it, at UTC+14.
  package var earliest: WallTime { WallTime(seconds: seconds - 14 * 3_600) }
  /// When the last clock on earth first shows it, at UTC-12.
  package var latest: WallTime { WallTime(seconds: seconds + 12 * 3_600) }
}
