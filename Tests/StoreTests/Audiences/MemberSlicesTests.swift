import Domain
import Support
import Testing

@testable import Store

@Suite("Slices of a part's members")
struct MemberSlicesTests {
  @Test("each member's slice is the youngest that names it", arguments: [UInt64.random(in: 0..<1 << 32), 4])
  func youngest(seed: UInt64) {
    var random = Seeded(seed: seed)
    let count = 200
    var slices = MemberSlices(of: count)
    var known: [Int: StoredSlice] = [:]
    for revision in 0..<12 {
      // Some members are none of this part: what is stored may be damaged.
      let members = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
        Int.random(in: 0..<count + 20, using: &random)
      }.sorted()
      let slice = StoredSlice(
        message: MessageID(acceptedAt: WallTime(milliseconds: 1), partition: 3, random: seed), partition: 3,
        number: members.first ?? 0, revision: revision,
        members: members)
      slices.add(slice)
      for member in members where member < count { known[member] = slice }
    }
    for member in 0..<count + 20 {
      #expect(slices[member] == known[member], "seed \(seed)")
      #expect(slices.contains(member) == (known[member] != nil), "seed \(seed)")
    }
  }
}
