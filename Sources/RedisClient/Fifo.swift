/// First in, first out, in amortised constant time.
struct Fifo<Element> {
  private var items: [Element?] = []
  private var head = 0

  var first: Element? { head < items.count ? items[head] : nil }
  var count: Int { items.count - head }

  mutating func append(_ element: Element) { items.append(element) }

  mutating func popFirst() -> Element? {
    guard head < items.count else { return nil }
    let element = items[head]
    items[head] = nil
    head += 1
    if head == items.count {
      items.removeAll(keepingCapacity: head < 4096)
      head = 0
    } else if head > 1024, head * 2 > items.count {
      items.removeFirst(head)
      head = 0
    }
    return element
  }

  mutating func takeAll() -> [Element] {
    defer {
      items = []
      head = 0
    }
    return items[head...].compactMap { $0 }
  }

  mutating func change(_ body: (inout Element) -> Void) {
    for index in head..<items.count { body(&items[index]!) }
  }
}
