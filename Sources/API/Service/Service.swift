package import Domain
package import HTTP2
package import HTTPServer
package import Loop
package import Store
package import Telemetry

package struct ServiceSettings: Sendable {
  /// `maximumBody` holds for all requests but messages and bulk calls.
  package var server = HTTPServerSettings()
  /// Of messages.
  package var maximumMessageBody = 4 << 20
  /// Of NDJSON calls.
  package var maximumBulkBody = 20 << 20
  package var maximumTargets = 10_000
  /// Recipients for each subscriber, of providers whose vendors have a rule of that.
  package var timesSubscribers: [ProviderName: Int] = [:]
  /// Deliveries of one replay: all that a message may hold.
  package var maximumReplayed = 65_535
  /// Direct sends with more targets are bulk (design D7).
  package var urgentTargets = 500
  /// Of an app.
  package var maximumDrafts = 200
  /// Bytes of the message of a draft.
  package var maximumDraftBytes = 256 << 10
  /// Requests at work at a time; more are answered 503.
  package var maximumRequests = 2_000
  /// Only what needs no key is served: a process that sends tells how it is.
  package var onlyOpen = false
  /// Of forecasts that are asked for, and of those that only warn.
  package var forecasts = (
    answer: ForecastBounds(exact: 10_000, sample: 4_000), warning: ForecastBounds(exact: 1_000, sample: 1_000)
  )
  /// True: `/metrics` needs a key with scope `read`.
  package var metricsNeedKey = false
  /// Calls to providers: PEM file of authorities (nil: the system's), and their connections.
  package var caFile: String?
  package var http2 = HTTP2Settings()
  package init() {}

  /// Bytes that the body of a request to this path may have.
  func maximumBody(of path: String) -> Int {
    if path.hasSuffix(Endpoint.bulkEnding) { return maximumBulkBody }
    return path.hasPrefix("/v1/messages") ? maximumMessageBody : server.maximumBody
  }
}

/// The HTTP API of one loop: routes, keys, problem documents. Belongs to the loop.
package final class Service {
  let loop: EventLoop
  let store: Store
  var apps: [AppID: App]
  let providers: [ProviderName: any PushProvider]
  var accounts: [CredentialID: any ProviderAccount] { didSet { openAccounts = Set(accounts.keys) } }
  private var openAccounts: Set<CredentialID>
  let settings: ServiceSettings
  let metrics: Metrics
  let log: Log
  let counts: ServiceCounts
  let providerNames: [ProviderName]
  let tokenRules: [ProviderName: TokenRules]
  let channels: BroadcastChannels
  let zones: ZoneBook
  let subscribers = SubscriberBook()
  let tagBook = TagBook()
  var requestsAtWork = 0
  /// What is wrong with the configuration that was refused last; nil: the one at work is the last one.
  var refusedConfiguration: String?
  private var server: HTTPServer?

  package init(
    loop: EventLoop, store: Store, apps: [AppID: App], providers: [ProviderName: any PushProvider],
    accounts: [CredentialID: any ProviderAccount], settings: ServiceSettings, metrics: Metrics, log: Log,
    zones: ZoneBook = ZoneBook { _ in nil }
  ) {
    self.zones = zones
    self.loop = loop
    self.store = store
    self.apps = apps
    self.providers = providers
    self.accounts = accounts
    openAccounts = Set(accounts.keys)
    self.settings = settings
    self.metrics = metrics
    self.log = log
    counts = ServiceCounts(metrics)
    channels = BroadcastChannels(loop: loop, caFile: settings.caFile, settings: settings.http2)
    providerNames = providers.keys.sorted { $0.rawValue < $1.rawValue }
    tokenRules = providers.mapValues(\.tokens)
    store.session.onCondition { condition in
      log(condition == .ready ? .info : .warning, condition.word, ["detail": condition.detail])
    }
    store.session.onClockSkew { skew in
      log(
        skew == nil ? .info : .warning, skew == nil ? "clock_agrees" : "clock_skew",
        skew.map { ["detail": $0.text] } ?? [:])
    }
  }

  /// What becomes of the targets of a message.
  func resolver(_ app: App, _ message: Message) -> RouteResolver {
    RouteResolver(app: app, message: message, providers: providers, accounts: openAccounts)
  }

  /// Listens; the port.
  package func start() throws(HTTPServerFailure) -> Int {
    precondition(server == nil, "this service has started already")
    var listening = settings.server
    listening.maximumBodyOf = { [settings] path in settings.maximumBody(of: path) }
    // The server lives no longer than this service, and answers until `stop`.
    let server = try HTTPServer(
      loop: loop, settings: listening, refuse: Self.refuse, handle: { [self] request in await answer(request) })
    self.server = server
    return server.port
  }

  /// Stops accepting, answers what is at work.
  package func stop() async {
    await server?.stop()
    server = nil
    channels.close()
  }
}
