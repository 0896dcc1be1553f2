/// Whether something that is looked at again and again has become another, and stands still. Values only.
struct ChangeWatch<Mark: Equatable> {
  private var settled: Mark?
  private var last: Mark?

  /// True once for each change: when two looks after another see the same, and it is not what it was before. The first
  /// thing that stands still is a change too.
  mutating func look(_ now: Mark) -> Bool {
    defer { last = now }
    guard now == last, now != settled else { return false }
    settled = now
    return true
  }
}
