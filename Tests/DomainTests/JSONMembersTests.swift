import Domain
import Glibc
import Testing

@Suite("Members of an object")
struct JSONMembersTests {
  private static func members(_ count: Int, _ value: JSONValue = .integer(1), from first: Int = 0) -> [JSONMember] {
    (first..<first + count).map { JSONMember("k\($0)", value) }
  }

  @Test("a patch is laid over members as RFC 7396 has it, few or many", arguments: [3, 12, 2_000])
  func merge(count: Int) {
    var members = Self.members(count)
    members[1].value = .object(Self.members(count))
    let patch =
      [
        JSONMember("k0", .null), JSONMember("missing", .null), JSONMember("k2", .string("new")),
        JSONMember("k1", .object([JSONMember("k1", .null), JSONMember("own", .bool(true))])),
        JSONMember("made", .object([JSONMember("a", .null), JSONMember("b", .integer(2))])),
      ] + Self.members(count, .integer(7), from: count)
    members.merge(patch)
    var inner = Self.members(count)
    inner.remove(at: 1)
    inner.append(JSONMember("own", .bool(true)))
    var expected = Self.members(count)
    expected[1].value = .object(inner)
    expected[2].value = .string("new")
    expected.remove(at: 0)
    expected.append(JSONMember("made", .object([JSONMember("b", .integer(2))])))
    #expect(members == expected + Self.members(count, .integer(7), from: count))
  }

  @Test("many members are set in place or at the end", arguments: [2, 40, 2_000])
  func set(count: Int) {
    var members = Self.members(count)
    members.set(Self.members(count, .integer(9), from: count / 2))
    #expect(
      members == Self.members(count / 2) + Self.members(count, .integer(9), from: count / 2))
  }

  @Test("work grows with the number of members, not with its square")
  func linear() {
    /// Nanoseconds of this thread's processor time: others use the machine as well.
    func spent() -> Int {
      var now = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
      return now.tv_sec * 1_000_000_000 + now.tv_nsec
    }
    func span(_ count: Int) -> Int {
      var members = Self.members(count)
      let patch = Self.members(count, .integer(2), from: count / 2)
      let began = spent()
      members.merge(patch)
      return spent() - began
    }
    // The least of some. Sixteen times the members; a square would make it 256 times as much.
    let few = (0..<5).map { _ in span(2_000) }.min()!
    let many = (0..<3).map { _ in span(32_000) }.min()!
    #expect(many < few * 128, "\(few) ns for 2,000, \(many) ns for 32,000")
  }
}
