import Domain

/// Whether one credential may send now (design D12, D14): everything while it is closed, nothing while it is open
/// (`waiting` and `blocked`), only probes while it is half open. A wait of the whole credential spends no attempt of
/// anybody: its deliveries stay where they are, and after the wait a single one tries first.
struct CircuitBreaker {
  enum State: Hashable {
    /// Exits: `waiting` by a quota or by failures in a row, `blocked` by a refusal of the credential.
    case closed
    /// A passing wait: a quota, or a provider that fails whatever it is asked. Exit: `halfOpen` when it is over.
    case waiting(until: Instant, reason: String)
    /// The operator's fault. Exit: `halfOpen` when it is time for another try.
    case blocked(reason: String, until: Instant)
    /// One delivery is at work, or several if it gets no answer. Exits: `closed` if one of them got any other answer,
    /// else back to where it came from.
    case halfOpen(reason: String, operatorsFault: Bool)
  }

  enum Passage: Hashable {
    case go
    /// One delivery may go; tell its end by `answered` or `withdrawn`.
    case probe
    /// The state changes by an answer, or not before `until`.
    case wait(until: Instant?)
  }

  /// What the owner has to tell the world.
  enum Change: Hashable {
    case none
    case suspended(reason: String)
    case blocked(reason: String)
    case recovered
  }

  static let noAuthorization = "authorization unavailable"
  static func refusal(_ reason: String) -> String { "every request is refused: \(reason)" }

  /// What stands against the credential, also while a probe finds out whether it still does, or while it sends all the
  /// same.
  struct Trouble: Hashable {
    var state: CredentialCondition.State
    var reason: String
    /// Nil: others are sent meanwhile.
    var nextTry: Instant?
    /// Until when the provider has asked to wait.
    var until: Instant?
  }

  private(set) var state = State.closed
  private(set) var trouble: Trouble?
  private var settings: BreakerSettings
  private var policy: RetryPolicy
  private var quotas = 0
  /// Failures in a row, without any other answer between them; and how often in a row they made the credential wait.
  private var failures = 0
  private var breaks = 0
  /// When an answer last showed that the provider serves. What was asked for before it, and failed, tells nothing of
  /// now.
  private var served: Instant?
  private var probes = Probes()
  /// Refusals of messages in a row for one reason, without any other answer between them.
  private var refusals = (count: 0, reason: "")
  /// When the authorization was last refused as expired, until a request begun later was accepted.
  private var expiredAt: Instant?

  init(settings: BreakerSettings, policy: RetryPolicy) {
    self.settings = settings
    self.policy = policy
  }

  var isClosed: Bool { state == .closed }
  /// Each second probe had better be another delivery than the one whose turn it is: nobody knows who is to blame.
  var wantsAnother: Bool { !probes.gone.isMultiple(of: 2) }

  /// An acceptance may change something: only then it has to be told.
  var heedsAcceptance: Bool { state != .closed || expiredAt != nil || failures > 0 || refusals.count > 0 }

  /// What comes back now would be let through, be it as the probe.
  func mayPass(now: Instant) -> Bool {
    switch state {
    case .closed, .halfOpen: true
    case .waiting(let until, _), .blocked(_, let until): until <= now
    }
  }
  /// Milliseconds after which it is worth to come back.
  func pause(now: Instant) -> Int64 {
    switch state {
    case .closed, .halfOpen: policy.settings.base
    case .waiting(let until, _), .blocked(_, let until): max(1, until - now)
    }
  }

  /// Now a probe may go, at least one that has not failed before.
  func wantsProbe(now: Instant) -> Bool {
    switch state {
    case .closed: false
    case .waiting(let until, _), .blocked(_, let until): until <= now
    case .halfOpen: probes.next(after: nil).map { $0 <= now } ?? false
    }
  }

  /// `isFresh`: what would go has not failed before.
  mutating func passage(now: Instant, isFresh: Bool = true) -> Passage {
    switch state {
    case .closed: return .go
    case .waiting(let until, let reason):
      if now < until { return .wait(until: until) }
      state = .halfOpen(reason: reason, operatorsFault: false)
      probes.begin()
    case .blocked(let reason, let until):
      if now < until { return .wait(until: until) }
      state = .halfOpen(reason: reason, operatorsFault: true)
      probes.begin()
    case .halfOpen:
      guard probes.atWork < settings.probesAtOnce else { return .wait(until: nil) }
      guard probes.mayGo(isFresh: isFresh, now: now) else { return .wait(until: probes.next(after: now)) }
    }
    probes.go(isFresh: isFresh, now: now, settings)
    return .probe
  }

