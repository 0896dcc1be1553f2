import Domain

/// Whether one credential may send now (design D12, D14). A wait of the whole credential spends no attempt of anybody: its
/// deliveries stay where they are, and after the wait a single one tries first.
struct CredentialGate {
  enum State: Hashable {
    /// Exits: `waiting` by a quota or by failures in a row, `blocked` by a refusal of the credential.
    case open
    /// A passing wait: a quota, or a provider that fails whatever it is asked. Exit: `probing` when it is over.
    case waiting(until: Instant, reason: String)
    /// The operator's fault. Exit: `probing` when it is time for another try.
    case blocked(reason: String, until: Instant)
    /// One delivery is at work. Exits: `open` if it got any other answer, else back to where it came from.
    case probing(reason: String, operatorsFault: Bool)
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
    case reopened
  }

  static let noAuthorization = "authorization unavailable"

  private(set) var state = State.open
  private var settings: GateSettings
  private var policy: RetryPolicy
  private var quotas = 0
  /// Failures in a row, without any other answer between them; and how often in a row they made the credential wait.
  private var failures = 0
  private var breaks = 0
  /// When the authorization was last refused as expired, until a request begun later was accepted.
  private var expiredAt: Instant?
  private var closedAt: Instant?

  init(settings: GateSettings, policy: RetryPolicy) {
    self.settings = settings
    self.policy = policy
  }

  var isOpen: Bool { state == .open }

  /// An acceptance may change something: only then it has to be told.
  var heedsAcceptance: Bool { state != .open || expiredAt != nil || failures > 0 }

  /// Why the operator is needed.
  var blockedReason: String? {
    switch state {
    case .blocked(let reason, _), .probing(let reason, true): reason
    case .open, .waiting, .probing: nil
    }
  }

  /// What comes back now would be let through, be it as the probe.
  func mayPass(now: Instant) -> Bool {
    switch state {
    case .open, .probing: true
    case .waiting(let until, _), .blocked(_, let until): until <= now
    }
  }
  /// Milliseconds after which it is worth to come back.
  func pause(now: Instant) -> Int64 {
    switch state {
    case .open, .probing: policy.settings.base
    case .waiting(let until, _), .blocked(_, let until): max(1, until - now)
    }
  }

  mutating func passage(now: Instant) -> Passage {
    switch state {
    case .open: return .go
    case .probing: return .wait(until: nil)
    case .waiting(let until, let reason):
      if now < until { return .wait(until: until) }
      state = .probing(reason: reason, operatorsFault: false)
      return .probe
    case .blocked(let reason, let until):
      if now < until { return .wait(until: until) }
      state = .probing(reason: reason, operatorsFault: true)
      return .probe
    }
  }

  /// The probe that was allowed did not go out after all.
  mutating func withdrawn(now: Instant) {
    guard case .probing(let reason, let operatorsFault) = state else { return }
    state = operatorsFault ? .blocked(reason: reason, until: now) : .waiting(until: now, reason: reason)
  }

  /// An answer, or the lack of one, to a request that began at `began`. `probe`: it was the one allowed through.
  mutating func answered(_ verdict: Verdict, began: Instant, probe: Bool, now: Instant, jitter: Double) -> Change {
    switch verdict {
    case .blocked(let reason): return block(reason, began: began, probe: probe, now: now)
    case .retry(let retry):
      switch retry.cause {
      case .quota, .authorizationTooNew: return wait(retry, began: began, probe: probe, now: now, jitter: jitter)
      case .authorizationExpired: return expired(retry.reason, began: began, probe: probe, now: now)
      case .serverFault, .unknownOutcome:
        if let change = failed(retry, probe: probe, now: now, jitter: jitter) { return change }
      case .notProcessed, .closing, .wrongConnection: return letAnother(probe, now: now)
      case .tokenBusy, .revised: break
      }
    case .accepted, .dead, .rejected: break
    }
    if let refused = expiredAt, refused < began { expiredAt = nil }
    if case .retry = verdict {} else { failures = 0 }
    guard probe, case .probing = state else { return .none }
    quotas = 0
    breaks = 0
    state = .open
    return .reopened
  }

