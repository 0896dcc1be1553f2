import Domain
import Store

/// Names a token within the app that owns it: a raw token and the device registered with it share a lane.
struct LaneKey: Hashable {
  var app: AppID
  var provider: ProviderName
  var environment: Environment
  var token: String

  init(app: AppID, address: Address) {
    self.app = app
    provider = address.provider
    environment = address.environment
    token = address.token
  }

  /// As `TokenTable` has it.
  var hash: UInt64 { TokenTable.hash(token, owner: Self.owner(app, provider)) }
  /// Whose token it is: two providers may have tokens of the same text, and one of them no answer for hours.
  static func owner(_ app: AppID, _ provider: ProviderName) -> UInt64 {
    TokenTable.hash(provider.rawValue, owner: TokenTable.hash(app.rawValue))
  }

  /// Tokens rarely coincide, so that theirs is hash enough.
  func hash(into hasher: inout Hasher) { hasher.combine(token) }
}

/// All lanes of a loop, by number. A lane exists while something waits, rests or is at work in it, or while it stands
/// in a queue of ready lanes.
struct Lanes<Ticket> {
  private struct Slot {
    var key: LaneKey
    var lane: Lane<Ticket>
    /// It stands in a queue of lanes that may start something.
    var queued = false
  }

  private var slots: [Slot?] = []
  private var vacant: [Int] = []
  private var numbers: [LaneKey: Int] = [:]
  /// Lanes by the hash of their token, for those that have no key at hand.
  private var hashes: [UInt64: Int] = [:]
  /// Lanes with an order barrier, as those end by time.
  private var barred: Set<Int> = []
  /// Where each of them left its barrier: it may end without coming back into that lane.
  private var places: [DeliveryID: Int] = [:]

  var count: Int { numbers.count }
  private(set) var barriers = 0

  /// The number of the lane of this token, made if there is none. A lane made and left empty must be let go by `tidy`.
  mutating func open(_ key: LaneKey) -> Int {
    if let number = numbers[key] { return number }
    let slot = Slot(key: key, lane: Lane())
    let number: Int
    if let free = vacant.popLast() {
      number = free
      slots[free] = slot
    } else {
      number = slots.count
      slots.append(slot)
    }
    numbers[key] = number
    hashes[key.hash, default: 0] += 1
    return number
  }

  /// There may be a lane for a token of this hash.
  func has(_ hash: UInt64) -> Bool { !hashes.isEmpty && hashes[hash] != nil }

  func exists(_ number: Int) -> Bool {
    guard number < slots.count else { return false }
    if case .none = slots[number] { return false }
    return true
  }

  /// The delivery left an order barrier somewhere.
  func hasBarrier(of delivery: DeliveryID) -> Bool { barriers > 0 && places[delivery] != nil }

  /// Changes a lane, keeps count of its barriers and lets it go when it is done.
  mutating func change<Result>(_ number: Int, _ body: (inout Lane<Ticket>) -> Result) -> Result {
    let before = slots[number]!.lane.barriers.count
    if before > 0 { for barrier in slots[number]!.lane.barriers { places[barrier.delivery] = nil } }
    let result = body(&slots[number]!.lane)
    let after = slots[number]!.lane.barriers.count
    if after > 0 { for barrier in slots[number]!.lane.barriers { places[barrier.delivery] = number } }
    barriers += after - before
    if after > 0 { barred.insert(number) } else if before > 0 { barred.remove(number) }
    tidy(number)
    return result
  }

  /// The barrier of a delivery, taken out of the lane it was left in; nil: it left none.
  mutating func takeBarrier(of delivery: DeliveryID) -> (barrier: Lane<Ticket>.OrderBarrier, lane: Int)? {
    guard let number = places[delivery] else { return nil }
    return change(number) { $0.removeBarriers { $0.delivery == delivery } }.first.map { ($0, number) }
  }

  /// The delivery that the lane may start, if it stands in no queue yet: the caller puts it into one.
  mutating func enqueue(_ number: Int, concurrency: Int, now: WallTime) -> Ticket? {
    guard exists(number), !slots[number]!.queued,
      let next = slots[number]!.lane.next(concurrency: concurrency, now: now)
    else { return nil }
    slots[number]!.queued = true
    return next.ticket
  }

  /// What `startNext` would give.
  func next(_ number: Int, concurrency: Int, now: WallTime) -> Ticket? {
    exists(number) ? slots[number]!.lane.next(concurrency: concurrency, now: now)?.ticket : nil
  }

  /// The lane was taken from its queue: what it starts now, if anything.
  mutating func startNext(_ number: Int, concurrency: Int, now: WallTime) -> Ticket? {
    slots[number]!.queued = false
    let entry = slots[number]!.lane.start(concurrency: concurrency, now: now)
    tidy(number)
    return entry?.ticket
  }

  private mutating func tidy(_ number: Int) {
    guard exists(number), !slots[number]!.queued, slots[number]!.lane.isEmpty else { return }
    numbers[slots[number]!.key] = nil
    let hash = slots[number]!.key.hash
    hashes[hash] = hashes[hash].flatMap { $0 > 1 ? $0 - 1 : nil }
    slots[number] = nil
    vacant.append(number)
  }

  func waits(_ number: Int) -> Bool { exists(number) && slots[number]!.lane.waiting > 0 }
  /// Lanes with order barriers: some may have ended.
  var withBarriers: [Int] { Array(barred) }
  /// All lanes, for what concerns a whole message or partition.
  var all: [Int] { slots.indices.filter { exists($0) } }
}
