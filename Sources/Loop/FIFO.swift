/// First in, first out, in amortised constant time; both ends are cheap. What was taken is let go at once.
///
/// Public and inlinable, as what is generic is otherwise called through witness tables from other modules: 2 % of a campaign's
/// samples. The compiler inlines nothing that is visible in the package only.
public struct FIFO<Element> {
  @usableFromInline var items: [Element?] = []
  @usableFromInline var head = 0

  /// Below so many vacant places nothing is moved or given back.
  @usableFromInline static var slack: Int { 1_024 }

  @inlinable public init() {}

  @inlinable @inline(__always) public var isEmpty: Bool { head == items.count }
  @inlinable @inline(__always) public var first: Element? { head < items.count ? items[head] : nil }
  @inlinable @inline(__always) public var count: Int { items.count - head }

  @inlinable @inline(__always) public mutating func append(_ element: Element) { items.append(element) }

  /// Cheap for what was just taken; otherwise everything moves.
  @inlinable @inline(__always) public mutating func prepend(_ element: Element) {
    if head > 0 {
      head -= 1
      items[head] = element
    } else {
      items.insert(element, at: 0)
    }
  }

  @inlinable @inline(__always) public mutating func popFirst() -> Element? {
    guard head < items.count else { return nil }
    let element = items[head]
    items[head] = nil
    head += 1
    if head == items.count {
      items.removeAll(keepingCapacity: head <= 4 * Self.slack)
      head = 0
    } else if head > Self.slack, head * 2 > items.count {
      // Constant work per element: the vacant half is the larger one.
      items.removeFirst(head)
      head = 0
    }
    return element
  }

  /// The youngest.
  @inlinable @inline(__always) public mutating func popLast() -> Element? {
    guard head < items.count else { return nil }
    let element = items.removeLast()
    if head == items.count {
      items.removeAll(keepingCapacity: true)
      head = 0
    }
    return element
  }

  /// Moves the first that meets the condition, of so many from the front or from the end, to the front; false: none
  /// does.
  public mutating func bringForward(among most: Int, youngest: Bool, where condition: (Element) -> Bool) -> Bool {
    let places = head..<items.count
    let found =
      youngest
      ? places.suffix(most).last { items[$0].map(condition) ?? false }
      : places.prefix(most).first { items[$0].map(condition) ?? false }
    guard let found else { return false }
    if found > head { items.insert(items.remove(at: found), at: head) }
    return true
  }

  /// Takes all, in order.
  @inlinable @inline(__always) public mutating func takeAll() -> [Element] {
    defer {
      items = []
      head = 0
    }
    return items[head...].compactMap { $0 }
  }

  @inlinable @inline(__always) public mutating func change(_ body: (inout Element) -> Void) {
    for index in head..<items.count { body(&items[index]!) }
  }
}
