import Domain
import Loop
import Store
import Telemetry

/// What stands against a credential, and what of it is told to everybody.
final class CredentialStatus: SenderPart {
  var breaker: CircuitBreaker
  /// Answers since the last push that was taken.
  var streak: FailureStreak
  /// Why nothing goes although the credential is good, and until when.
  private(set) var held: (reason: String, until: Instant)?
  /// What everybody may know of what stands against it.
  private(set) var told = ToldCondition()
  /// Why no connection came about the last times.
  private(set) var unreachableReason: String?
  /// When the time of a retry last came that waits on.
  private var postponedAt: Instant?
  private var waitLog = WaitLog()

  override init(_ sender: Sender) {
    let settings = sender.context.settings.breaker
    breaker = CircuitBreaker(settings: settings, policy: sender.policy)
    streak = FailureStreak(settings)
    super.init(sender)
  }

  /// Nothing is known against the credential any more.
  func resetBreaker() {
    unreachableReason = nil
    breaker = CircuitBreaker(settings: settings.breaker, policy: sender.policy)
    streak = FailureStreak(settings.breaker)
    waitLog = WaitLog()
  }

  var isUnreachable: Bool { unreachableReason != nil }

  func unreachable(_ reason: String) {
    unreachableReason = "unreachable: \(reason)"
    tellCondition()
  }

  func reached() {
    guard unreachableReason != nil else { return }
    unreachableReason = nil
    tellCondition()
  }

  /// A row of a batch was accepted.
  func rowAccepted(began: Instant, now: Instant) {
    let heeds = breaker.heedsAcceptance || !streak.isEmpty
    streak.taken(now: now)
    if heeds {
      tell(breaker.answered(.accepted(id: nil), began: began, probe: false, now: now, jitter: 0))
    } else {
      breaker.serves(now: now)
    }
  }

  // MARK: Telling

  private var trouble: CircuitBreaker.Trouble? {
    if sender.isRemoved { return .init(state: .blocked, reason: Sender.notConfigured) }
    if let unreachableReason { return .init(state: .unreachable, reason: unreachableReason) }
    let now = loop.now
    if var trouble = breaker.trouble {
      // A closed breaker, or one that nothing waits at, hears of the provider by the next retry; an open one not before
      // its time.
      if breaker.isClosed || !sender.hasWork, let retry = streak.nextRetry {
        trouble.nextTry = breaker.isClosed ? retry : max(retry, trouble.nextTry ?? retry)
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
      if let waits = waitLog.began(reason, now: loop.now) {
        log(.warning, "credential_waits", ["credential": sender.id.rawValue, "reason": reason, "waits": String(waits)])
      }
    case .blocked(let reason):
      waitLog.blocked()
      log(.error, "credential_blocked", ["credential": sender.id.rawValue, "reason": reason])
    case .recovered:
      if let waits = waitLog.ended() {
        log(.info, "credential_reopened", ["credential": sender.id.rawValue, "waits": String(waits)])
      }
    }
    worker.turns.wake(sender)
  }

  /// Tells it if it is another than before.
  func tellCondition() {
    let trouble = self.trouble
    if trouble != told.trouble || (!told.hasSpoken && trouble != nil) { tell(trouble) }
  }

  /// Tells once more what still stands, as it would be forgotten; and what stands since nothing was taken for a while.
  func retellCondition() {
    guard told.trouble != nil, let at = told.at, loop.now - at >= CredentialCondition.retold else {
      return tellCondition()
    }
    guard !sender.isRemoved, let trouble,
      sender.hasWork || [streak.lastFailure, postponedAt].contains(where: { $0.map { $0 > at } ?? false })
    else {
      return tellCondition()
    }
    tell(trouble)
  }

  /// Why nothing goes although the credential is good, and until when; nil: it goes on.
  func hold(_ reason: String, until: Instant?) {
    if (held == nil) != (until == nil) {
      log(
        until == nil ? .info : .warning, "credential_held",
        ["credential": sender.id.rawValue, "reason": until == nil ? "over" : reason])
    }
    held = until.map { (reason, $0) }
    tellCondition()
  }

  /// A delivery that failed goes again then.
  func rests(until due: WallTime) {
    let now = loop.now
    streak.rests(until: now + max(0, due - loop.wallNow), now: now)
    tellCondition()
  }

  /// The time of a retry came, and it waits on for the credential, out of memory.
  func postponed(until due: WallTime) {
    guard !breaker.isClosed else { return }
    postponedAt = loop.now
    rests(until: due)
  }

  /// Retries that wait for the credential come again.
  var keepsRetries: Bool {
    guard !breaker.isClosed, postponedAt != nil, let retry = streak.nextRetry else { return false }
    return retry > loop.now
  }

  /// An answer has shown that the credential is taken, or it is another now: what an earlier process said against it
  /// holds no more.
  func isTaken() {
    if !told.hasSpoken { tell(trouble) }
  }

  private func tell(_ trouble: CircuitBreaker.Trouble?) {
    told.hasSpoken = true
    told.trouble = trouble
    let (now, wall) = (loop.now, loop.wallNow)
    told.at = now
    let before = told.condition
    told.condition = trouble.map { trouble in
      let isSame = before?.state == trouble.state && before?.reason == trouble.reason
      return CredentialCondition(
        trouble.state, reason: trouble.reason, since: isSame ? before?.since ?? wall : wall,
        nextTry: trouble.nextTry.map { wall + ($0 - now) }, until: trouble.until.map { wall + ($0 - now) }, at: wall)
    }
    sender.metrics.blocked(told.condition?.blocks == true)
    guard !told.isTelling else { return }
    told.isTelling = true
    background {
      var written: CredentialCondition?? = .none
      while written != .some(self.told.condition), !self.isStopped {
        let condition = self.told.condition
        do throws(StoreError) {
          try await self.store.conditions.set(self.sender.id, condition)
          written = .some(condition)
        } catch {
          await self.loop.sleep(milliseconds: self.settings.flush.repeatAfter)
        }
      }
      self.told.isTelling = false
    }
  }
}

/// What a sender has told of its credential.
struct ToldCondition {
  fileprivate var trouble: CircuitBreaker.Trouble?
  fileprivate(set) var condition: CredentialCondition?
  /// What the store says of this credential is this process's word, not that of one before it.
  fileprivate(set) var hasSpoken = false
  fileprivate var isTelling = false
  fileprivate var at: Instant?
}
