/// Carries a value onto the loop's thread. Sound because the value is used there only: a task with an executor preference
/// runs on that executor, as do the nonisolated functions it calls.
private struct Carried<Value>: @unchecked Sendable {
  let value: Value
}

extension EventLoop {
  /// Runs `body` as a task whose every step runs on this loop: it may use what belongs to the loop. From another thread
  /// `body` must carry nothing that is used elsewhere.
  @discardableResult
  package func spawn(_ body: @escaping () async -> Void) -> Task<Void, Never> {
    let carried = Carried(value: body)
    return Task(executorPreference: self) { await carried.value() }
  }

  /// The value of `body`, run on this loop and awaited from anywhere; how tests and start-up reach loop-owned objects.
  package func run<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await Task(executorPreference: self) { try await body() }.value
  }
}
