import API
import Domain
import Foundation
import HTTPServer
import JSON
import Loop
import RedisClient
import Store
import Support
import Telemetry

/// The API on a loop of its own over a real Redis, with fake providers and one key per scope.
final class Gateway: @unchecked Sendable {
  let loop = EventLoop(name: "gateway")
  let redis: RedisServer
  private(set) var port = 0
  private(set) var secrets: [Scope: String] = [:]
  /// A key of the other app, with every scope.
  private(set) var stranger = ""
  private let thread: LoopThread
  // On the loop only.
  private(set) var store: Store?
  private(set) var service: Service?
  private var shop: App?

  static let shop = AppID(rawValue: "shop")
  static let other = AppID(rawValue: "other")
  /// By which the shop's identity tokens are signed; its key is called 2026.
  static let identitySecret = Array("a secret of the shop, long enough".utf8)

  private init(redis: RedisServer) {
    self.redis = redis
    thread = loop.start()
  }

  /// Starts a gateway, runs `body` off its loop, and takes everything down.
  static func running(
    redis: RedisServer = RedisServer(), settings: ServiceSettings = ServiceSettings(),
    limits: TenantLimits = TenantLimits(),
    channels: Origin = Origin(host: "localhost", port: 1),
    registration: RegistrationRules = RegistrationRules(), hasIdentityKeys: Bool = true,
    _ body: (Gateway) async throws -> Void
  ) async throws {
    let gateway = Gateway(redis: redis)
    try await gateway.start(settings, limits, channels, registration, hasIdentityKeys)
    do {
      try await body(gateway)
    } catch {
      try await gateway.stop()
      throw error
    }
    try await gateway.stop()
  }

  private func start(
    _ settings: ServiceSettings, _ limits: TenantLimits, _ channels: Origin, _ registration: RegistrationRules,
    _ hasIdentityKeys: Bool
  ) async throws {
    try await loop.run { [self] in
      var settingsOfStore = StoreSettings()
      // Longer than any test: nothing here ends because a machine is slow.
      settingsOfStore.leaseMilliseconds = 600_000
      let store = Store(loop: loop, redis: redis.endpoint, settings: settingsOfStore)
      try await store.open(timeout: 60_000)
      var shop = App(id: Self.shop)
      defer { self.shop = shop }
      shop.credentials = [
        CredentialRoute(credential: FakeAccount.apns, provider: .apns, environment: .production),
        CredentialRoute(credential: FakeAccount.fcm, provider: .fcm, environment: .production),
      ]
      shop.registration = registration
      if hasIdentityKeys {
        shop.registration.identity = try IdentityVerifier(
          [IdentityKey(id: "2026", algorithm: .hs256, content: Self.identitySecret)], app: Self.shop,
          lifetime: registration.tokenLifetime)
      }
      shop.registerTags = ["lang:*", "beta"]
      shop.limits = limits
      var other = App(id: Self.other)
      // Of the same team.
      other.credentials = [shop.credentials[0]]
      let service = Service(
        loop: loop, store: store, apps: [Self.shop: shop, Self.other: other],
        providers: [
          .apns: FakeProvider(name: .apns), .fcm: FakeProvider(name: .fcm), .oneSignal: FakeProvider(name: .oneSignal),
        ],
        accounts: Self.accounts(channels), settings: settings, metrics: Metrics(), log: Log(minimum: .error),
        zones: ZoneBook { name in
          FileManager.default.contents(atPath: "/usr/share/zoneinfo/\(name)").map { Array($0) }
        })
      port = try service.start()
      self.store = store
      self.service = service
      for scope in Scope.allCases {
        secrets[scope] = try await store.keyring.create(
          NewKey(name: "test", scopes: [scope]), app: Self.shop, now: loop.wallNow
        ).secret
      }
      stranger = try await store.keyring.create(
        NewKey(name: "test", scopes: [.admin]), app: Self.other, now: loop.wallNow
      ).secret
    }
  }

  private static func accounts(_ channels: Origin) -> [CredentialID: any ProviderAccount] {
    [
      FakeAccount.apns: FakeAccount(credential: FakeAccount.apns, name: "apns", channelOrigin: channels),
      FakeAccount.fcm: FakeAccount(credential: FakeAccount.fcm, name: "fcm"),
    ]
  }

  /// Takes on other limits of the shop, as a reload does.
  func adopt(limits: TenantLimits) async throws { try await adopt { $0.limits = limits } }

  /// Changes the shop, as a reload does.
  func adopt(_ change: @escaping @Sendable (inout App) -> Void) async throws {
    try await loop.run { [self] in
      guard var shop else { preconditionFailure("the gateway has not started") }
      change(&shop)
      service?.adopt(
        apps: [Self.shop: shop, Self.other: App(id: Self.other)],
        accounts: Self.accounts(Origin(host: "localhost", port: 1)))
    }
  }

  private func stop() async throws {
    try await loop.run { [self] in
      await service?.stop()
      store?.close()
      service = nil
      store = nil
    }
    loop.stop()
    thread.join()
  }

  /// Runs `body` with the store, on the loop.
  func withStore<Value: Sendable>(_ body: @escaping @Sendable (Store) async throws -> Value) async throws -> Value {
    try await loop.run { [self] in
      guard let store else { preconditionFailure("the gateway is down") }
      return try await body(store)
    }
  }

  /// Holds all partitions, as a worker would.
  func own() async throws {
    try await withStore { store in
      let report = WorkerReport(serial: 42, host: "here", process: 7, startedAt: WallTime(milliseconds: 1))
      _ = try await store.workers.beat(report)
      for partition in 0..<16 { _ = try await store.leases.take(partition, worker: 42) }
    }
  }

  /// One request on a connection of its own, with the key of `scope` unless nil.
  func ask(
    _ method: String, _ path: String, _ body: String? = nil, as scope: Scope? = .admin,
    _ headers: [String: String] = [:]
  ) -> Reply {
    let client = Client(port: port)
    client.send(method, path, self.headers(as: scope, headers), body.map { Array($0.utf8) })
    return client.receive(hasBody: method != "HEAD")
  }

  /// The header by which a registration is this user's.
  static func identity(_ user: String) -> [String: String] {
    ["fanfare-identity": SignedIdentity(user, now: now).signed(identitySecret)]
  }
  static var now: WallTime { WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }

  func headers(as scope: Scope?, _ more: [String: String] = [:]) -> [String: String] {
    var headers = more
    if let scope, let secret = secrets[scope] { headers["authorization"] = "Bearer \(secret)" }
    return headers
  }

  /// Registers an APNs device `id` for the shop.
  func register(_ id: String, _ members: String = "") {
    let token = id.utf8.map { String($0, radix: 16) }.joined()
    let padded = token.utf8.count % 2 == 0 ? token : token + "0"
    let reply = ask(
      "PUT", "/v1/devices/\(id)", #"{"provider":"apns","token":"\#(padded)"\#(members.isEmpty ? "" : ",")\#(members)}"#)
    precondition(reply.status == 201, "\(id) was not registered: \(reply.text)")
  }

  /// The id of a fresh message to these devices.
  func send(to devices: [String]) -> String {
    let list = devices.map { String(decoding: JSONValue.string($0).encoded, as: UTF8.self) }.joined(separator: ",")
    let reply = ask("POST", "/v1/messages", #"{"to":{"devices":[\#(list)]},"notification":{"title":"T"}}"#)
    guard reply.status == 202, let id = reply.json["id"]?.string else {
      preconditionFailure("a message was refused: \(reply.text)")
    }
    return id
  }
}
