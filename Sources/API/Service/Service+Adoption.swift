package import Domain

extension Service {
  /// Takes on the apps and accounts of a new configuration. Requests at work end with what they began with, or are
  /// refused where their app is gone.
  package func adopt(apps: [AppID: App], accounts: [CredentialID: any ProviderAccount]) {
    self.apps = apps
    self.accounts = accounts
    refusedConfiguration = nil
    channels.close()
  }

  /// A new configuration has faults and was not taken: told by `/readyz` until one is.
  package func refused(configuration reason: String) { refusedConfiguration = reason }

  /// The app of a key that passed authentication; its configuration may have gone since.
  func tenant(_ id: AppID) throws(Problem) -> App {
    guard let app = apps[id] else {
      throw Problem(.unauthorized, "The app of this API key is no longer configured")
    }
    return app
  }
}
