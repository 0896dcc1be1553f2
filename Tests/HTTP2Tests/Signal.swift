import Loop
import Support
import Testing

/// Lets a test wait on the loop until what it sees of its parties holds. Each party calls `changed` after every event.
final class Signal {
  private let loop: EventLoop
  private var waiting: [(condition: () -> Bool, waiter: UnsafeContinuation<Bool, Never>, timer: Timer)] = []
  init(_ loop: EventLoop) { self.loop = loop }

  func changed() {
    for index in waiting.indices.reversed() where waiting[index].condition() {
      let (_, waiter, timer) = waiting.remove(at: index)
      loop.cancel(timer)
      waiter.resume(returning: true)
    }
  }

  /// Fails the test when it takes longer than any machine should need.
  func until(_ what: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ condition: @escaping () -> Bool)
    async
  {
    if condition() { return }
    let held = await withUnsafeContinuation { (waiter: UnsafeContinuation<Bool, Never>) in
      let timer = loop.after(milliseconds: 20_000 * Int64(Sanitizer.slowness)) { [self] in
        waiting.removeAll()
        waiter.resume(returning: false)
      }
      waiting.append((condition, waiter, timer))
    }
    #expect(held, what, sourceLocation: sourceLocation)
  }
}
