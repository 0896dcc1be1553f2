import Glibc
import Synchronization

/// From the main thread into a loop and back, for start-up and commands. Never on a loop's own thread.
package enum Blocking {
  /// Runs `body` on the loop, and returns what it returns.
  package static func on<Value: Sendable>(
    _ loop: EventLoop, _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let answer = Answer<Value>()
    Task {
      do {
        let value = try await loop.run(body)
        answer.give(.success(value))
      } catch {
        answer.give(.failure(error))
      }
    }
    return try answer.wait()
  }

  /// Runs `body` on a loop made for it.
  package static func run<Value: Sendable>(_ body: @escaping @Sendable (EventLoop) async throws -> Value) throws
    -> Value
  {
    let loop = EventLoop(name: "command")
    let thread = loop.start()
    defer {
      loop.stop()
      thread.join()
    }
    return try on(loop) { try await body(loop) }
  }

  private final class Answer<Value: Sendable>: Sendable {
    private let value = Mutex<Result<Value, any Error>?>(nil)
    private nonisolated(unsafe) let ready = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(ready, 0, 0) }
    deinit {
      sem_destroy(ready)
      ready.deallocate()
    }
    func give(_ result: Result<Value, any Error>) {
      value.withLock { $0 = result }
      sem_post(ready)
    }
    func wait() throws -> Value {
      while sem_wait(ready) != 0 {}
      return try value.withLock { $0! }.get()
    }
  }
}
