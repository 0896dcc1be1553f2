package import Domain
package import HTTPServer
package import Loop
package import Store
package import Telemetry

package struct ServiceSettings: Sendable {
  package var server = HTTPServerSettings()
  package var maximumTargets = 10_000
  /// Direct sends with more targets are bulk (design D7).
  package var urgentTargets = 500
  package init() {}
}

/// The HTTP API of one loop: routes, keys, problem documents (design section 4).
package final class Service {
  package init(
    loop: EventLoop, store: Store, apps: [AppID: App], providers: [ProviderName: any PushProvider],
    accounts: [CredentialID: any ProviderAccount], settings: ServiceSettings, metrics: Metrics, log: Log
  ) { preconditionFailure("not built yet") }

  /// Listens; the port.
  package func start() throws(HTTPServerFailure) -> Int { preconditionFailure("not built yet") }
  /// Stops accepting, answers what is at work.
  package func stop() async {}
}
