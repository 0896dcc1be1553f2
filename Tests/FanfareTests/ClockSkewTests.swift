import Testing

@testable import Domain

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

  @Test("what was told is told until it is clearly over, and any number is one")
  func hysteresis() throws {
    let told = try #require(ClockSkew.told(nil, offset: -5_001))
    #expect(ClockSkew.told(nil, offset: 4_999) == nil)
    #expect(ClockSkew.told(told, offset: -4_500) == told)
    #expect(ClockSkew.told(told, offset: -3_999) == nil)
    #expect(ClockSkew.told(told, offset: 6_000) == ClockSkew(offset: 6_000))
    #expect(ClockSkew(offset: .min)?.text.contains("behind") == true && ClockSkew(offset: .max) != nil)
  }
}
