import Domain

/// The streams at work on a client connection: one slot each, found by its number, and listed in the order of their
/// deadlines. Slots are reused; a finished stream leaves nothing behind.
struct StreamTable {
  struct Slot {
    var tag: UInt64 = 0
    var stream: Int32 = 0
    var deadline = Instant(nanoseconds: 0)
    /// Where its HEADERS begin in the connection's byte stream; the greatest number until they are made.
    var start = UInt64.max
    var requestBody: [UInt8] = []
    var requestSent = 0
    var status = 0
    var headers: [Header] = []
    var headerBytes = 0
    var body: [UInt8] = []
    var condition = Condition.working
    /// Its request was prepared: of an answer 200 the headers are not kept.
    var push: PreparedPush?
    fileprivate var used = false
    fileprivate var previous = none
    fileprivate var next = none

    /// As new; `headers` of a success were never kept.
    fileprivate mutating func reset() {
      stream = 0
      start = .max
      requestBody = []
      requestSent = 0
      status = 0
      headerBytes = 0
      if !headers.isEmpty { headers = [] }
      if !body.isEmpty { body = [] }
      condition = .working
      push = nil
      used = false
    }

    /// All of the request has been handed to nghttp2.
    var isRequestSent: Bool { requestSent == requestBody.count }
  }

  enum Condition: Equatable {
    case working
    /// The whole answer is here, or as much of it as is taken: it counts, whatever happens to the stream.
    case answered
    /// The connection went away before nghttp2 sent the request.
    case notSent
    /// nghttp2 can send it on no connection.
    case unsendable(String)
    /// The answer's headers went beyond their limit.
    case tooLarge
    /// The owner has been told already; the slot waits for nghttp2 to close the stream.
    case reported
  }

  private static let none = -1
  private var slots: [Slot] = []
  private var free: [Int] = []
  private var oldest = none
  private var newest = none
  private(set) var count = 0

  /// `deadline` must not be earlier than that of the slot taken before.
  mutating func take(tag: UInt64, deadline: Instant, body: [UInt8]) -> Int {
    var index = slots.count
    if let reused = free.popLast() { index = reused } else { slots.append(Slot()) }
    slots[index].tag = tag
    slots[index].deadline = deadline
    slots[index].requestBody = body
    slots[index].used = true
    slots[index].previous = newest
    if newest == Self.none { oldest = index } else { slots[newest].next = index }
    newest = index
    count += 1
    return index
  }

  subscript(index: Int) -> Slot {
    _read {
      precondition(slots[index].used, "a stream that has ended")
      yield slots[index]
    }
    _modify {
      precondition(slots[index].used, "a stream that has ended")
      yield &slots[index]
    }
  }

  mutating func remove(_ index: Int) -> Slot {
    let slot = self[index]
    unlist(index)
    slots[index] = Slot()
    free.append(index)
    count -= 1
    return slot
  }

  /// Takes the slot out if it holds the whole answer 200 to a prepared request.
  mutating func removeSuccess(_ index: Int) -> (tag: UInt64, body: [UInt8])? {
    precondition(slots[index].used, "a stream that has ended")
    guard slots[index].condition == .answered, slots[index].status == 200, slots[index].push != nil else { return nil }
    let success = (slots[index].tag, slots[index].body)
    unlist(index)
    slots[index].reset()
    free.append(index)
    count -= 1
    return success
  }

  /// Takes the slot out of the order of deadlines; it stays in use.
  mutating func stopWaiting(_ index: Int) { unlist(index) }

  private mutating func unlist(_ index: Int) {
    let (previous, next) = (slots[index].previous, slots[index].next)
    guard previous != Self.none || next != Self.none || oldest == index else { return }
    if previous == Self.none { oldest = next } else { slots[previous].next = next }
    if next == Self.none { newest = previous } else { slots[next].previous = previous }
    slots[index].previous = Self.none
    slots[index].next = Self.none
  }

  /// The slot whose deadline comes first.
  var first: Int? { oldest == Self.none ? nil : oldest }
  /// The slot whose deadline comes last.
  var last: Int? { newest == Self.none ? nil : newest }

  /// Requests that are waited for, and whose deadline comes within these milliseconds.
  func count(dueWithin milliseconds: Int64, now: Instant) -> Int {
    var count = 0
    var index = oldest
    while index != Self.none, slots[index].deadline - now <= milliseconds {
      count += 1
      index = slots[index].next
    }
    return count
  }

  /// The slots in use.
  var indices: [Int] { slots.indices.filter { slots[$0].used } }

  /// Takes out all slots, in the order of their numbers.
  mutating func removeAll() -> [Slot] {
    defer { self = StreamTable() }
    return slots.filter(\.used)
  }
}
