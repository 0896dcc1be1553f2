import Synchronization
import Testing

/// The whole system over its real parts: the built program, a Redis of its own, the sandbox over TLS and HTTP/2. They mostly
/// wait, so a few run side by side.
@Suite("Journeys", SideBySide(width: 4))
struct Journeys {}

/// Runs at most `width` test cases of the process at once.
struct SideBySide: SuiteTrait, TestTrait, TestScoping {
  let width: Int
  var isRecursive: Bool { true }

  private static let places = Places()

  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
  ) async throws {
    await Self.places.enter(width)
    defer { Self.places.leave() }
    try await body()
  }

  /// Places of running test cases; who finds none free waits in line.
  private final class Places: Sendable {
    private struct State {
      var taken = 0
      var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    func enter(_ width: Int) async {
      await withCheckedContinuation { continuation in
        let isFree = state.withLock { state in
          guard state.taken < width else {
            state.waiting.append(continuation)
            return false
          }
          state.taken += 1
          return true
        }
        if isFree { continuation.resume() }
      }
    }
    /// Hands the place to who waits longest.
    func leave() {
      let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
        guard !state.waiting.isEmpty else {
          state.taken -= 1
          return nil
        }
        return state.waiting.removeFirst()
      }
      next?.resume()
    }
  }
}
