import Domain
import Testing

@Suite("A time in another form is answered with the right form")
struct TimeAdviceTests {
  @Test(
    "the example is the date and time that were written, where these are sure",
    arguments: [
      ("1.11.2026", "2026-11-01T09:00:00+01:00"), ("01.11.2026 10:00", "2026-11-01T10:00:00+01:00"),
      ("2026-11-01 10:00", "2026-11-01T10:00:00+01:00"), ("2026-11-01T10:00:30", "2026-11-01T10:00:30+01:00"),
      ("2026-11-01", "2026-11-01T09:00:00+01:00"), ("2026/11/1, 9:05 pm", "2026-11-01T21:05:00+01:00"),
      ("2026-11-01 12am", "2026-11-01T00:00:00+01:00"), ("2026-11-01 10:00 +02", "2026-11-01T10:00:00+02:00"),
      ("2026-11-01T10:00+0530", "2026-11-01T10:00:00+05:30"), ("2026-11-01 10:00 UTC", "2026-11-01T10:00:00Z"),
      ("2026-11-01 10:00-03:00", "2026-11-01T10:00:00-03:00"), ("13/11/2026", "2026-11-13T09:00:00+01:00"),
      ("11/13/2026 8:30", "2026-11-13T08:30:00+01:00"), ("11/11/2026", "2026-11-11T09:00:00+01:00"),
      // In January for some, in November for others.
      ("01/11/2026", "2026-12-01T09:00:00+01:00"), ("tomorrow", "2026-12-01T09:00:00+01:00"),
      ("", "2026-12-01T09:00:00+01:00"), ("31.2.2026", "2026-12-01T09:00:00+01:00"),
      ("2026-11-01 25:00", "2026-12-01T09:00:00+01:00"), ("2026-11-01 at noon", "2026-12-01T09:00:00+01:00"),
      ("2026-11-01 10:00 CET", "2026-11-01T10:00:00+01:00"), ("1788000000", "2026-12-01T09:00:00+01:00"),
      ("2026-11-01 10:00 +99:99", "2026-11-01T10:00:00+01:00"), ("99999999999.1.2026", "2026-12-01T09:00:00+01:00"),
    ])
  func examples(_ text: String, _ example: String) {
    #expect(TimeAdvice.absolute(text).contains(" such as \(example); "), "\(TimeAdvice.absolute(text))")
    #expect(WallTime(rfc3339: example) != nil)
  }

  @Test("of a time by each device's clock the example has no offset")
  func local() {
    #expect(TimeAdvice.local("2026-11-01T10:00:00Z").hasSuffix("such as 2026-11-01T10:00:00"))
    #expect(TimeAdvice.local("9:00").hasSuffix("such as 2026-12-01T09:00:00"))
    #expect(TimeAdvice.local(String(repeating: "1", count: 100_000)).hasSuffix("such as 2026-12-01T09:00:00"))
  }
}