  /// No authorization can be had before `until`; `blocked`: because of the operator.
  mutating func unavailable(blocked: String?, until: Instant) -> Change {
    let before = state
    let reason = blocked ?? Self.noAuthorization
    state = blocked == nil ? .waiting(until: until, reason: reason) : .blocked(reason: reason, until: until)
    switch before {
    case .blocked(reason, _), .probing(reason, _), .waiting(_, reason): return .none
    default: return blocked == nil ? .suspended(reason: reason) : .blocked(reason: reason)
    }
  }

  /// It says nothing about the credential: another one may try.
  private mutating func letAnother(_ probe: Bool, now: Instant) -> Change {
    if probe { withdrawn(now: now + policy.settings.base) }
    return .none
  }

  /// A 5xx, or no answer. After many in a row nothing but a probe goes, as each would cost its delivery an attempt. Nil: the answer
  /// shows at least that what stood against the credential has passed.
  private mutating func failed(_ retry: Retry, probe: Bool, now: Instant, jitter: Double) -> Change? {
    if state == .open { failures += 1 }
    guard (state == .open && failures >= settings.failuresInARow) || (probe && breaks > 0) else {
      return retry.cause == .unknownOutcome ? letAnother(probe, now: now) : nil
    }
    breaks += 1
    let base = policy.settings.base
    let span = min(settings.probeInterval, base << Int64(min(breaks - 1, 20)))
    state = .waiting(until: now + span + Int64(jitter * Double(span) / 4), reason: retry.reason)
    return breaks == 1 ? .suspended(reason: retry.reason) : Change.none
  }

  private mutating func wait(_ retry: Retry, began: Instant, probe: Bool, now: Instant, jitter: Double) -> Change {
    if case .blocked = state { return .none }
    // Answers to what was at work when the wait began say nothing new, except a longer time.
    let echo = !probe && state != .open
    if !echo { quotas += 1 }
    let span = policy.suspension(
      retry.cause, times: quotas, retryAfter: retry.retryAfter, maximum: settings.maximumWait, jitter: jitter)
    var until = now + span
    if case .waiting(let earlier, _) = state { until = echo ? max(earlier, now + seconds(retry.retryAfter)) : until }
    state = .waiting(until: until, reason: retry.reason)
    return echo ? .none : .suspended(reason: retry.reason)
  }

  private func seconds(_ count: Int?) -> Int64 { Int64(min(max(0, count ?? 0), 31_536_000)) * 1000 }

  private mutating func block(_ reason: String, began: Instant, probe: Bool, now: Instant) -> Change {
    if case .blocked = state { return .none }
    let known: Bool
    if case .probing(let earlier, true) = state { known = earlier == reason } else { known = false }
    state = .blocked(reason: reason, until: now + settings.probeInterval)
    return known ? .none : .blocked(reason: reason)
  }

  /// Refused as too old: renewed once; if a request begun after the renewal is refused again, the operator is needed.
  private mutating func expired(_ reason: String, began: Instant, probe: Bool, now: Instant) -> Change {
    guard let refused = expiredAt else {
      expiredAt = now
      if probe { withdrawn(now: now) }
      return .none
    }
    if began <= refused {
      if probe { withdrawn(now: now) }
      return .none
    }
    expiredAt = now
    return block(reason, began: began, probe: probe, now: now)
  }

  /// True if this refusal is the first of its kind, so that the authorization has to be renewed.
  func renews(_ verdict: Verdict, began: Instant) -> Bool {
    guard case .retry(let retry) = verdict else { return false }
    switch retry.cause {
    case .authorizationExpired: return expiredAt.map { $0 < began } ?? true
    case .authorizationTooNew: return isOpen
    default: return false
    }
  }
}
