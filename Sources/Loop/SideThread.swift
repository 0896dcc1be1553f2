/// A second thread beside a loop, for work on what a client sent that takes longer than a turn of the loop should: reading
/// megabytes. Starts with its first work. Belongs to the loop that it stands beside.
package final class SideThread {
  private let loop: EventLoop
  private lazy var thread = loop.start()
  private var isStarted = false

  /// `name` is for whoever debugs.
  package init(name: String) { loop = EventLoop(name: name) }

  deinit {
    guard isStarted else { return }
    loop.stop()
    thread.join()
  }

  /// What `work` returns. One after another, in the order of the calls. Until then nobody else may use what `work` holds.
  package func run<Value>(_ work: @escaping () -> Value) async -> Value {
    isStarted = true
    _ = thread
    let carried = Carried(value: work)
    do {
      return try await loop.run { Carried(value: carried.value()) }.value
    } catch {
      preconditionFailure("nothing is thrown by it")
    }
  }

  /// Sound because one thread alone uses the value at a time.
  private struct Carried<Value>: @unchecked Sendable {
    let value: Value
  }
}
