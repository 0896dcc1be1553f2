import Domain
import Loop

/// The steps of one import, some of which are at work at once: while Redis works on one, the next is looked up and prepared.
/// What comes later in the import wins as if they went one behind the other: a device that shares its id or its token with
/// one of an earlier step waits for the end of that step. Loop thread only.
final class Convoy {
  private struct Step {
    /// Ids of its devices, and those that their tokens give.
    var claims: Set<DeviceID> = []
    var hasClaimed = false
    var hasEnded = false
  }
  private var steps: [Step]
  private var waiting: [(isOver: () -> Bool, waiter: UnsafeContinuation<Void, Never>)] = []
  /// Under which its steps enter new devices: they are of different ones.
  var intents = Set<IntentName>()
  private(set) var results: [[PutResult]]
  private(set) var error: StoreError?

  init(_ count: Int) {
    steps = Array(repeating: Step(), count: count)
    results = Array(repeating: [], count: count)
  }

  /// A step begins when the one before it has said what it works on; with an error nothing more begins.
  func run(_ step: Int, _ body: () async throws(StoreError) -> [PutResult]) async {
    if step > 0 { await until { self.steps[step - 1].hasClaimed } }
    if error == nil {
      do throws(StoreError) {
        results[step] = try await body()
      } catch {
        if self.error == nil { self.error = error }
      }
    }
    steps[step] = Step(hasClaimed: true, hasEnded: true)
    wake()
  }

  /// True: an earlier step that is still at work works on one of them.
  func holds(_ id: DeviceID, _ derived: DeviceID, before step: Int) -> Bool {
    steps[..<step].contains { !$0.claims.isEmpty && ($0.claims.contains(id) || $0.claims.contains(derived)) }
  }

  /// `isAll`: of this step nothing is left to be looked up.
  func claim(_ ids: Set<DeviceID>, for step: Int, isAll: Bool) {
    if steps[step].claims.isEmpty { steps[step].claims = ids } else { steps[step].claims.formUnion(ids) }
    guard isAll, !steps[step].hasClaimed else { return }
    steps[step].hasClaimed = true
    wake()
  }

  /// Until all earlier steps have ended.
  func lead(_ step: Int) async { await until { self.steps[..<step].allSatisfy(\.hasEnded) } }

  private func until(_ isOver: @escaping () -> Bool) async {
    guard !isOver() else { return }
    await withUnsafeContinuation { waiter in
      // To wait takes a turn of the loop, in which what is waited for may have come.
      if isOver() { waiter.resume() } else { waiting.append((isOver, waiter)) }
    }
  }

  private func wake() {
    let over = waiting.filter { $0.isOver() }
    guard !over.isEmpty else { return }
    waiting.removeAll { $0.isOver() }
    for entry in over { entry.waiter.resume() }
  }
}
