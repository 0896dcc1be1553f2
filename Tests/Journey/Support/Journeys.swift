import Synchronization
import Testing

/// The whole system over its real parts: the built program, a Redis of its own, the sandbox over TLS and HTTP/2. They mostly
/// wait, so several run side by side. Those that a busy machine could mislead run after the others, with fewer beside them.
@Suite("Journeys", SideBySide(width: 6))
struct Journeys {}

/// A journey that does not run beside any number of others. It begins when all of those have ended.
struct Beside: TestTrait {
  /// How many of its kind run at once.
  let most: Int
}
extension Trait where Self == Beside {
  /// It measures time: nothing runs beside it.
  static var alone: Self { Self(most: 1) }
  /// Its clock runs so fast that a busy machine looks like a fault. It uses little of the machine itself.
  static var fastClock: Self { Self(most: 3) }
}

/// Runs at most `width` test cases of the process at once, and fewer of those that ask for it.
struct SideBySide: SuiteTrait, TestTrait, TestScoping {
  let width: Int
  var isRecursive: Bool { true }

  private static let places = Places()

  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
  ) async throws {
    await Self.places.enter(test.traits.lazy.compactMap { $0 as? Beside }.first?.most ?? width)
    defer { Self.places.leave() }
    try await body()
  }

  /// Running test cases, all of one kind, and those that wait in line.
  private final class Places: Sendable {
    private struct State {
      /// How many of the kind at work run at once at most, and how many do.
      var running = (kind: 0, count: 0)
      /// By how many of a kind run at once.
      var waiting: [Int: [CheckedContinuation<Void, Never>]] = [:]

      /// Those that begin now: the kinds one after the other, of which most run at once first.
      mutating func next() -> [CheckedContinuation<Void, Never>] {
        if running.count == 0, let kind = waiting.filter({ !$0.value.isEmpty }).keys.max() { running.kind = kind }
        guard waiting.allSatisfy({ $0.key <= running.kind || $0.value.isEmpty }) else { return [] }
        var next: [CheckedContinuation<Void, Never>] = []
        while running.count < running.kind, !waiting[running.kind, default: []].isEmpty {
          next.append(waiting[running.kind]!.removeFirst())
          running.count += 1
        }
        return next
      }
    }
    private let state = Mutex(State())

    func enter(_ most: Int) async {
      await withCheckedContinuation { continuation in
        let next = state.withLock { state in
          state.waiting[most, default: []].append(continuation)
          return state.next()
        }
        for continuation in next { continuation.resume() }
      }
    }
    func leave() {
      let next = state.withLock { state in
        state.running.count -= 1
        return state.next()
      }
      for continuation in next { continuation.resume() }
    }
  }
}
