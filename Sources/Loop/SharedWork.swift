/// One piece of work for all who ask for it while it is under way: Redis is asked once, not once for each of them. Belongs to
/// a loop.
package final class SharedWork<Value: Sendable> {
  private var waiting: [UnsafeContinuation<Value, Never>] = []
  private var isAtWork = false

  /// Not under way.
  package init() {}

  /// Does the work; or, while it is under way, waits for what comes of it. That may have been found before this was asked.
  package func value(_ work: () async -> Value) async -> Value {
    guard !isAtWork else { return await withUnsafeContinuation { waiting.append($0) } }
    isAtWork = true
    let value = await work()
    isAtWork = false
    let all = waiting
    waiting = []
    for one in all { one.resume(returning: value) }
    return value
  }
}
