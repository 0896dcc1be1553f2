import Loop

/// Lanes of a credential that may start a delivery, by number, in the order in which they could.
struct ReadyLanes {
  private(set) var urgent = FIFO<Int>()
  private(set) var bulk = FIFO<Int>()

  var isEmpty: Bool { urgent.isEmpty && bulk.isEmpty }

  mutating func append(_ lane: Int, urgent isUrgent: Bool) {
    if isUrgent { urgent.append(lane) } else { bulk.append(lane) }
  }
  mutating func prepend(_ lane: Int, urgent isUrgent: Bool) {
    if isUrgent { urgent.prepend(lane) } else { bulk.prepend(lane) }
  }
  mutating func popFirst(urgent isUrgent: Bool) -> Int? { isUrgent ? urgent.popFirst() : bulk.popFirst() }
  mutating func popLast(urgent isUrgent: Bool) -> Int? { isUrgent ? urgent.popLast() : bulk.popLast() }

  /// A lane that meets the condition is the next in turn; false: none of so many does.
  mutating func bringForward(urgent isUrgent: Bool, among most: Int, youngest: Bool, where condition: (Int) -> Bool)
    -> Bool
  {
    if isUrgent { return urgent.bringForward(among: most, youngest: youngest, where: condition) }
    return bulk.bringForward(among: most, youngest: youngest, where: condition)
  }
}
