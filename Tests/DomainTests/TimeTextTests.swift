import Domain
import Testing

@Suite("Times as text")
struct TimeTextTests {
  @Test(
    "a time reads and writes as RFC 3339",
    arguments: [
      ("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00.000Z"),
      ("1969-12-31T23:59:59.999Z", -1, "1969-12-31T23:59:59.999Z"),
      ("2000-02-29T23:59:59.999Z", 951_868_799_999, "2000-02-29T23:59:59.999Z"),
      ("2026-11-21t09:00:00.12345+01:00", 1_795_248_000_123, "2026-11-21T08:00:00.123Z"),
      ("1969-12-31T23:59:59.5-00:30", 1_799_500, "1970-01-01T00:29:59.500Z"),
      ("2000-03-01T00:00:00Z", 951_868_800_000, "2000-03-01T00:00:00.000Z"),
      ("2024-12-31T23:59:59.999Z", 1_735_689_599_999, "2024-12-31T23:59:59.999Z"),
      ("2100-03-01T00:00:00Z", 4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      ("1900-03-01 00:00:00z", -2_203_891_200_000, "1900-03-01T00:00:00.000Z"),
    ])
  func round(_ text: String, _ milliseconds: Int64, _ written: String) {
    #expect(WallTime(rfc3339: text)?.milliseconds == milliseconds)
    #expect(WallTime(milliseconds: milliseconds).rfc3339 == written)
  }

  @Test(
    "what is no time is none",
    arguments: [
      "", "2026-11-21", "2026-11-21T09:00:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-21T24:00:00Z",
      "2026-11-21T09:00:00.Z", "2026-11-21T09:00:00+1:00", "2026-11-21T09:00:00Zx", "+026-11-21T09:00:00Z",
    ])
  func noTime(_ text: String) { #expect(WallTime(rfc3339: text) == nil) }

  @Test("a time, and what has another form, is no fault of the calendar")
  func otherForm() {
    for text in ["2024-02-29T09:00:00Z", "2026-12-01T09:00:00", "2026-12-01", "tomorrow", "2026-1-1", "9999-12-31"] {
      #expect(WallTime.calendarFault(in: text) == nil, "\(text)")
    }
    for text in ["0000-01-01", "2026-00-01", "2026-04-31", "2026-12-01T09:00:61Z", "2026-12-00T09:00:00"] {
      #expect(WallTime.calendarFault(in: text) != nil, "\(text)")
    }
  }

  @Test("times beyond the calendar are told as its ends", arguments: [Int64.min, Int64.max])
  func extremes(_ milliseconds: Int64) {
    #expect(WallTime(milliseconds: milliseconds).rfc3339.utf8.count == 24)
  }
}
