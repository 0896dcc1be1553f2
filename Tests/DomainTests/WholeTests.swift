import Domain
import Testing

@Suite("Numbers that others wrote")
struct WholeTests {
  @Test("a number is read within its range only")
  func range() {
    #expect(Whole.read("7", in: 0...9) == 7)
    for text in ["10", "-1", "", " 7", "7 ", "0x7", "7.0", "9223372036854775808", "99999999999999999999999"] {
      #expect(Whole.read(text, in: 0...9) == nil, "\(text)")
    }
    #expect(Whole.read("ffffffffffffffff", in: 0...UInt64.max, radix: 16) == .max)
  }

  @Test("seconds beyond the end of time are the end of time")
  func time() {
    #expect(WallTime(seconds: .max).milliseconds == .max)
    #expect(WallTime(seconds: .min).milliseconds == .min)
    #expect(WallTime(seconds: -3).milliseconds == -3_000)
  }
}
