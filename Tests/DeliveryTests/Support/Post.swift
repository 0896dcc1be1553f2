import Domain
import Loop
import RedisClient
import Store
import Support
import TLS
import Telemetry
import Testing

@testable import Delivery

/// A store on a private Redis, a worker over it, and what a test needs to drive both. Everything lives on one loop.
final class Post {
  static let app = AppID(rawValue: "shop")
  let loop: EventLoop
  let redis: RedisServer
  let store: Store
  /// The worker's, where its way to Redis is not the test's.
  let workStore: Store
  let metrics = Metrics()
  private(set) var running: [Task<Void, Never>] = []

  init(
    _ loop: EventLoop, redis: RedisServer, through endpoint: RedisEndpoint? = nil, settings: StoreSettings = quick()
  ) async throws {
    self.loop = loop
    self.redis = redis
    store = Store(loop: loop, redis: redis.endpoint, settings: settings)
    try await store.open(timeout: 60_000)
    workStore = endpoint.map { Store(loop: loop, redis: $0, settings: settings) } ?? store
    if endpoint != nil { try await workStore.open() }
  }

  static func quick() -> StoreSettings {
    var settings = StoreSettings()
    settings.partitions = 4
    settings.leaseMilliseconds = 2_000 * Int64(Sanitizer.slowness)
    return settings
  }

  /// Waits in milliseconds instead of minutes; otherwise as in service.
  static func settings() -> WorkerSettings {
    var settings = WorkerSettings()
    settings.caFile = Trust.file
    let retry = RetryRules(
      base: 20, floors: [.serverFault: 40, .tokenBusy: 40, .quota: 100, .unknownOutcome: 40],
      resendsAtOnce: [.unknownOutcome: 1], attempts: 10)
    settings.retry = [.apns: retry, .fcm: retry, .oneSignal: retry]
    settings.breaker.probeInterval = 100
    settings.pool.reconnectBase = 20
    settings.sweepInterval = 200
    return settings
  }

  static func route(_ address: Address) -> Route {
    .queue(CredentialID(rawValue: "shop/\(address.provider.rawValue)"))
  }

  /// A second worker, on a loop of its own that the test stops dead.
  func workDoomed(on grave: EventLoop, _ origin: Origin) {
    let redis = redis.endpoint
    grave.post {
      grave.spawn {
        let store = Store(loop: grave, redis: redis, settings: Post.quick())
        try? await store.open()
        let account = PlainAccount(credential: CredentialID(rawValue: "shop/apns"), provider: .apns, origin: origin)
        let worker = try? Worker(
          loop: grave, store: store, accounts: [account.credential: account], settings: Post.settings(),
          metrics: Metrics(), log: Log(minimum: .error), decode: { PlainMessage.decode($0) },
          resolver: { _, _ in Post.route })
        await worker?.run()
      }
    }
  }

  @discardableResult
  func work(_ accounts: [any ProviderAccount], _ settings: WorkerSettings = settings()) throws -> Worker {
    let worker = try Worker(
      loop: loop, store: workStore, accounts: Dictionary(uniqueKeysWithValues: accounts.map { ($0.credential, $0) }),
      settings: settings, metrics: metrics, log: Log(minimum: .error), decode: { PlainMessage.decode($0) },
      resolver: { _, _ in Self.route })
    running.append(loop.spawn { await worker.run() })
    return worker
  }

  func account(_ responder: Responder, _ provider: ProviderName = .apns, cautious: Bool = false) -> PlainAccount {
    PlainAccount(
      credential: CredentialID(rawValue: "shop/\(provider.rawValue)"), provider: provider, origin: responder.origin,
      wire: .http2(cautiousStart: cautious))
  }

  /// The sum of all that has this name; or, with labels as they are written, that one.
  func metric(_ name: String) -> Int {
    var sum = 0
    for line in String(decoding: metrics.exposition(), as: UTF8.self).split(separator: "\n")
    where line.hasPrefix(name + "{") || line.hasPrefix(name + " ") {
      sum += line.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }
    return sum
  }

  // MARK: Sending

  func send(
    _ message: PlainMessage, to tokens: [String], _ provider: ProviderName = .apns, urgency: Urgency = .urgent,
    brake: ErrorBrake? = nil
  ) async throws -> MessageID {
    var submission = Submission(
      app: Self.app, body: message.body, kind: .alert, urgency: urgency, acceptedAt: loop.wallNow)
    submission.ttl = message.ttl ?? Message.defaultTTL
    submission.collapseKey = message.collapseKey
    submission.ordered = message.ordered
    submission.errorBrake = brake
    let credential = CredentialID(rawValue: "shop/\(provider.rawValue)")
    for token in tokens {
      let address = Address(provider: provider, token: token)
      submission.targets.append(
        SubmissionTarget(
          device: DeviceID.derived(of: address, in: Self.app), registered: false, address: address,
          route: .queue(credential)))
    }
    guard case .accepted(let id) = try await store.acceptance.accept(submission) else { throw Failure("not accepted") }
    return id
  }

  func send(_ title: String, to tokens: [String], _ provider: ProviderName = .apns) async throws -> MessageID {
    try await send(PlainMessage(title: title), to: tokens, provider)
  }

  // MARK: Waiting and reading

  /// How long what must come may take on the slowest machine.
  static let patience: Int64 = 60

  /// Until the condition holds; fails the test after `seconds`.
  func until(
    _ what: @autoclosure () -> Comment, seconds: Int64 = patience, at place: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
  ) async throws {
    let end = loop.now + seconds * 1000 * Int64(Sanitizer.slowness)
    while try await !condition() {
      guard loop.now < end else {
        // Told as things stand now.
        let what = what()
        Issue.record(what, sourceLocation: place)
        throw Failure("\(what) never came")
      }
      await loop.sleep(milliseconds: 2)
    }
  }

  func report(_ id: MessageID) async throws -> MessageReport {
    try #require(try await store.reports.report(id, app: Self.app))
  }

  func done(_ id: MessageID, seconds: Int64 = patience, at place: SourceLocation = #_sourceLocation) async throws
    -> [Outcome: Int]
  {
    var last = ""
    try await until("the end of \(id): \(last)", seconds: seconds, at: place) {
      guard self.store.session.isAvailable else { return false }
      let report = try await self.report(id)
      let ended = report.counts.values.reduce(0, +)
      last = "\(ended) of \(report.total), \(report.retrying) retrying, \(report.state)"
      return ended == report.total
    }
    var outcomes: [Outcome: Int] = [:]
    for (key, count) in try await report(id).counts { outcomes[key.outcome, default: 0] += count }
    return outcomes
  }

  func deliveries(_ id: MessageID, _ filter: DeliveryFilter = DeliveryFilter()) async throws -> [DeliveryReport] {
    try await store.deliveries.page(id, app: Self.app, filter: filter, cursor: nil, limit: 1_000)?.items ?? []
  }

  func finish(_ worker: Worker) async {
    worker.stop(grace: 1_000)
    for task in running { await task.value }
    workStore.close()
    store.close()
  }

  struct Failure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
  }
}

/// A loop, a private Redis and a store for one test.
func withPost(
  durable: Bool = false, settings: StoreSettings = Post.quick(),
  _ body: @escaping @Sendable (Post) async throws -> Void
) async throws {
  let redis = RedisServer(durable: durable)
  defer { redis.stop() }
  try await withLoop { loop in try await body(try await Post(loop, redis: redis, settings: settings)) }
}

func tokens(_ count: Int, _ prefix: String = "t") -> [String] { (0..<count).map { "\(prefix)\($0)" } }
