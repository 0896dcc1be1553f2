import Domain

/// What the configuration at work says of apps and accounts. A reload may replace it while a request waits. Belongs to
/// the loop.
final class AdoptedConfiguration {
  private(set) var apps: [AppID: App] {
    didSet {
      origins = Self.origins(of: apps)
      last = nil
    }
  }
  /// The app that was asked for last, which is almost always the next one.
  private var last: Tenant?
  /// Of web pages that may register browsers for any app.
  private(set) var origins: Set<String>
  private(set) var accounts: [CredentialID: any ProviderAccount] { didSet { openAccounts = Set(accounts.keys) } }
  private var openAccounts: Set<CredentialID>
  /// Recipients that each subscriber stands for, of providers whose vendors have a rule of that.
  private(set) var timesSubscribers: [ProviderName: Int]
  let providers: [ProviderName: any PushProvider]
  let providerNames: [ProviderName]
  let tokenRules: [ProviderName: TokenRules]
  /// What is wrong with the configuration that was refused last; nil: the one at work is the last one.
  var refusal: String?
  /// Why the files of the API's certificate are not in use.
  var certificateRefusal: String?

  init(
    apps: [AppID: App], providers: [ProviderName: any PushProvider], accounts: [CredentialID: any ProviderAccount],
    timesSubscribers: [ProviderName: Int]
  ) {
    self.timesSubscribers = timesSubscribers
    self.apps = apps
    origins = Self.origins(of: apps)
    self.accounts = accounts
    openAccounts = Set(accounts.keys)
    self.providers = providers
    providerNames = providers.keys.sorted { $0.rawValue < $1.rawValue }
    tokenRules = providers.mapValues(\.tokens)
  }

  func adopt(
    apps: [AppID: App], accounts: [CredentialID: any ProviderAccount], timesSubscribers: [ProviderName: Int]
  ) {
    self.timesSubscribers = timesSubscribers
    self.apps = apps
    self.accounts = accounts
    refusal = nil
  }

  private static func origins(of apps: [AppID: App]) -> Set<String> {
    apps.values.reduce(into: []) { $0.formUnion($1.registration.origins) }
  }

  /// What is configured of an app. Handing it on copies nothing.
  final class Tenant: Sendable {
    let app: App
    init(_ app: App) { self.app = app }

    var errorBrake: ErrorBrake? { app.errorBrake }
    var approval: ApprovalRule? { app.approval }
    var replicas: Int { app.replicas }
  }

  /// Nil: it is not configured.
  func found(_ id: AppID) -> Tenant? {
    if let last, last.app.id == id { return last }
    guard let app = apps[id] else { return nil }
    let tenant = Tenant(app)
    last = tenant
    return tenant
  }

  /// The app of a key that passed authentication; its configuration may have gone since.
  func tenant(_ id: AppID) throws(Problem) -> App {
    guard let found = found(id) else {
      throw Problem(.unauthorized, "The app of this API key is no longer configured")
    }
    return found.app
  }

  /// What becomes of the targets of a message.
  func resolver(_ app: App, _ message: Message) -> RouteResolver {
    RouteResolver(app: app, message: message, providers: providers, accounts: openAccounts)
  }
}
