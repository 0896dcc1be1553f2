/// A queue whose both ends are cheap.
struct FIFO<Element> {
  private var back: [Element] = []
  private var head = 0

  var isEmpty: Bool { head == back.count }
  var count: Int { back.count - head }

  mutating func append(_ element: Element) { back.append(element) }

  mutating func prepend(_ element: Element) {
    if head > 0 {
      head -= 1
      back[head] = element
    } else {
      back.insert(element, at: 0)
    }
  }

  mutating func popFirst() -> Element? {
    guard head < back.count else { return nil }
    let element = back[head]
    head += 1
    // Move what is left once the vacant half is the larger one: constant work per element.
    if head > 64, head * 2 > back.count {
      back.removeFirst(head)
      head = 0
    }
    return element
  }

  /// Takes all, in order.
  mutating func takeAll() -> [Element] {
    defer {
      back = []
      head = 0
    }
    return Array(back[head...])
  }
}
