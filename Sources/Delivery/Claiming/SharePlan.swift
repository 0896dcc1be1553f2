/// How many partitions a worker should hold (design D5): its even share among the workers that live, moved as little as
/// possible. Who holds more hands the surplus over; who holds fewer takes what is free.
struct SharePlan {
  private let partitions: Int
  /// Nil until the others are known: nothing is taken before that, or the first one would take all and hand over at once.
  private(set) var quota: Int?
  /// Where in the row of partitions it begins to ask, so that workers that start together ask for different ones.
  private(set) var first = 0

  init(partitions: Int) { self.partitions = partitions }

  /// All that live, this one among them, in an order that is the same for all.
  mutating func heard(workers: [UInt64], own: UInt64) {
    guard let rank = workers.firstIndex(of: own) else { return }
    let count = workers.count
    quota = partitions / count + (rank < partitions % count ? 1 : 0)
    first = rank * partitions / count
  }

  /// It gives all away and takes nothing more.
  mutating func leave() { quota = 0 }

  /// How many more it may ask for. `held`: those it has or has asked for.
  func wanted(held: Int) -> Int { max(0, (quota ?? 0) - held) }
  /// How many it has to hand over.
  func surplus(held: Int) -> Int { max(0, held - (quota ?? held)) }

  /// All partitions, in the order in which to ask for them.
  var order: [Int] { (0..<partitions).map { (first + $0) % partitions } }
}
