/// Why a credential does not send as it should. There is one at most for each credential, for every worker to write and everybody
/// to read; none while all is well.
package struct CredentialCondition: Hashable, Sendable {
  /// From the mildest to the worst.
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// The provider has asked for a pause: a quota, or `Retry-After`.
    case waiting
    /// The provider, or its token endpoint, fails or refuses whatever it is asked.
    case failing
    /// No connection comes about.
    case unreachable
    /// The credential is refused: only its operator can mend it.
    case blocked
  }

  package var state: State
  package var reason: String
  /// When it became so.
  package var since: WallTime
  /// When one delivery tries; nil: not known, or others are sent meanwhile.
  package var nextTry: WallTime?
  /// Until when the provider has asked to wait.
  package var until: WallTime?
  /// When it was last told.
  package var at: WallTime

  /// `at` without a value: `since`. `reason`: fit for a log, without tokens and payloads.
  package init(
    _ state: State, reason: String, since: WallTime, nextTry: WallTime? = nil, until: WallTime? = nil,
    at: WallTime? = nil
  ) {
    self.state = state
    self.reason = reason
    self.since = since
    self.nextTry = nextTry
    self.until = until
    self.at = at ?? since
  }

  /// Deliveries behind it count as blocked, and not as pending.
  package var blocks: Bool { state == .blocked || state == .unreachable }

  /// Milliseconds. A pause that lasts longer is shown to the operator.
  package static let longWait: Int64 = 300_000
  /// Milliseconds, from the last report or the next try on, for which a condition that passes by itself counts. With
  /// nothing left to send nobody tries, so nobody would take it back.
  package static let memory: Int64 = 600_000

  /// What still stands is told again after this, well before it is forgotten.
  package static let retold: Int64 = 60_000

  /// Somebody should look at it. A short pause ends by itself.
  package var needsOperator: Bool {
    state != .waiting || max(until ?? since, nextTry ?? since) - since > Self.longWait
  }

  /// It still says something.
  package func holds(now: WallTime) -> Bool {
    blocks || now - max(at, nextTry ?? at) <= Self.memory
  }

  /// As it is shown: a try that is due comes now; one that did not come is none.
  package func shown(now: WallTime) -> CredentialCondition {
    guard let due = nextTry, due < now else { return self }
    var shown = self
    shown.nextTry = now - due < Self.retold ? now : nil
    return shown
  }

  /// For people: the reason, and until when.
  package var text: String {
    var parts = ["\(state.rawValue) since \(since.rfc3339)"]
    if let nextTry { parts.append("next try \(nextTry.rfc3339)") }
    if let until { parts.append("the provider asks to wait until \(until.rfc3339)") }
    return "\(reason) (\(parts.joined(separator: ", ")))"
  }
}
