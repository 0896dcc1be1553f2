import API
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
    app.registration.identity = identity(entry)
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

  /// Nil: the app has no keys, or one of them cannot be used.
  private mutating func identity(_ entry: AppEntry) -> (any IdentityVerifying)? {
    guard !entry.identityKeys.isEmpty else { return nil }
    do throws(IdentityVerifier.KeyFailure) {
      return try IdentityVerifier(
        entry.identityKeys.map(\.key), app: entry.app.id, lifetime: entry.app.registration.tokenLifetime)
    } catch {
      let (key, place) = entry.identityKeys[error.index]
      let (setting, fix) =
        switch key.algorithm {
        case .es256:
          ("public_key_file", "Give the public half of a P-256 key: openssl ec -in KEY.pem -pubout -out PUBLIC.pem")
        case .hs256: ("secret_file", "Make one, for the backend too: openssl rand -base64 32")
        }
      add(ConfigurationFault(pointer: "\(place)/\(setting)", problem: "the key is \(error.reason)", fix: fix))
      return nil
    }
  }

  /// Each fault once: the two environments of one APNs key share theirs.
  mutating func add(_ fault: ConfigurationFault) {
    if !faults.contains(fault) { faults.append(fault) }
  }
}
