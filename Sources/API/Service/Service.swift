package import Domain
package import HTTPServer
package import Loop
package import Store
package import Telemetry

/// The HTTP API of one loop: listens, lets in who may ask, and hands each request to what answers it. Belongs to the
/// loop.
package final class Service {
  let loop: EventLoop
  let store: Store
  let settings: ServiceSettings
  let log: Log
  let counts: ServiceCounts
  let configuration: AdoptedConfiguration
  let authentication: Authentication
  let queryRules: QueryRules
  let resources: Resources
  let turnedAway: Refusals
  let limiter: RateLimiter
  let auditor: Auditor
  /// By address, so that look-ups of keys that do not exist are bounded.
  var failedKeys: AddressAllowance
  /// Of keys that were not known before.
  var lookUpsAtWork = 0
  /// Requests that are being answered, without those of open endpoints.
  var requestsAtWork = 0
  let waits: OutcomeWaits
  let bodies = LargeBodies()
  private let channels: BroadcastChannels
  private(set) var pages: (any WebPages)?
  private var server: HTTPServer?

  /// Registers for the store's condition at once, and listens only from `start` on.
  package init(
    loop: EventLoop, store: Store, apps: [AppID: App], providers: [ProviderName: any PushProvider],
    accounts: [CredentialID: any ProviderAccount], timesSubscribers: [ProviderName: Int] = [:],
    settings: ServiceSettings, metrics: Metrics, log: Log, zones: ZoneBook = ZoneBook { _ in nil }
  ) {
    self.loop = loop
    self.store = store
    self.settings = settings
    self.log = log
    counts = ServiceCounts(metrics)
    waits = OutcomeWaits(loop: loop, store: store)
    turnedAway = Refusals(metrics, log)
    failedKeys = AddressAllowance(burst: settings.failedKeysPerAddress)
    configuration = AdoptedConfiguration(
      apps: apps, providers: providers, accounts: accounts, timesSubscribers: timesSubscribers)
    auditor = Auditor(
      loop: loop, store: store, configuration: configuration, logsSends: settings.logsSends, bodies: bodies,
      metrics: metrics, log: log)
    authentication = Authentication(store: store, configuration: configuration)
    limiter = RateLimiter(store: store, configuration: configuration, meters: LimitMeters(metrics, log, loop))
    queryRules = QueryRules(providers: configuration.providerNames)
    channels = BroadcastChannels(loop: loop, caFile: settings.caFile, settings: settings.http2)
    resources = Resources(
      loop: loop, store: store, configuration: configuration, settings: settings, metrics: metrics, log: log,
      counts: counts, zones: zones, channels: channels, bodies: bodies)
    guard settings.logsConditions else { return }
    store.session.onNews { isFault, word, fields in log(isFault ? .warning : .info, word, fields) }
  }

  /// Takes on the apps and accounts of a new configuration. Requests at work end with what they began with, or are
  /// refused where their app is gone.
  package func adopt(
    apps: [AppID: App], accounts: [CredentialID: any ProviderAccount], timesSubscribers: [ProviderName: Int] = [:]
  ) {
    configuration.adopt(apps: apps, accounts: accounts, timesSubscribers: timesSubscribers)
    limiter.adopt()
    channels.close()
  }

  /// A new configuration has faults and was not taken: told by `/readyz` until one is.
  package func refused(configuration reason: String) { configuration.refusal = reason }

  /// New connections show this certificate. Only of a service that started with one. Throws, and leaves all as it is, if
  /// the two cannot be used.
  package func adopt(certificate: [UInt8], key: [UInt8]) throws(HTTPServerFailure) {
    try server?.use(certificate: certificate, key: key)
  }

  /// The files of the certificate cannot be used, and an older one is in use: told by `/readyz`. Nil: they can.
  package func refused(certificate reason: String?) { configuration.certificateRefusal = reason }

  /// Serves these too, from `start` on.
  package func serve(_ pages: any WebPages) {
    precondition(server == nil, "pages are known before the service starts")
    self.pages = pages
  }

  /// Listens; the port.
  package func start() throws(HTTPServerFailure) -> Int {
    precondition(server == nil, "this service has started already")
    var listening = settings.server
    let bodyOfPages = pages.map { (root: $0.root, bytes: $0.maximumBodyOf) }
    listening.maximumBodyOf = { [settings] path in
      if let bodyOfPages, path.isBelow(bodyOfPages.root) {
        bodyOfPages.bytes(path)
      } else {
        settings.maximumBody(of: path)
      }
    }
    // The server lives no longer than this service, and answers until `stop`.
    let server = try HTTPServer(
      loop: loop, settings: listening, refuse: { [settings] refusal in Self.refuse(refusal, settings) },
      turnedAway: { [self] cause, address in turnedAway.add(Refusals.Cause(cause), address, now: loop.now) },
      admit: { [self] request in admit(request) }, handle: { [self] request in await answer(request) })
    self.server = server
    if !settings.onlyOpen { auditor.start() }
    return server.port
  }

  /// Stops accepting, answers what is at work.
  package func stop() async {
    waits.stop()
    await server?.stop()
    await auditor.stop()
    server = nil
    pages = nil
    channels.close()
  }
}
