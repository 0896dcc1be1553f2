import Support

/// Values that programs stumble over.
enum HostileValues {
  static let numbers = [
    "0", "-0", "-1", "1", "2", "255", "65535", "65536", "2147483647", "2147483648", "-2147483649", "4294967295",
    "4294967296",
    "281474976710656", "9007199254740993", "4102444800", "253402300800", "9223372036854775", "9223372036854774807",
    "9223372036854775806", "9223372036854775807", "-9223372036854775807", "-9223372036854775808", "9223372036854775808",
    "18446744073709551615", "18446744073709551616", "99999999999999999999999999", "0.5", "-0.0", "1e18", "1e19",
    "1e308",
    "-1e308", "5e-324", "1e999", "1.0",
  ]

  static let texts = [
    "", " ", "a", "\0", "a\r\nx: y", "../..", "a/b", "é", "e\u{301}", "\u{1F600}", "\u{202E}abc", "everyone", "!", "*",
    "((((",
    "!!!!a", "a && ", "\"", "seen:<99999999999999999999d", "seen:>-1d", "app_version:>=99999999999999999999.1", "tz:",
    "lang:*",
    "{{", "{{a|b}}", "{{a|", "2026-12-01T09:00:00Z", "9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00+23:59",
    "0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z",
    "2016-12-31T23:59:60Z", "2026-12-01T09:00:00", "0000-00-00T00:00:00Z", "23:59", "99:99", "alias::", "alias:a:b",
    "fk_x",
    "msg_7zzzzzzzzzzzzzzzzzzzzzzzzz", "msg_00000000000000000000000000", "true", "false", "null", "on", "%", "%00",
    "%ff", "W/\"1\"",
    "\"9223372036854775807\"",
  ]

  static func text(_ chance: inout Seeded) -> String {
    switch Int.random(in: 0..<20, using: &chance) {
    case 0: String(repeating: "x", count: 300)
    case 1: String(repeating: "é", count: 5_200)
    case 2: chance.pick(numbers)
    default: chance.pick(texts)
    }
  }

  /// `small`: nothing that takes a while to make.
  static func fragment(_ chance: inout Seeded, small: Bool) -> Fragment {
    switch Int.random(in: 0..<(small ? 30 : 36), using: &chance) {
    case 0..<10: return .raw(chance.pick(numbers))
    case 10..<20: return .text(text(&chance))
    case 20: return .raw("null")
    case 21: return .raw("true")
    case 22: return .array([])
    case 23: return .object([])
    case 24: return .raw("[null]")
    case 25: return .raw(#"{"a":1,"a":2}"#)
    case 26: return nested(Int.random(in: 10...40, using: &chance))
    case 27: return .array((0..<120).map { .raw(String($0)) })
    case 28: return wide(1_200)
    case 29: return .object([Fragment.Member(key: text(&chance), value: .raw("1"))])
    case 30: return wide(40_000)
    case 31: return .array((0..<60_000).map { .raw(String($0)) })
    case 32: return .text(String(repeating: "{{a|b}} ", count: 8_000))
    case 33: return .array((0..<9_000).map { .text("d\($0)") })
    case 34: return .text(String(repeating: "a && ", count: 12_000) + "a")
    default: return .raw(String(repeating: "[", count: 100_000))
    }
  }

  static func wide(_ count: Int) -> Fragment {
    .object((0..<count).map { Fragment.Member(key: "k\($0)", value: .raw("0")) })
  }

  static func nested(_ depth: Int) -> Fragment {
    (0..<depth).reduce(Fragment.raw("0")) { inner, step in
      step.isMultiple(of: 2) ? .array([inner]) : .object([Fragment.Member(key: "a", value: inner)])
    }
  }
}
