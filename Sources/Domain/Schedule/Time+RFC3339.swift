extension WallTime {
  /// Years 1…9999: what lies beyond is told as the nearest of them.
  private static let tellable: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

  /// `2026-11-21T08:30:00.125Z`: always UTC, always milliseconds.
  package var rfc3339: String {
    let milliseconds = min(max(milliseconds, Self.tellable.lowerBound), Self.tellable.upperBound)
    let (days, rest) = CivilDate.floorDivide(milliseconds, 86_400_000)
    let (year, month, day) = CivilDate.civil(days: days)
    var text: [UInt8] = []
    text.reserveCapacity(24)
    func digits(_ number: Int64, _ count: Int) {
      var scale: Int64 = 1
      for _ in 1..<count { scale *= 10 }
      while scale > 0 {
        text.append(UInt8(ascii: "0") + UInt8(number / scale % 10))
        scale /= 10
      }
    }
    digits(year, 4)
    text.append(UInt8(ascii: "-"))
    digits(month, 2)
    text.append(UInt8(ascii: "-"))
    digits(day, 2)
    text.append(UInt8(ascii: "T"))
    digits(rest / 3_600_000, 2)
    text.append(UInt8(ascii: ":"))
    digits(rest / 60_000 % 60, 2)
    text.append(UInt8(ascii: ":"))
    digits(rest / 1000 % 60, 2)
    text.append(UInt8(ascii: "."))
    digits(rest % 1000, 3)
    text.append(UInt8(ascii: "Z"))
    return String(decoding: text, as: UTF8.self)
  }

  /// A time of the years 1…9999 with its offset, as RFC 3339 has it; fractions beyond milliseconds are cut off, a leap
  /// second counts as the second after it. Nil for anything else.
  package init?(rfc3339 text: String) {
    var rest = Array(text.utf8)[...]
    func number(_ digits: Int, _ range: ClosedRange<Int64>) -> Int64? {
      guard rest.count >= digits else { return nil }
      var value: Int64 = 0
      for byte in rest.prefix(digits) {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        value = value * 10 + Int64(byte - UInt8(ascii: "0"))
      }
      rest = rest.dropFirst(digits)
      return range.contains(value) ? value : nil
    }
    func skip(_ characters: StaticString) -> UInt8? {
      guard let byte = rest.first, String(describing: characters).utf8.contains(byte) else { return nil }
      rest = rest.dropFirst()
      return byte
    }
    guard let year = number(4, 1...9999), skip("-") != nil, let month = number(2, 1...12), skip("-") != nil,
      let day = number(2, 1...31), skip("Tt ") != nil, let hour = number(2, 0...23), skip(":") != nil,
      let minute = number(2, 0...59), skip(":") != nil, let second = number(2, 0...60)
    else { return nil }
    let days = CivilDate.days(year: year, month: month, day: day)
    guard CivilDate.civil(days: days) == (year, month, day) else { return nil }

    var fraction: Int64 = 0
    if skip(".") != nil {
      var scale: Int64 = 100
      var any = false
      while let digit = number(1, 0...9) {
        any = true
        fraction += digit * scale
        scale /= 10
      }
      guard any else { return nil }
    }
    guard let sign = skip("Zz+-") else { return nil }
    var offset: Int64 = 0
    if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
      guard let hours = number(2, 0...23), skip(":") != nil, let minutes = number(2, 0...59) else { return nil }
      offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "+") ? 60 : -60)
    }
    guard rest.isEmpty else { return nil }
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    self.init(milliseconds: seconds * 1000 + fraction)
  }
}
