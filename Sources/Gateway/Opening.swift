import Configuration
import Domain

/// Opens the credentials of one app after the other, and collects what is wrong with them.
struct Opening {
  private(set) var apps: [AppID: App] = [:]
  private(set) var accounts: [CredentialID: any ProviderAccount] = [:]
  private(set) var credentials: [CredentialID: Credential] = [:]
  private(set) var faults: [ConfigurationFault] = []

  mutating func open(_ entry: AppEntry) {
    var app = entry.app
    for (index, credential) in entry.credentials.enumerated() {
      guard let provider = Providers.byName[credential.provider] else {
        preconditionFailure("the configuration took an unknown provider")
      }
      do {
        let account = try provider.open(credential)
        accounts[credential.id] = account
        credentials[credential.id] = credential
        app.credentials[index].coverage = account.coverage
      } catch {
        add(
          ConfigurationFault(pointer: "\(entry.places[index])/\(error.setting)", problem: error.problem, fix: error.fix)
        )
      }
    }
    apps[app.id] = app
    guard faults.isEmpty else { return }
    for (route, other) in app.idleRoutes {
      guard let index = app.credentials.firstIndex(of: route) else { continue }
      add(
        ConfigurationFault(
          pointer: entry.places[index],
          problem: "\"\(other.credential.rawValue)\" already sends to all of \(route.provider.rawValue) "
            + "(\(route.environment.rawValue)) that this credential serves, so this one would never be used",
          fix:
            "Remove one, put the narrower one first, or let them differ in what they serve: environments, bundle_ids, "
            + "token_kinds, services"
        ))
    }
  }

  /// Each fault once: the two environments of one APNs key share theirs.
  mutating func add(_ fault: ConfigurationFault) {
    if !faults.contains(fault) { faults.append(fault) }
  }
}
