import Domain
import Telemetry
import Testing

@Suite("Timestamps")
struct TimestampTests {
  @Test(
    "wall time reads as RFC 3339 in UTC",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_400_123, "2000-02-29T00:00:00.123Z"),
      (951_868_800_000, "2000-03-01T00:00:00.000Z"), (1_735_689_599_999, "2024-12-31T23:59:59.999Z"),
      (1_767_323_045_006, "2026-01-02T03:04:05.006Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (-1, "1969-12-31T23:59:59.999Z"),
    ] as [(Int64, String)])
  func timestamp(milliseconds: Int64, text: String) {
    #expect(Log.timestamp(WallTime(milliseconds: milliseconds)) == text)
  }
}
