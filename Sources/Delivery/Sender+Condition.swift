import Domain
import Loop
import Store

/// What a sender has told of its credential.
struct ToldCondition {
  fileprivate var trouble: CredentialGate.Trouble?
  fileprivate(set) var condition: CredentialCondition?
  /// What the store says of this credential is this process's word, not that of one before it.
  fileprivate(set) var hasSpoken = false
  fileprivate var isTelling = false
}

/// What stands against the credential, told to everybody.
extension Sender {
  private var trouble: CredentialGate.Trouble? {
    if isRemoved { return .init(state: .blocked, reason: Self.notConfigured) }
    if let unreachableReason { return .init(state: .unreachable, reason: unreachableReason) }
    return gate.trouble ?? heldReason.map { .init(state: .waiting, reason: $0) }
  }

  /// Tells it if it is another than before.
  func tellCondition() {
    let trouble = self.trouble
    if trouble != told.trouble || (!told.hasSpoken && trouble != nil) { tell(trouble) }
  }

  /// An answer has shown that the credential is taken, or it is another now: what an earlier process said against it holds no more.
  func isTaken() {
    if !told.hasSpoken { tell(trouble) }
  }

  private func tell(_ trouble: CredentialGate.Trouble?) {
    told.hasSpoken = true
    told.trouble = trouble
    let (now, wall) = (worker.loop.now, worker.loop.wallNow)
    let before = told.condition
    told.condition = trouble.map { trouble in
      let isSame = before?.state == trouble.state && before?.reason == trouble.reason
      return CredentialCondition(
        trouble.state, reason: trouble.reason, since: isSame ? before?.since ?? wall : wall,
        nextTry: trouble.nextTry.map { wall + ($0 - now) }, until: trouble.until.map { wall + ($0 - now) }, at: wall)
    }
    metrics.blocked(told.condition?.blocks == true)
    guard !told.isTelling else { return }
    told.isTelling = true
    worker.background {
      var written: CredentialCondition?? = .none
      while written != .some(self.told.condition), !self.worker.isStopped {
        let condition = self.told.condition
        do throws(StoreError) {
          try await self.worker.store.setCondition(self.id, condition)
          written = .some(condition)
        } catch {
          await self.worker.loop.sleep(milliseconds: self.worker.settings.flush.repeatAfter)
        }
      }
      self.told.isTelling = false
    }
  }
}
