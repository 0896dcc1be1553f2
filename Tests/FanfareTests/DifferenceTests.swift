import Support
import Testing

@Suite("How large collections differ is told in few words")
struct DifferenceTests {
  @Test("equal ones do not differ, in whatever order; what comes twice counts twice")
  func equal() {
    #expect(difference([3, 1, 2], from: [1, 2, 3]) == nil)
    #expect(difference([1, 1, 2], from: [1, 2]) == "1 not expected: 1")
    #expect(difference([1, 2], from: [1, 1, 2]) == "1 missing: 1")
    #expect(difference(Set([1, 1, 2]), from: [1, 2]) == nil)
  }

  @Test("of thousands of long elements the first five are named, by their beginnings")
  func bounded() throws {
    func elements(_ range: Range<Int>) -> [String] { range.map { "\($0)" + String(repeating: "x", count: 1_000) } }
    let told = try #require(difference(elements(0..<4_000), from: elements(2_000..<7_000)))
    #expect(told.hasPrefix("3000 missing: 4000x") && told.contains("; 2000 not expected: 0x"), "\(told)")
    #expect(told.contains("2004") == false && told.contains("4004") && !told.contains("4005"), "\(told)")
    #expect(told.count < 2_500)
  }
}