  /// The next delivery may try at once.
  mutating func hurry(now: Instant) {
    switch state {
    case .waiting(_, let reason): state = .waiting(until: now, reason: reason)
    case .blocked(let reason, _): state = .blocked(reason: reason, until: now)
    // Beside those that have no answer yet.
    case .halfOpen: probes.hurry(now: now)
    case .closed: break
    }
  }

  /// The probe that was allowed did not go out after all.
  mutating func withdrawn(now: Instant) {
    probes.ended()
    allowAnother(now: now)
  }

  /// A probe has told nothing: another one may go, beside those that are still at work.
  private mutating func allowAnother(now: Instant) {
    guard case .halfOpen(let reason, let operatorsFault) = state else { return }
    guard probes.atWork == 0 else { return probes.allowAnother(now: now) }
    state = operatorsFault ? .blocked(reason: reason, until: now) : .waiting(until: now, reason: reason)
  }

  /// An answer, or the lack of one, to a request that began at `began`. `probe`: it was the one allowed through.
  /// `isTelling`: a failure tells of the provider; that of a delivery which has failed before tells of nothing but the
  /// delivery.
  mutating func answered(
    _ verdict: Verdict, began: Instant, probe: Bool, isTelling: Bool = true, now: Instant, jitter: Double
  ) -> Change {
    if probe { probes.ended() }
    switch verdict {
    case .blocked(let reason): return block(reason, began: began, probe: probe, now: now)
    case .retry(let retry):
      switch retry.cause {
      case .quota, .authorizationTooNew: return wait(retry, began: began, probe: probe, now: now, jitter: jitter)
      case .authorizationExpired: return expired(retry.reason, began: began, probe: probe, now: now)
      case .serverFault, .unknownOutcome:
        guard isTelling || probe else { return .none }
        if isOld(began) { return letAnother(probe, now: now) }
        if let change = failed(retry, probe: probe, isTelling: isTelling, now: now, jitter: jitter) { return change }
      case .notProcessed, .closing, .wrongConnection: return letAnother(probe, now: now)
      case .tokenBusy, .revised: break
      }
    case .accepted, .dead, .rejected: break
    }
    if let refused = expiredAt, refused < began { expiredAt = nil }
    if case .retry = verdict {} else { serves(now: now) }
    let recovers = if probe, case .halfOpen = state { true } else { false }
    if recovers {
      quotas = 0
      breaks = 0
      state = .closed
    }
    if state == .closed, failures == 0 { trouble = nil }
    refused(verdict)
    return recovers ? .recovered : .none
  }

  /// An answer has come that is no failure.
  mutating func serves(now: Instant) {
    failures = 0
    served = now
  }

  /// It was asked for before the last answer: what became of it tells nothing of how the provider is now.
  func isOld(_ began: Instant) -> Bool { served.map { began < $0 } ?? false }

  /// Many refusals in a row for one reason tell of the credential, or of what it is asked: that is told, and it sends
  /// on.
  private mutating func refused(_ verdict: Verdict) {
    switch verdict {
    case .rejected(let reason):
      refusals = (refusals.reason == reason ? refusals.count + 1 : 1, reason)
      guard state == .closed, refusals.count >= settings.refusalsToTell else { return }
      trouble = Trouble(state: .failing, reason: Self.refusal(reason))
    case .accepted, .dead: refusals = (0, "")
    case .retry, .blocked: break
    }
  }

  /// No authorization can be had before `until`; `blocked`: because of the operator; `passing`: what else is known.
  mutating func unavailable(blocked: String?, passing: String? = nil, until: Instant) -> Change {
    let before = state
    let reason = blocked ?? passing.map { "\(Self.noAuthorization): \($0)" } ?? Self.noAuthorization
    trouble = Trouble(state: blocked == nil ? .failing : .blocked, reason: reason, nextTry: until)
    state = blocked == nil ? .waiting(until: until, reason: reason) : .blocked(reason: reason, until: until)
    switch before {
    case .blocked(reason, _), .halfOpen(reason, _), .waiting(_, reason): return .none
    default: return blocked == nil ? .suspended(reason: reason) : .blocked(reason: reason)
    }
  }

  /// It says nothing about the credential: another one may try.
  private mutating func letAnother(_ probe: Bool, now: Instant) -> Change {
    if probe { allowAnother(now: now + policy.settings.base) }
    return .none
  }

