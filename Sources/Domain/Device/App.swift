/// A tenant as configured: what may be sent for it and with which accounts.
package struct App: Sendable {
  package var id: AppID
  /// In the order of the configuration; the first that fits an address takes it.
  package var credentials: [CredentialRoute]
  package var registration = RegistrationRules()
  /// Tags that a `register` key may set; a trailing `*` matches any ending.
  package var registerTags: [String]
  /// Deliveries a second, of all its messages together; nil: as fast as it goes.
  package var ratePerSecond: Int?
  /// Of messages that name none; nil: none.
  package var errorBrake: ErrorBrake? = ErrorBrake()
  package var clock = AppClock()
  package var limits = TenantLimits()
  /// Nil: whoever may send, sends alone.
  package var approval: ApprovalRule?

  /// Of Redis, that have a message before it is accepted, unless it asks for another number.
  package var replicas: Int

  /// Without credentials nothing goes out for it: each delivery is `skipped: no_credential`.
  package init(id: AppID) {
    self.id = id
    credentials = []
    registerTags = []
    replicas = 0
  }

  /// The account that sends to this address, or nil: `skipped: no_credential`.
  package func credential(for address: Address) -> CredentialID? {
    for route in credentials
    where route.provider == address.provider && route.environment == address.environment
      && route.coverage.serves(address)
    {
      return route.credential
    }
    return nil
  }

  /// Routes that no address takes, as an earlier one takes all that they serve.
  package var idleRoutes: [(route: CredentialRoute, behind: CredentialRoute)] {
    credentials.enumerated().compactMap { index, route in
      credentials[..<index].first {
        $0.provider == route.provider && $0.environment == route.environment && $0.coverage.includes(route.coverage)
      }.map { (route, $0) }
    }
  }
}

/// Which addresses one credential serves.
package struct CredentialRoute: Hashable, Sendable {
  package var credential: CredentialID
  package var provider: ProviderName
  package var environment: Environment
  package var coverage: Coverage
  /// A coverage that is left out serves every address of the provider and environment.
  package init(
    credential: CredentialID, provider: ProviderName, environment: Environment, coverage: Coverage = .everything
  ) {
    self.credential = credential
    self.provider = provider
    self.environment = environment
    self.coverage = coverage
  }
}
