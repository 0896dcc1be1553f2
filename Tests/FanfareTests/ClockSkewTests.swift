import Testing

@testable import fanfare

@Suite("Clocks that disagree")
struct ClockSkewTests {
  @Test("what NTP leaves is nothing to tell", arguments: [-5_000, -1, 0, 4_999, 5_000])
  func agree(offset: Int64) { #expect(ClockSkew(offset: offset) == nil) }

  @Test("more is told with its size, its direction and the way to mend it")
  func disagree() throws {
    let ahead = try #require(ClockSkew(offset: 61_500)).text
    #expect(ahead.contains("61 s ahead of") && ahead.contains("NTP"))
    #expect(try #require(ClockSkew(offset: -7_000)).text.contains("7 s behind"))
  }
}
