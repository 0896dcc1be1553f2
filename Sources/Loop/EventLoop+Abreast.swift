extension EventLoop {
  /// Runs `work` for 0..<`count` on this loop, at most `width` of them at work at a time, and returns when all are done.
  package func abreast(_ count: Int, width: Int, _ work: @escaping (Int) async -> Void) async {
    guard count > 1 else {
      if count == 1 { await work(0) }
      return
    }
    let row = Row(count: count, workers: min(width, count))
    await withUnsafeContinuation { (waiter: UnsafeContinuation<Void, Never>) in
      for _ in 0..<row.workers {
        spawn {
          while let index = row.take() { await work(index) }
          if row.left() { waiter.resume() }
        }
      }
    }
  }
}

private final class Row {
  private let count: Int
  private var next = 0
  private(set) var workers: Int

  init(count: Int, workers: Int) {
    self.count = count
    self.workers = workers
  }
  func take() -> Int? {
    guard next < count else { return nil }
    defer { next += 1 }
    return next
  }
  /// True for the last worker.
  func left() -> Bool {
    workers -= 1
    return workers == 0
  }
}
