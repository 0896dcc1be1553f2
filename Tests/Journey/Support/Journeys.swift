import Synchronization
import Testing

/// The whole system over its real parts: the built program, a Redis of its own, the sandbox over TLS and HTTP/2. They mostly
/// wait, so a few run side by side. Those that measure time run alone, after the others.
@Suite("Journeys", SideBySide(width: 4))
struct Journeys {}

/// Of a journey that measures time, or whose clock runs so fast that a busy machine looks like a fault.
struct Alone: TestTrait {}
extension Trait where Self == Alone {
  static var alone: Self { Self() }
}

/// Runs at most `width` test cases of the process at once. Those that are `alone` begin when no other waits or runs.
struct SideBySide: SuiteTrait, TestTrait, TestScoping {
  let width: Int
  var isRecursive: Bool { true }

  private static let places = Places()

  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
  ) async throws {
    let isAlone = test.traits.contains { $0 is Alone }
    await Self.places.enter(width, isAlone)
    defer { Self.places.leave(width, isAlone) }
    try await body()
  }

  /// Places of running test cases; who finds none free waits in line.
  private final class Places: Sendable {
    private struct State {
      /// Places that are taken; all of them by one that is alone.
      var taken = 0
      var waiting: [CheckedContinuation<Void, Never>] = []
      var alone: [CheckedContinuation<Void, Never>] = []

      /// Those that begin now.
      mutating func next(_ width: Int) -> [CheckedContinuation<Void, Never>] {
        var next: [CheckedContinuation<Void, Never>] = []
        while taken < width, !waiting.isEmpty {
          next.append(waiting.removeFirst())
          taken += 1
        }
        if taken == 0, !alone.isEmpty {
          next.append(alone.removeFirst())
          taken = width
        }
        return next
      }
    }
    private let state = Mutex(State())

    func enter(_ width: Int, _ isAlone: Bool) async {
      await withCheckedContinuation { continuation in
        let next = state.withLock { state in
          if isAlone { state.alone.append(continuation) } else { state.waiting.append(continuation) }
          return state.next(width)
        }
        for continuation in next { continuation.resume() }
      }
    }
    func leave(_ width: Int, _ isAlone: Bool) {
      let next = state.withLock { state in
        state.taken -= isAlone ? width : 1
        return state.next(width)
      }
      for continuation in next { continuation.resume() }
    }
  }
}
