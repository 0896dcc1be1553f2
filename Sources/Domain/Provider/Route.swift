/// What becomes of a target when its message is accepted, or of a part of an audience when it is started.
package enum Route: Hashable, Sendable {
  /// To be sent by this credential.
  case queue(CredentialID)
  /// Ended before it began: `skipped: token_kind`, `dead: Unregistered`.
  case ended(Outcome, reason: String)

  /// It is to be sent.
  package var isQueued: Bool { if case .queue = self { true } else { false } }
}
