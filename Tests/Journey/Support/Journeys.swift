import Synchronization
import Testing

/// The whole system over its real parts: the built program, a Redis of its own, the sandbox over TLS and HTTP/2. They mostly
/// wait, so several run side by side. Those that a busy machine could mislead begin first, with few others beside them.
@Suite("Journeys", SideBySide())
struct Journeys {}

/// What may run beside a journey.
enum Company {
  /// Most of them: seven more, and three as long as there are timed ones.
  case usual
  /// Those that measure seconds, which a busy machine would stretch, and those whose clock runs so fast that a busy machine
  /// looks like a fault. They use little of the machine themselves.
  case timed
  /// Nothing: it measures how fast the machine is, or keeps it busy.
  case alone

  /// How many of them run at once at most.
  fileprivate func most(besideTimed: Bool) -> Int {
    switch self {
    case .usual: besideTimed ? 4 : 8
    case .timed: 8
    case .alone: 1
    }
  }
}
struct Beside: TestTrait {
  let company: Company
}
extension Trait where Self == Beside {
  static var timed: Self { Self(company: .timed) }
  static var alone: Self { Self(company: .alone) }
}

/// Holds test cases of the process back until what runs is company for them.
struct SideBySide: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  private static let places = Places()

  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
  ) async throws {
    let company = test.traits.lazy.compactMap { ($0 as? Beside)?.company }.first ?? .usual
    await Self.places.enter(company)
    defer { Self.places.leave(company) }
    try await body()
  }

  /// Running test cases, and those that wait in line.
  private final class Places: Sendable {
    private struct State {
      var running: [Company: Int] = [:]
      var waiting: [Company: [CheckedContinuation<Void, Never>]] = [:]

      /// Those that begin now.
      mutating func next() -> [CheckedContinuation<Void, Never>] {
        var next: [CheckedContinuation<Void, Never>] = []
        for company in [Company.timed, .usual, .alone] {
          while let first = waiting[company]?.first, hasPlace(company) {
            waiting[company]?.removeFirst()
            running[company, default: 0] += 1
            next.append(first)
          }
        }
        return next
      }

      private func hasPlace(_ company: Company) -> Bool {
        func count(_ of: Company) -> Int { running[of, default: 0] }
        func isLeft(_ of: Company) -> Bool { count(of) > 0 || waiting[of]?.isEmpty == false }
        let isFree = company == .alone ? !isLeft(.usual) && !isLeft(.timed) : count(.alone) == 0
        return isFree && count(company) < company.most(besideTimed: isLeft(.timed))
      }
    }
    private let state = Mutex(State())

    func enter(_ company: Company) async {
      await withCheckedContinuation { continuation in
        let next = state.withLock { state in
          state.waiting[company, default: []].append(continuation)
          return state.next()
        }
        for continuation in next { continuation.resume() }
      }
    }
    func leave(_ company: Company) {
      let next = state.withLock { state in
        state.running[company, default: 0] -= 1
        return state.next()
      }
      for continuation in next { continuation.resume() }
    }
  }
}
