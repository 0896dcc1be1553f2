import Domain
import Loop
import Store
import Telemetry

/// What a sender has told of its credential.
struct ToldCondition {
  fileprivate var trouble: CircuitBreaker.Trouble?
  fileprivate(set) var condition: CredentialCondition?
  /// What the store says of this credential is this process's word, not that of one before it.
  fileprivate(set) var hasSpoken = false
  fileprivate var isTelling = false
  fileprivate var at: Instant?
}

/// What stands against the credential, told to everybody.
extension Sender {
  private var trouble: CircuitBreaker.Trouble? {
    if isRemoved { return .init(state: .blocked, reason: Self.notConfigured) }
    if let unreachableReason { return .init(state: .unreachable, reason: unreachableReason) }
    let now = context.loop.now
    if var trouble = gate.trouble {
      // A gate that lets all through, or that nothing waits at, hears of the provider by the next retry; a closed one
      // not before its time.
      if gate.isOpen || !hasWork, let retry = streak.nextRetry {
        trouble.nextTry = gate.isOpen ? retry : max(retry, trouble.nextTry ?? retry)
      }
      return trouble
    }
    return streak.trouble(now: now)
      ?? held.map { .init(state: .waiting, reason: $0.reason, nextTry: $0.until, until: $0.until) }
  }

  func tell(_ change: CircuitBreaker.Change) {
    defer { tellCondition() }
    switch change {
    case .none: return
    case .suspended(let reason):
      context.log(.warning, "credential_waits", ["credential": id.rawValue, "reason": reason])
    case .blocked(let reason):
      context.log(.error, "credential_blocked", ["credential": id.rawValue, "reason": reason])
    case .reopened:
      context.log(.info, "credential_reopened", ["credential": id.rawValue])
    }
    worker.turns.wake(self)
  }

  /// Tells it if it is another than before.
  func tellCondition() {
    let trouble = self.trouble
    if trouble != told.trouble || (!told.hasSpoken && trouble != nil) { tell(trouble) }
  }

  /// Tells once more what still stands, as it would be forgotten; and what stands since nothing was taken for a while.
  func retellCondition() {
    guard told.trouble != nil, let at = told.at, context.loop.now - at >= CredentialCondition.retold else {
      return tellCondition()
    }
    guard !isRemoved, let trouble,
      hasWork || [streak.lastFailure, postponedAt].contains(where: { $0.map { $0 > at } ?? false })
    else {
      return tellCondition()
    }
    tell(trouble)
  }

  /// The time of a retry came, and it waits on for the credential, out of memory.
  func postponed(until due: WallTime) {
    guard !gate.isOpen else { return }
    postponedAt = context.loop.now
    rests(until: due)
  }

  /// Retries that wait for the credential come again.
  var keepsRetries: Bool {
    guard !gate.isOpen, postponedAt != nil, let retry = streak.nextRetry else { return false }
    return retry > context.loop.now
  }

  /// An answer has shown that the credential is taken, or it is another now: what an earlier process said against it
  /// holds no more.
  func isTaken() {
    if !told.hasSpoken { tell(trouble) }
  }

  private func tell(_ trouble: CircuitBreaker.Trouble?) {
    told.hasSpoken = true
    told.trouble = trouble
    let (now, wall) = (context.loop.now, context.loop.wallNow)
    told.at = now
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
    context.background {
      var written: CredentialCondition?? = .none
      while written != .some(self.told.condition), !self.context.isStopped {
        let condition = self.told.condition
        do throws(StoreError) {
          try await self.context.store.conditions.set(self.id, condition)
          written = .some(condition)
        } catch {
          await self.context.loop.sleep(milliseconds: self.context.settings.flush.repeatAfter)
        }
      }
      self.told.isTelling = false
    }
  }
}
