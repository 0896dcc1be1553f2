import Foundation

/// Work that blocks, on a thread of its own. The pool of Swift's tasks has as many threads as the machine has cores: blocked
/// there, two peers that wait for their clients would keep those clients from ever running.
package func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Task<Value, Never> {
  let (results, result) = AsyncStream.makeStream(of: Value.self)
  Thread.detachNewThread {
    result.yield(body())
    result.finish()
  }
  return Task {
    for await value in results { return value }
    preconditionFailure("a thread ended without its result")
  }
}
