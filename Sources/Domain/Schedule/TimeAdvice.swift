/// What a time has to look like, told to somebody who has written another form. The example is their own date and time
/// where these can be read.
package enum TimeAdvice {
  /// Of a point in time.
  package static func absolute(_ text: String) -> String {
    let (time, offset) = reading(of: text)
    return "date (year-month-day), time and offset from UTC, such as \(time ?? example)\(offset ?? "+01:00")"
      + "; the offset of UTC is Z"
  }

  /// Of a time by each device's own clock.
  package static func local(_ text: String) -> String {
    "date (year-month-day) and time without an offset, such as \(reading(of: text).time ?? example)"
  }

  private static let example = "2026-12-01T09:00:00"
  /// Characters that are looked at: all of any time.
  private static let longest = 64

  /// Date and time as RFC 3339 has them, and the offset if there is one. Nil: nothing that is surely a date.
  private static func reading(of text: String) -> (time: String?, offset: String?) {
    let text = text.prefix(longest).lowercased()
    guard let (date, rest) = date(in: text), let (time, behind) = time(in: rest) else { return (nil, nil) }
    let offset = offset(in: behind)
    let whole = "\(date)T\(time)"
    guard WallTime(rfc3339: whole + "Z") != nil else { return (nil, nil) }
    return (whole, WallTime(rfc3339: whole + (offset ?? "Z")) == nil ? nil : offset)
  }

  /// With what stands behind it.
  private static func date(in text: String) -> (String, Substring)? {
    if let match = text.prefixMatch(of: /\s*([0-9]{4})[-\/.]([0-9]{1,2})[-\/.]([0-9]{1,2})(?![0-9])/) {
      return ("\(match.1)-\(two(match.2))-\(two(match.3))", text[match.range.upperBound...])
    }
    if let match = text.prefixMatch(of: /\s*([0-9]{1,2})\.\s?([0-9]{1,2})\.\s?([0-9]{4})(?![0-9])/) {
      return ("\(match.3)-\(two(match.2))-\(two(match.1))", text[match.range.upperBound...])
    }
    // 01/11/2026 is in January for some and in November for others: only where one of them cannot be.
    guard let match = text.prefixMatch(of: /\s*([0-9]{1,2})\/([0-9]{1,2})\/([0-9]{4})(?![0-9])/),
      let first = Whole.read(match.1, in: 1...31), let second = Whole.read(match.2, in: 1...31),
      first > 12 || second > 12 || first == second
    else { return nil }
    let (day, month) = first > 12 ? (match.1, match.2) : (match.2, match.1)
    return ("\(match.3)-\(two(month))-\(two(day))", text[match.range.upperBound...])
  }

  /// 09:00 where there is none.
  private static func time(in text: Substring) -> (String, Substring)? {
    let form = /[t,\s]*([0-9]{1,2})(?::([0-9]{2}))?(?::([0-9]{2})(?:\.[0-9]+)?)?\s*(am|pm)?(?![0-9])/
    guard let match = text.prefixMatch(of: form), match.2 != nil || match.4 != nil,
      var hour = Whole.read(match.1, in: 0...23)
    else {
      return text.allSatisfy(\.isWhitespace) ? ("09:00:00", text) : nil
    }
    if let half = match.4 {
      guard (1...12).contains(hour) else { return nil }
      hour = hour % 12 + (half == "pm" ? 12 : 0)
    }
    return ("\(two("\(hour)")):\(match.2 ?? "00"):\(match.3 ?? "00")", text[match.range.upperBound...])
  }

  private static func offset(in text: Substring) -> String? {
    if text.wholeMatch(of: /\s*(z|utc|gmt)\s*/) != nil { return "Z" }
    guard let match = text.wholeMatch(of: /\s*(?:utc|gmt)?([+-])([0-9]{1,2}):?([0-9]{2})?\s*/) else { return nil }
    return "\(match.1)\(two(match.2)):\(match.3 ?? "00")"
  }

  private static func two(_ digits: some StringProtocol) -> String {
    String(repeating: "0", count: max(0, 2 - digits.count)) + digits
  }
}
