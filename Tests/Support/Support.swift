package import Loop

/// A loop on a thread of its own for one test.
package func withLoop<Value: Sendable>(
  _ body: @escaping @Sendable (EventLoop) async throws -> Value
) async throws -> Value {
  let loop = EventLoop(name: "test")
  let thread = loop.start()
  defer {
    loop.stop()
    thread.join()
  }
  return try await loop.run { try await body(loop) }
}
