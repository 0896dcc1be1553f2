/// The rule by which a zone goes on for ever: what POSIX writes as `CET-1CEST,M3.5.0,M10.5.0/3`.
struct ZoneTail: Sendable {
  /// Seconds to add to UTC.
  private var standard: Int64
  private var summer: (offset: Int64, from: Day, to: Day)?

  /// A day of each year, and the time on it, in seconds of the clock that holds until then; may lie outside of the day.
  private struct Day {
    enum Form {
      /// Of a month, in a week (5: the last), on a day of the week from Sunday.
      case weekday(month: Int64, week: Int64, day: Int64)
      /// 1…365; 29 February is never counted.
      case julian(Int64)
      /// 0…365.
      case dayOfYear(Int64)
    }
    var form: Form
    var time: Int64

    /// Days since 1970.
    func days(year: Int64) -> Int64 {
      switch form {
      case .dayOfYear(let day): return CivilDate.days(year: year, month: 1, day: 1) + day
      case .julian(let day):
        let first = CivilDate.days(year: year, month: 1, day: 1)
        let isLeap = CivilDate.days(year: year, month: 3, day: 1) - first == 60
        return first + day - (isLeap && day >= 60 ? 0 : 1)
      case .weekday(let month, let week, let weekday):
        let first = CivilDate.days(year: year, month: month, day: 1)
        // 1970-01-01 was a Thursday.
        let dayOfFirst = ((first + 4) % 7 + 7) % 7
        var day = first + (weekday - dayOfFirst + 7) % 7 + (week - 1) * 7
        let next = CivilDate.days(year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1)
        if day >= next { day -= 7 }
        return day
      }
    }
  }

  init?(_ text: String) {
    var parser = Parser(rest: Array(text.utf8)[...])
    guard parser.name(), let west = parser.time() else { return nil }
    standard = -west
    guard !parser.rest.isEmpty else { return }
    guard parser.name() else { return nil }
    var offset = standard + 3_600
    if parser.rest.first != UInt8(ascii: ",") {
      guard let west = parser.time() else { return nil }
      offset = -west
    }
    guard parser.skip(","), let from = parser.day(), parser.skip(","), let to = parser.day(), parser.rest.isEmpty else {
      return nil
    }
    summer = (offset, from, to)
  }

  func offset(at second: Int64) -> Int64 {
    guard let summer else { return standard }
    let year = CivilDate.year(ofDay: (second + standard) / 86_400)
    // The last change before it; a year's two may lie in any order.
    var last: (time: Int64, offset: Int64)?
    for change in year - 1...year + 1 {
      for (time, offset) in self.changes(in: change, summer) where time <= second && time >= last?.time ?? .min {
        last = (time, offset)
      }
    }
    return last?.offset ?? standard
  }

  func changes(after start: Int64, through end: Int64) -> [Int64] {
    guard let summer, start < end else { return [] }
    let years = CivilDate.year(ofDay: start / 86_400) - 1...CivilDate.year(ofDay: end / 86_400) + 1
    return years.flatMap { self.changes(in: $0, summer).map(\.0) }.filter { $0 > start && $0 <= end }.sorted()
  }

  private func changes(in year: Int64, _ summer: (offset: Int64, from: Day, to: Day)) -> [(Int64, Int64)] {
    [
      (summer.from.days(year: year) * 86_400 + summer.from.time - standard, summer.offset),
      (summer.to.days(year: year) * 86_400 + summer.to.time - summer.offset, standard),
    ]
  }

  private struct Parser {
    var rest: ArraySlice<UInt8>

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: character) else { return false }
      rest = rest.dropFirst()
      return true
    }
    mutating func name() -> Bool {
      if skip("<") {
        guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
        rest = rest[(end + 1)...]
        return true
      }
      let letters = rest.prefix { ($0 | 32) >= UInt8(ascii: "a") && ($0 | 32) <= UInt8(ascii: "z") }
      rest = rest.dropFirst(letters.count)
      return letters.count >= 3
    }
    mutating func number() -> Int64? {
      let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      guard (1...4).contains(digits.count) else { return nil }
      rest = rest.dropFirst(digits.count)
      return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
    /// `[+-]hh[:mm[:ss]]` in seconds.
    mutating func time() -> Int64? {
      let sign: Int64 = skip("-") ? -1 : 1
      if sign == 1 { _ = skip("+") }
      guard var seconds = number().map({ $0 * 3_600 }) else { return nil }
      for unit: Int64 in [60, 1] where skip(":") {
        guard let more = number() else { return nil }
        seconds += more * unit
      }
      return sign * seconds
    }
    mutating func day() -> Day? {
      let form: Day.Form
      if skip("M") {
        guard let month = number(), (1...12).contains(month), skip("."), let week = number(), (1...5).contains(week),
          skip("."), let day = number(), (0...6).contains(day)
        else { return nil }
        form = .weekday(month: month, week: week, day: day)
      } else if skip("J") {
        guard let day = number(), (1...365).contains(day) else { return nil }
        form = .julian(day)
      } else {
        guard let day = number(), (0...365).contains(day) else { return nil }
        form = .dayOfYear(day)
      }
      guard skip("/") else { return Day(form: form, time: 7_200) }
      guard let time = time() else { return nil }
      return Day(form: form, time: time)
    }
  }
}
