import Testing

@testable import Gateway

@Suite("Files that are looked at again and again")
struct ChangeWatchTests {
  @Test("a change counts once, when it has stood still for two looks; what comes back to what it was counts not")
  func changes() {
    var watch = ChangeWatch<Int>()
    let looks: [(Int, Bool)] = [
      (1, false), (1, true), (1, false),  // The first.
      (2, false), (3, false), (3, true), (3, false),  // Still being written, then settled.
      (4, false), (3, false), (3, false),  // Back again.
      (5, false), (5, true),
    ]
    for (index, (seen, isChange)) in looks.enumerated() {
      #expect(watch.look(seen) == isChange, "look \(index)")
    }
  }
}
