import Domain

/// Names a timer of one loop.
package struct Timer: Hashable, Sendable { let number: UInt64 }

/// Timers by deadline. A removed timer leaves its place in the heap until it would have fired.
struct TimerHeap {
  private struct Entry {
    var deadline: Instant
    var number: UInt64
    func precedes(_ other: Self) -> Bool { (deadline, number) < (other.deadline, other.number) }
  }
  private var heap: [Entry] = []
  private var calls: [UInt64: () -> Void] = [:]
  private var last: UInt64 = 0

  mutating func add(deadline: Instant, _ call: @escaping () -> Void) -> Timer {
    last += 1
    calls[last] = call
    heap.append(Entry(deadline: deadline, number: last))
    var child = heap.count - 1
    while child > 0, heap[child].precedes(heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
    return Timer(number: last)
  }

  mutating func remove(_ timer: Timer) { calls[timer.number] = nil }

  private mutating func removeFirst() -> Entry {
    let first = heap[0]
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].precedes(heap[least]) {
        least = child
      }
      if least == parent { return first }
      heap.swapAt(parent, least)
      parent = least
    }
  }

  /// The calls that are due, in the order of their deadlines, taken out.
  mutating func due(now: Instant) -> [() -> Void] {
    var due: [() -> Void] = []
    while let first = heap.first, first.deadline <= now {
      if let call = calls.removeValue(forKey: removeFirst().number) { due.append(call) }
    }
    return due
  }

  /// -1 without timers, else milliseconds rounded up: what epoll waits.
  mutating func millisecondsToNext(now: Instant) -> Int32 {
    while let first = heap.first, calls[first.number] == nil { _ = removeFirst() }
    guard let first = heap.first else { return -1 }
    return Int32(clamping: first.deadline - now)
  }
}
