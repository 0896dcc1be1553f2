import Loop
import Store

/// Slices that may go. Urgent ones do not wait behind the others, as bulk may have to wait for its ramp.
struct ReadySlices {
  typealias Slice = SlicePlan<Delivery>.Closed
  private(set) var urgent = FIFO<Slice>()
  private(set) var bulk = FIFO<Slice>()

  var isEmpty: Bool { urgent.isEmpty && bulk.isEmpty }
  var count: Int { urgent.count + bulk.count }

  /// All members of a slice are of one message, and as urgent as the first.
  mutating func append(_ slice: Slice) {
    if slice.members[0].urgency == .urgent { urgent.append(slice) } else { bulk.append(slice) }
  }
  mutating func prepend(_ slice: Slice) {
    if slice.members[0].urgency == .urgent { urgent.prepend(slice) } else { bulk.prepend(slice) }
  }
  var first: Slice? { urgent.first ?? bulk.first }
  mutating func popFirst() -> Slice? { urgent.popFirst() ?? bulk.popFirst() }
  /// The youngest of those whose turn it is.
  mutating func popLast() -> Slice? { urgent.popLast() ?? bulk.popLast() }
  /// The first of those whose turn it is becomes one that meets the condition, if there is one.
  mutating func bringForward(among most: Int, youngest: Bool, where condition: (Slice) -> Bool) -> Bool {
    guard urgent.isEmpty else { return urgent.bringForward(among: most, youngest: youngest, where: condition) }
    return bulk.bringForward(among: most, youngest: youngest, where: condition)
  }
  mutating func takeAll() -> [Slice] { urgent.takeAll() + bulk.takeAll() }
}
