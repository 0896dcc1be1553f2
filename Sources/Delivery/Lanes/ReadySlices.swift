import Loop

/// Slices that may go. Urgent ones do not wait behind the others, as bulk may have to wait for its ramp.
struct ReadySlices {
  private(set) var urgent = FIFO<GatheredSlice>()
  private(set) var bulk = FIFO<GatheredSlice>()

  var isEmpty: Bool { urgent.isEmpty && bulk.isEmpty }
  var count: Int { urgent.count + bulk.count }

  mutating func append(_ slice: GatheredSlice) {
    if slice.isUrgent { urgent.append(slice) } else { bulk.append(slice) }
  }
  mutating func prepend(_ slice: GatheredSlice) {
    if slice.isUrgent { urgent.prepend(slice) } else { bulk.prepend(slice) }
  }
  var first: GatheredSlice? { urgent.first ?? bulk.first }
  mutating func popFirst() -> GatheredSlice? { urgent.popFirst() ?? bulk.popFirst() }
  /// The youngest of those whose turn it is.
  mutating func popLast() -> GatheredSlice? { urgent.popLast() ?? bulk.popLast() }
  /// The first of those whose turn it is becomes one that meets the condition, if there is one.
  mutating func bringForward(among most: Int, youngest: Bool, where condition: (GatheredSlice) -> Bool) -> Bool {
    guard urgent.isEmpty else { return urgent.bringForward(among: most, youngest: youngest, where: condition) }
    return bulk.bringForward(among: most, youngest: youngest, where: condition)
  }
  mutating func takeAll() -> [GatheredSlice] { urgent.takeAll() + bulk.takeAll() }
}
