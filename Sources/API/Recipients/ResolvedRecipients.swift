import Domain
import Store

/// Whom a message goes to, as it is handed to the store: targets by name, or an audience that the workers evaluate. It has
/// one owner at a time; a class, so that handing it on copies nothing.
final class ResolvedRecipients {
  var targets: [SubmissionTarget] = []
  /// Of each target what is registered; empty: nothing of the message depends on it.
  var devices: [StoredDevice?] = []
  /// Devices that the recipients lead to and that are no targets, by reason.
  var others: [Forecast.Exclusion: Int] = [:]
  /// With it there are no targets.
  var audience: SubmissionAudience?
  /// Of an audience that names others: with these written out.
  var expression: String?
  /// Of a message for local times: when the first of them gets it; nil: of any other.
  var firstStart: FirstStart?
  /// Who is in the audience, and how many there are now.
  var selection: AudienceSelection?
  var count: AudienceCount?
  /// Through which the message may go: it is rendered for each of them.
  var credentials: [CredentialID] = []
  /// Members of the audience that go through each of them, as far as is known now.
  var countsByCredential: [CredentialID: Int] = [:]
  var warnings: [Notice] = []
  /// The only target is a raw token, and the script that stores the message finds out whether it is registered.
  var asksOwner = false
  /// Each of the targets is to be sent to, and nobody else was found.
  var isWhole: Bool { audience == nil && others.isEmpty && targets.allSatisfy(\.route.isQueued) }

  init(targets: [SubmissionTarget], devices: [StoredDevice?] = [], warnings: [Notice] = []) {
    self.targets = targets
    self.devices = devices
    self.warnings = warnings
    for target in targets {
      if case .queue(let credential) = target.route, !credentials.contains(credential) {
        credentials.append(credential)
      }
    }
  }

  /// Devices that go through each account, as far as is known now.
  var devicesByCredential: [CredentialID: Int] {
    guard audience == nil else { return countsByCredential }
    return targets.reduce(into: [:]) { counts, target in
      if case .queue(let credential) = target.route { counts[credential, default: 0] += 1 }
    }
  }

  /// Devices of users that a Live Activity cannot reach through these accounts, as they have no token for it, are no
  /// targets.
  func leaveOutWithoutActivityToken(at accounts: Set<CredentialID>) {
    guard !accounts.isEmpty else { return }
    let isReached = targets.map { target in
      guard case .queue(let credential) = target.route, accounts.contains(credential) else { return true }
      return target.address?.liveActivityToken != nil
    }
    let count = isReached.count { !$0 }
    guard count > 0 else { return }
    let reason = SkipReason.noLiveActivityToken
    others[Forecast.Exclusion(nil, reason.rawValue, note: reason.explanation), default: 0] += count
    if !devices.isEmpty { devices = zip(devices, isReached).filter(\.1).map(\.0) }
    targets = zip(targets, isReached).filter(\.1).map(\.0)
  }

  init(
    audience: SubmissionAudience, _ selection: AudienceSelection, _ count: AudienceCount,
    countsByCredential: [CredentialID: Int]
  ) {
    self.audience = audience
    self.selection = selection
    self.count = count
    self.countsByCredential = countsByCredential
    credentials = countsByCredential.keys.sorted { $0.rawValue < $1.rawValue }
  }
}
