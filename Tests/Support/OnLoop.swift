package import Loop

/// An object that lives on a loop, within reach of a test: whatever is done with it is done there.
package struct OnLoop<Object>: @unchecked Sendable {
  package let loop: EventLoop
  private let object: Object

  package init(_ loop: EventLoop, _ make: @escaping @Sendable (EventLoop) throws -> Object) async throws {
    self.loop = loop
    object = try await loop.run { Handed(value: try make(loop)) }.value
  }

  package func callAsFunction<Value: Sendable>(
    _ body: @escaping @Sendable (Object) async throws -> Value
  ) async throws -> Value {
    let handed = Handed(value: object)
    return try await loop.run { try await body(handed.value) }
  }
}

private struct Handed<Value>: @unchecked Sendable { let value: Value }
