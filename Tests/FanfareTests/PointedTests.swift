import Testing

@testable import fanfare

@Suite("A fault of an expression is shown where it is")
struct PointedTests {
  @Test("the caret stands under the column, also of a long expression")
  func caret() {
    #expect(AudienceCommand.pointed("größe:xl\n& b", column: 10) == "größe:xl & b\n           ^")
    #expect(AudienceCommand.pointed("a &&", column: 5) == "a &&\n      ^")
    let long = String(repeating: "plan:pro || ", count: 40) + "x & y"
    let lines = AudienceCommand.pointed(long, column: 483).split(separator: "\n")
    let place = lines[1].count - 1
    #expect(Array("  " + lines[0])[place] == "&")
    #expect(lines[0].count <= 102)
  }
}