  /// A 5xx, or no answer. After many in a row nothing but a probe goes, as each would cost its delivery an attempt.
  /// Nil: the answer shows at least that what stood against the credential has passed.
  private mutating func failed(
    _ retry: Retry, probe: Bool, isTelling: Bool, now: Instant, jitter: Double
  ) -> Change? {
    if state == .closed {
      failures += 1
      if failures >= settings.failuresToTell { trouble = Trouble(state: .failing, reason: retry.reason) }
    }
    let isProbe = if case .halfOpen = state { probe } else { false }
    guard (state == .closed && failures >= settings.failuresInARow) || (isProbe && breaks > 0) else {
      return retry.cause == .unknownOutcome ? letAnother(probe, now: now) : nil
    }
    // A delivery that has failed before is no reason to wait longer than the others have made it.
    if isTelling { breaks += 1 }
    if isProbe, retry.cause == .unknownOutcome, probes.atWork > 0 {
      // The others may still be answered, and those behind them have their time.
      trouble = Trouble(state: .failing, reason: retry.reason, nextTry: probes.next(after: now))
      return Change.none
    }
    let first = min(policy.settings.base, settings.firstPause)
    let span = min(settings.probeInterval, first << Int64(min(max(0, breaks - settings.quickProbes), 20)))
    let asked = retry.retryAfter.map { now + seconds($0) }
    let due = earliest(max(now + span + Int64(jitter * Double(span) / 4), asked ?? now), now: now)
    state = .waiting(until: due, reason: retry.reason)
    trouble = Trouble(state: .failing, reason: retry.reason, nextTry: due, until: asked)
    return breaks == 1 ? .suspended(reason: retry.reason) : Change.none
  }

  private mutating func wait(_ retry: Retry, began: Instant, probe: Bool, now: Instant, jitter: Double) -> Change {
    if case .blocked = state { return .none }
    // Answers to what was at work when the wait began say nothing new, except a longer time.
    let echo = if case .halfOpen = state { !probe } else { state != .closed }
    if !echo { quotas += 1 }
    let span = policy.suspension(
      retry.cause, times: quotas, retryAfter: retry.retryAfter, maximum: settings.maximumWait, jitter: jitter)
    var until = now + span
    if case .waiting(let earlier, _) = state { until = echo ? max(earlier, now + seconds(retry.retryAfter)) : until }
    // What was asked for stands, also where the answer to a probe says nothing of time.
    let before = trouble?.until.flatMap { $0 > now ? $0 : nil }
    let asked = retry.retryAfter.map { now + seconds($0) }
    let wish = echo ? [before, asked].compactMap { $0 }.max() : asked ?? before
    until = earliest(max(until, wish ?? until), now: now)
    state = .waiting(until: until, reason: retry.reason)
    trouble = Trouble(state: .waiting, reason: retry.reason, nextTry: until, until: wish)
    return echo ? .none : .suspended(reason: retry.reason)
  }

  /// However long a provider asks to wait: one delivery tries before.
  private func earliest(_ until: Instant, now: Instant) -> Instant { min(until, now + settings.longestPause) }

  private func seconds(_ count: Int?) -> Int64 { Int64(min(max(0, count ?? 0), 31_536_000)) * 1000 }

  private mutating func block(_ reason: String, began: Instant, probe: Bool, now: Instant) -> Change {
    if case .blocked = state { return .none }
    let known: Bool
    if case .halfOpen(let earlier, true) = state { known = earlier == reason } else { known = false }
    state = .blocked(reason: reason, until: now + settings.probeInterval)
    trouble = Trouble(state: .blocked, reason: reason, nextTry: now + settings.probeInterval)
    return known ? .none : .blocked(reason: reason)
  }

  /// Refused as too old: renewed once; if a request begun after the renewal is refused again, the operator is needed.
  private mutating func expired(_ reason: String, began: Instant, probe: Bool, now: Instant) -> Change {
    guard let refused = expiredAt else {
      expiredAt = now
      if probe { allowAnother(now: now) }
      return .none
    }
    if began <= refused {
      if probe { allowAnother(now: now) }
      return .none
    }
    expiredAt = now
    return block(reason, began: began, probe: probe, now: now)
  }

  /// True if this refusal is the first of its kind, so that the authorization has to be renewed.
  func renews(_ verdict: Verdict, began: Instant, probe: Bool) -> Bool {
    guard case .retry(let retry) = verdict else { return false }
    switch retry.cause {
    case .authorizationExpired: return expiredAt.map { $0 < began } ?? true
    case .authorizationTooNew: return isClosed || probe
    default: return false
    }
  }
}
