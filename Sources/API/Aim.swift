import Domain
import Store

/// Whom a message goes to, as it is handed to the store: targets by name, or an audience that the workers evaluate.
struct Aim {
  var targets: [SubmissionTarget] = []
  /// With it there are no targets.
  var audience: SubmissionAudience?
  /// Through which the message may go: it is rendered for each of them.
  var credentials: [CredentialID] = []
  var warnings: [Notice] = []

  init(targets: [SubmissionTarget], warnings: [Notice] = []) {
    self.targets = targets
    self.warnings = warnings + Notice.ofSkipped(targets)
    for target in targets {
      if case .queue(let credential) = target.fate, !credentials.contains(credential) { credentials.append(credential) }
    }
  }

  init(audience: SubmissionAudience, credentials: [CredentialID]) {
    self.audience = audience
    self.credentials = credentials
  }
}
