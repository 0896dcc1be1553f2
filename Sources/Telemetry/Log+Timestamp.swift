package import Domain

extension Log {
  /// RFC 3339 in UTC, to the millisecond.
  package static func timestamp(_ time: WallTime) -> String {
    let milliseconds = time.milliseconds
    let day = Int((Double(milliseconds) / 86_400_000).rounded(.down))
    let rest = Int(milliseconds) - day * 86_400_000
    // Years from 1 March, in eras of 400: leap days then stand at the end (H. Hinnant's civil-from-days).
    let shifted = day + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let fromMarch = (5 * dayOfYear + 2) / 153
    let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    func padded(_ number: Int, _ width: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfYear - (153 * fromMarch + 2) / 5 + 1, 2))"
    let clock = "\(padded(rest / 3_600_000, 2)):\(padded(rest / 60_000 % 60, 2)):\(padded(rest / 1000 % 60, 2))"
    return "\(date)T\(clock).\(padded(rest % 1000, 3))Z"
  }
}
