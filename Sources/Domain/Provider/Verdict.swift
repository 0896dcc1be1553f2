/// What one answer of a provider means for one delivery (design D11).
package enum Verdict: Hashable, Sendable {
  /// Accepted by the provider, never "shown". `id` is the provider's own id, where it gave one.
  case accepted(id: String?)
  case retry(Retry)
  case dead(Death)
  /// The message's fault: no retry, the token stays.
  case rejected(reason: String)
  /// The operator's fault: the credential is suspended, its deliveries stay queued.
  case blocked(reason: String)

  /// The word under which attempts are counted and shown.
  package var word: String {
    switch self {
    case .accepted: "accepted"
    case .retry: "retry"
    case .dead: "dead"
    case .rejected: "rejected"
    case .blocked: "blocked"
    }
  }
  package var reason: String? {
    switch self {
    case .accepted: nil
    case .retry(let retry): retry.reason
    case .dead(let death): death.reason
    case .rejected(let reason), .blocked(let reason): reason
    }
  }
}

/// Why to try again and who waits meanwhile. How long is the retry policy's business, not the provider's.
package struct Retry: Hashable, Sendable {
  /// Why it may work later. Who waits meanwhile, and whether an attempt is spent, follows from it.
  package enum Cause: String, Hashable, Sendable, CaseIterable {
    /// Too many requests to this very token: only it waits.
    case tokenBusy
    /// A quota of the account: the credential waits and no attempt is spent.
    case quota
    /// 5xx: the token waits the vendor's floor.
    case serverFault
    /// The server goes away and says so: at once on another connection.
    case closing
    /// The authorization was too old: renew it, then once more on a new connection.
    case authorizationExpired
    /// The authorization was renewed too often: go back to the earlier one, the credential waits.
    case authorizationTooNew
    /// The connection belongs to another key, or was idle for too long: at once on a new connection.
    case wrongConnection
    /// The members refused by name are left out; the rest goes again at once under a new key.
    case revised
    /// It may have been processed: no answer (made by the transport), or one that tells nothing, as a gateway's 502.
    case unknownOutcome
    /// The peer surely did not process it (GOAWAY above last-stream-id, REFUSED_STREAM). Made by the transport.
    case notProcessed
  }
  package var cause: Cause
  package var reason: String
  /// Seconds, when the provider said so (`Retry-After`). Never shorter waits follow.
  package var retryAfter: Int?

  /// `reason`: the vendor's own word, or the transport's; shown with the attempt.
  package init(_ cause: Cause, reason: String, retryAfter: Int? = nil) {
    self.cause = cause
    self.reason = reason
    self.retryAfter = retryAfter
  }
}

/// The provider says that a token is no longer one. Pruning is decided elsewhere: from `since`, `isDoubtful` and the
/// prune brake.
package struct Death: Hashable, Sendable {
  package var reason: String
  /// When the provider found the token invalid: it is pruned only if it was registered before. Nil: unconditionally.
  package var since: WallTime?
  /// The token that died, where it is another than the address's own (`Address.liveActivityToken`).
  package var token: String?
  /// A wrong setting of the credential (environment, topic, project) makes the provider say the same of tokens that live: such a
  /// word prunes nothing unless the credential reaches others beside it.
  package var isDoubtful: Bool
  /// `reason`: the vendor's own word, kept in the tombstone.
  package init(reason: String, since: WallTime? = nil, token: String? = nil, isDoubtful: Bool = false) {
    self.reason = reason
    self.since = since
    self.token = token
    self.isDoubtful = isDoubtful
  }
}

/// The verdict on a request: one for all its recipients, and exceptions by token where the answer names some.
package struct Judgement: Hashable, Sendable {
  package var common: Verdict
  package var exceptions: [String: Verdict]
  /// What the operator should read in the log beside the verdict; never a token or a payload.
  package var note: String?
  /// `exceptions`: by the token of a recipient; all others get `common`.
  package init(_ common: Verdict, exceptions: [String: Verdict] = [:], note: String? = nil) {
    self.common = common
    self.exceptions = exceptions
    self.note = note
  }
}

/// How a delivery ended. For every message the outcomes and the unfinished add up to its audience.
package enum Outcome: String, Hashable, Sendable, CaseIterable {
  case accepted
  case failed
  case dead
  case expired
  case superseded
  case cancelled
  case skipped

  /// A message with a delivery that ended so keeps its content after its end: somebody may want to send it again.
  package var keepsContent: Bool { self == .failed || self == .expired || self == .cancelled }
}
