import Domain
import Store

/// The queue of one token (design D6). Ordered direct sends leave it in the order of their acceptance, one after the
/// other; all else leaves it whenever the token has room, and delays nobody. A delivery that waits for its retry has
/// left the lane and keeps its place by an order barrier.
///
/// `Ticket` names a delivery for the owner. What enters by `add` comes out exactly once: by `start`, or in a list of
/// superseded or removed ones. What started ends by `ended`, `rested` or `returned`.
struct Lane<Ticket> {
  /// Where a delivery stands in the order of acceptance.
  struct Place: Hashable {
    var message: MessageID
    var partition: Int
    var sequence: UInt64
    var index: Int

    /// Exact within a partition; between partitions (a raw token, and the same token under a chosen device id) by the
    /// messages' times.
    func precedes(_ other: Self) -> Bool {
      guard partition == other.partition else { return message < other.message }
      return (sequence, index) < (other.sequence, other.index)
    }
  }

  struct Entry {
    var ticket: Ticket
    var place: Place
    var ordered: Bool
    var collapseKey: String?
    /// False for members of a stored slice: they go again as they are.
    var supersedable = true
  }

  /// What a delivery in backoff leaves behind, so that later ordered ones do not pass it.
  struct OrderBarrier {
    var delivery: DeliveryID
    var device: DeviceID
    var credential: CredentialID
    var place: Place
    var collapseKey: String?
    /// False for members of a stored slice.
    var supersedable = true
    /// Later ordered ones wait until then, or until it comes back. In the past if it delays nobody.
    var until: WallTime
    /// A later one has passed it.
    var overtaken = false
  }

  /// What a newer delivery with the same collapse key made needless.
  struct Superseded {
    var waiting: [Entry] = []
    var resting: [OrderBarrier] = []
    /// The entering delivery itself: a newer one waits already.
    var entering = false
    /// The barrier that the entering delivery had left.
    var own: OrderBarrier?
  }

  /// Waiting, in the order of acceptance.
  private(set) var ordered: [Entry] = []
  /// Waiting without a promise of order.
  private(set) var free: [Entry] = []
  private(set) var barriers: [OrderBarrier] = []
  private(set) var atWork = 0
  private var orderedAtWork = false

  var waiting: Int { ordered.count + free.count }
  var isEmpty: Bool { ordered.isEmpty && free.isEmpty && barriers.isEmpty && atWork == 0 }

  // MARK: Coming in

  /// A delivery was claimed, or its retry is due; `delivery` finds the barrier it left.
  mutating func add(_ entry: Entry, delivery: DeliveryID) -> Superseded {
    var result = Superseded()
    if let index = barriers.firstIndex(where: { $0.delivery == delivery }) {
      result.own = barriers.remove(at: index)
    }
    if let key = entry.collapseKey {
      let newer = { (place: Place, other: String?) in
        other == key && entry.place.precedes(place) && place.message != entry.place.message
      }
      if entry.supersedable,
        ordered.contains(where: { newer($0.place, $0.collapseKey) })
          || free.contains(where: { newer($0.place, $0.collapseKey) })
          || barriers.contains(where: { newer($0.place, $0.collapseKey) })
      {
        result.entering = true
        return result
      }
      supersede(key, by: entry.place, into: &result)
    }
    insert(entry)
    return result
  }

  private mutating func supersede(_ key: String, by newer: Place, into result: inout Superseded) {
    let older = { (place: Place, other: String?) in
      other == key && place.precedes(newer) && place.message != newer.message
    }
    Self.take(from: &ordered, into: &result.waiting) { $0.supersedable && older($0.place, $0.collapseKey) }
    Self.take(from: &free, into: &result.waiting) { $0.supersedable && older($0.place, $0.collapseKey) }
    result.resting = removeBarriers { $0.supersedable && older($0.place, $0.collapseKey) }
  }

  private mutating func insert(_ entry: Entry) {
    guard entry.ordered else { return free.append(entry) }
    var index = ordered.count
    while index > 0, entry.place.precedes(ordered[index - 1].place) { index -= 1 }
    ordered.insert(entry, at: index)
  }

  /// A new owner learns of a delivery that waits for its retry.
  /// False: it is known.
  mutating func add(_ barrier: OrderBarrier) -> Bool {
    guard !barriers.contains(where: { $0.delivery == barrier.delivery }) else { return false }
    barriers.append(barrier)
    return true
  }

  // MARK: Going out

  /// What `start` would give.
  func next(concurrency: Int, now: WallTime) -> Entry? {
    guard atWork < concurrency else { return nil }
    if let first = ordered.first, !orderedAtWork, barrierEnd(of: first.place, now: now) == nil { return first }
    return free.first
  }

  /// The next delivery to send, if the token has room; marks the ones it passes.
  mutating func start(concurrency: Int, now: WallTime) -> Entry? {
    guard let entry = next(concurrency: concurrency, now: now) else { return nil }
    atWork += 1
    guard entry.ordered else {
      free.removeFirst()
      return entry
    }
    for index in barriers.indices where barriers[index].place.precedes(entry.place) { barriers[index].overtaken = true }
    ordered.removeFirst()
    orderedAtWork = true
    return entry
  }

  /// When the last barrier before this place ends; nil: there is none.
  private func barrierEnd(of place: Place, now: WallTime) -> WallTime? {
    var end: WallTime?
    for barrier in barriers where barrier.until > now && barrier.place.precedes(place) {
      end = max(end ?? barrier.until, barrier.until)
    }
    return end
  }

  // MARK: Coming back

  /// A delivery that went without the lane is at work, and counts as started.
  mutating func joined(ordered: Bool) {
    atWork += 1
    if ordered { orderedAtWork = true }
  }

  /// A started delivery has its outcome.
  mutating func ended(ordered: Bool) {
    precondition(atWork > 0, "an end without a start")
    atWork -= 1
    if ordered { orderedAtWork = false }
  }

  /// A started delivery went into the retry set; nil: it delays nobody. True: its barrier stands here.
  @discardableResult
  mutating func rested(ordered: Bool, leaving barrier: OrderBarrier?) -> Bool {
    ended(ordered: ordered)
    return barrier.map { add($0) } ?? false
  }

  /// A started delivery was not sent, or goes again at once: it takes its old place, unless a newer one with its
  /// collapse key has come meanwhile.
  mutating func returned(_ entry: Entry, delivery: DeliveryID) -> Superseded {
    ended(ordered: entry.ordered)
    guard !entry.ordered else { return add(entry, delivery: delivery) }
    let result = add(entry, delivery: delivery)
    if !result.entering { free.insert(free.removeLast(), at: 0) }
    return result
  }

  // MARK: Leaving without being sent

  /// Takes out what waits and meets the condition.
  mutating func remove(where condition: (Entry) -> Bool) -> [Entry] {
    var removed: [Entry] = []
    Self.take(from: &ordered, into: &removed, where: condition)
    Self.take(from: &free, into: &removed, where: condition)
    return removed
  }

  mutating func removeBarriers(where condition: (OrderBarrier) -> Bool) -> [OrderBarrier] {
    let removed = barriers.filter(condition)
    if !removed.isEmpty { barriers.removeAll(where: condition) }
    return removed
  }

  private static func take(
    from list: inout [Entry], into taken: inout [Entry], where condition: (Entry) -> Bool
  ) {
    guard list.contains(where: condition) else { return }
    taken += list.filter(condition)
    list.removeAll(where: condition)
  }
}
