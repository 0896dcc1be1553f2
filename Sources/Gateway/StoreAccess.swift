package import Configuration
package import Domain
package import RedisClient
package import Store

/// The way to the store of a configuration that may have faults elsewhere: for commands that only look at what is
/// stored. They are needed most when the file is refused.
package struct StoreAccess: Sendable {
  package let redis: RedisEndpoint
  package let store: StoreSettings
  /// Of all apps that could be read, and what they say of themselves, if they could be opened.
  package let credentials: [CredentialID: CredentialFacts?]
  /// Of all apps that could be read.
  package let limits: [AppID: TenantLimits]
  /// Replicas that must have a message before it counts as accepted: the most that anybody asks for.
  package let replicas: Int
  /// What is wrong with the configuration, none of it about Redis. Nil: nothing.
  package let faults: ConfigurationFaults?

  /// Faults that leave open which store it is are thrown, with all others.
  package init(file: String) throws(ConfigurationFaults) {
    let configuration: Configuration
    var accounts: [CredentialID: any ProviderAccount] = [:]
    do {
      let setup = try Setup(file: file)
      configuration = setup.configuration
      accounts = setup.accounts
      faults = nil
    } catch {
      guard let read = error.configuration, !error.faults.contains(where: Self.concernsStore) else { throw error }
      configuration = read
      faults = error
    }
    redis = configuration.endpoint
    store = configuration.store
    credentials = Dictionary(
      configuration.apps.flatMap(\.credentials).map { ($0.id, accounts[$0.id]?.facts) }, uniquingKeysWith: { $1 })
    limits = Dictionary(configuration.apps.map { ($0.app.id, $0.app.limits) }) { first, _ in first }
    replicas = configuration.apps.map(\.app.replicas).reduce(configuration.durability.replicas, max)
  }

  private static func concernsStore(_ fault: ConfigurationFault) -> Bool {
    ["/redis", "/partitions"].contains { fault.pointer == $0 || fault.pointer.hasPrefix($0 + "/") }
  }
}

extension Configuration {
  /// Where its Redis is.
  var endpoint: RedisEndpoint {
    var endpoint: RedisEndpoint
    switch redis.place {
    case .unix(let path): endpoint = RedisEndpoint(.unix(path: path))
    case .tcp(let host, let port, let tls):
      endpoint = RedisEndpoint(.tcp(host: host, port: port, tls: tls, caFile: redis.caFile))
    }
    endpoint.username = redis.username
    endpoint.password = redis.password
    endpoint.database = redis.database
    return endpoint
  }

  /// What it says to the store.
  var store: StoreSettings {
    var settings = StoreSettings()
    settings.partitions = partitions
    settings.leaseMilliseconds = workers.lease
    settings.replicaMilliseconds = durability.timeout
    settings.retentionSeconds = retention.time / 1_000
    settings.retentionBytes = retention.bytes
    settings.auditSeconds = audit.time / 1_000
    settings.auditActs = audit.acts
    settings.auditSends = audit.sends
    settings.consoleIdleMilliseconds = console.idle
    settings.consoleMilliseconds = console.life
    settings.prefix = redis.prefix
    settings.devicesPerUser = limits.devicesPerUser
    return settings
  }
}
