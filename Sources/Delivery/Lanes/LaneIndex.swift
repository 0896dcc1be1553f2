import Domain
import Loop

/// Which token is whose, as long as it needs no lane: rows of direct sends that wait in their batch, and rows of all
/// batches at work. A token stands here or has a lane; who comes to a token that stands here opens its lane.
struct LaneIndex {
  /// A row of a batch. Its number here is that of its request in flight as well.
  struct Row {
    var batch: DeliveryBatch
    /// The row's place in it.
    var place: Int
    /// Of its token.
    var hash: UInt64
    /// When its request began, over which connection slot and under which account. Without meaning while it waits.
    var began: Instant
    var at: WallTime
    var connectionSlot: Int
    var generation: Int
    var isAtWork = true
    /// A lane that was opened for its token while it was at work: it counts as at work there.
    var lane: Int?
  }

  private var slots: [Row?] = []
  private var vacant: [Int] = []
  private(set) var tokens = TokenTable()
  var count: Int { slots.count - vacant.count }

  /// Tags of transports with this bit name a request in flight here.
  static let mark = 1 << 40
  static func isOne(_ tag: Int) -> Bool { tag & mark != 0 }

  /// A row waits in its batch; its number. The hash must not be there.
  mutating func wait(_ place: Int, of batch: DeliveryBatch, hash: UInt64) -> Int {
    insert(
      Row(
        batch: batch, place: place, hash: hash, began: Instant(nanoseconds: 0), at: WallTime(milliseconds: 0),
        connectionSlot: 0, generation: 0, isAtWork: false))
  }

  /// A row that did not wait here is at work; the tag of its request. The hash must not be there.
  mutating func begin(_ row: Row) -> Int { insert(row) | Self.mark }

  /// A row that waits is at work from now on; the tag of its request.
  mutating func start(_ number: Int, _ pass: Sender.Pass) -> Int {
    slots[number]!.isAtWork = true
    slots[number]!.began = pass.now
    slots[number]!.at = pass.wall
    slots[number]!.connectionSlot = pass.connectionSlot
    slots[number]!.generation = pass.generation
    return number | Self.mark
  }

  private mutating func insert(_ row: Row) -> Int {
    let number: Int
    if let free = vacant.popLast() {
      number = free
      slots[free] = row
    } else {
      number = slots.count
      slots.append(row)
    }
    tokens.insert(row.hash, number: number)
    return number
  }

  func batch(of tag: Int) -> DeliveryBatch {
    guard let batch = slots[tag & ~Self.mark]?.batch else { preconditionFailure("a row that is not at work") }
    return batch
  }

  func place(of tag: Int) -> Int {
    guard let place = slots[tag & ~Self.mark]?.place else { preconditionFailure("a row that is not at work") }
    return place
  }
  func hasLane(_ tag: Int) -> Bool { slots[tag & ~Self.mark]?.lane != nil }

  /// The row of a token, by its number and without a lane.
  func row(_ hash: UInt64) -> (number: Int, row: Row)? {
    guard tokens.count > 0, let number = tokens.number(hash), let row = slots[number], row.lane == nil else {
      return nil
    }
    return (number, row)
  }

  /// A lane is opened for the token of a row at work, which counts there from now on.
  mutating func join(_ number: Int, _ lane: Int) { slots[number]!.lane = lane }

  /// The request of a row has ended, or a waiting one leaves its batch, by its tag or its number.
  mutating func end(_ tag: Int) -> Row {
    let number = tag & ~Self.mark
    guard let row = slots[number].take() else { preconditionFailure("an answer to no request") }
    vacant.append(number)
    tokens.remove(row.hash)
    return row
  }
}
