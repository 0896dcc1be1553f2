/// Times in HTTP headers (RFC 9110, section 5.6.7), always UTC:
///
///     Sun, 06 Nov 1994 08:49:37 GMT     the form of today (IMF-fixdate)
///     Sunday, 06-Nov-94 08:49:37 GMT    RFC 850: a year of two digits
///     Sun Nov  6 08:49:37 1994          C's asctime
enum HTTPDate {
  /// Longer than any of the three.
  private static let longest = 40
  private static let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
  private static let longDays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

  /// Nil: none of the three forms. `now` decides the century of a year of two digits: one more than 50 years ahead is of the
  /// century before.
  static func parse(_ text: String, now: WallTime) -> WallTime? {
    guard text.utf8.count <= longest, text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
    let words = text.lowercased().split(separator: " ").map(String.init)
    switch words.count {
    case 6 where words[0].hasSuffix(",") && days.contains(String(words[0].dropLast())) && words[5] == "gmt":
      return time(year: number(words[3], digits: 4), month: words[2], day: number(words[1], digits: 2), clock: words[4])
    case 4 where words[0].hasSuffix(",") && longDays.contains(String(words[0].dropLast())) && words[3] == "gmt":
      let date = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard date.count == 3, let short = number(date[2], digits: 2) else { return nil }
      return time(
        year: year(ending: short, now: now), month: date[1], day: number(date[0], digits: 2), clock: words[2])
    case 5 where days.contains(words[0]):
      let day = number(words[2], digits: 2) ?? number(words[2], digits: 1)
      return time(year: number(words[4], digits: 4), month: words[1], day: day, clock: words[3])
    default: return nil
    }
  }

  private static func year(ending short: Int64, now: WallTime) -> Int64 {
    let last: Int64 = 253_402_300_799_999
    let present = CivilDate.year(ofDay: min(max(0, now.milliseconds), last) / 86_400_000)
    let year = present - CivilDate.floorDivide(present, 100).rest + short
    return year > present + 50 ? year - 100 : year
  }

  private static func time(year: Int64?, month: String, day: Int64?, clock: String) -> WallTime? {
    let parts = clock.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), digits: 2) }
    guard parts.count == 3, let year, (1...9999).contains(year), let month = months.firstIndex(of: month),
      let day, (1...31).contains(day), let hour = parts[0], hour < 24, let minute = parts[1], minute < 60,
      let second = parts[2], second <= 60
    else { return nil }
    let days = CivilDate.days(year: year, month: Int64(month) + 1, day: day)
    // A day that its month does not have.
    guard CivilDate.civil(days: days).day == day else { return nil }
    return WallTime(seconds: days * 86_400 + hour * 3_600 + minute * 60 + second)
  }

  private static func number(_ text: String, digits: Int) -> Int64? {
    guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text)
  }
}
