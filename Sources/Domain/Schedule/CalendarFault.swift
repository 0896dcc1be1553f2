extension WallTime {
  /// Why a text is no time though it has the form of one (RFC 3339, with or without its offset): the calendar or the clock
  /// has no such time, or the seconds are missing. Nil: it is a time, or has another form.
  package static func calendarFault(in text: String) -> String? {
    let form = /(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?([Zz]|[+-](\d{2}):(\d{2}))?)?/
    guard text.utf8.count <= 64, let parts = text.wholeMatch(of: form)?.output else { return nil }
    guard let year: Int64 = Whole.read(parts.1, in: 1...9999) else { return "the calendar has no year 0000" }
    guard let month: Int64 = Whole.read(parts.2, in: 1...12) else {
      return "a year has no month \(parts.2): months are 01 to 12"
    }
    let next = CivilDate.days(year: month == 12 ? year + 1 : year, month: month == 12 ? 1 : month + 1, day: 1)
    let days = next - CivilDate.days(year: year, month: month, day: 1)
    guard let _: Int64 = Whole.read(parts.3, in: 1...days) else {
      return "the day \(parts.1)-\(parts.2)-\(parts.3) does not exist: this month has the days 01 to \(days)"
    }
    guard let hour = parts.4, let minute = parts.5 else { return nil }
    guard hour < "24" else {
      let midnight = hour == "24" ? ", and midnight is 00:00 of the next day" : ""
      return "a day has no hour \(hour): hours are 00 to 23\(midnight)"
    }
    guard minute < "60" else { return "an hour has no minute \(minute): minutes are 00 to 59" }
    guard let second = parts.6 else { return "the seconds are missing: write \(hour):\(minute):00" }
    guard second <= "60" else { return "a minute has no second \(second): seconds are 00 to 59" }
    if let hours = parts.8, let minutes = parts.9, hours > "23" || minutes > "59" {
      return "there is no offset of \(hours):\(minutes) hours: offsets are such as +01:00"
    }
    return nil
  }
}
