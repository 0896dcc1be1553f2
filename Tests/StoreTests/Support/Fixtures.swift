import Domain
import Loop
import RedisClient
import Store
import Support
import Testing

let shop = AppID(rawValue: "shop")
let apnsCredential = CredentialID(rawValue: "shop/ios")
let fcmCredential = CredentialID(rawValue: "shop/android")

/// A store on a private Redis, opened.
func withStore<Value: Sendable>(
  _ settings: StoreSettings = quickSettings(), server: RedisServer = RedisServer(),
  _ body: @escaping @Sendable (Store, EventLoop) async throws -> Value
) async throws -> Value {
  try await withLoop { loop in
    let store = Store(loop: loop, redis: server.endpoint, settings: settings)
    try await store.open(timeout: 60_000)
    defer { store.close() }
    let value = try await body(store, loop)
    _ = server
    return value
  }
}

func quickSettings(partitions: Int = 4) -> StoreSettings {
  var settings = StoreSettings()
  settings.partitions = partitions
  return settings
}

func address(_ token: String, _ provider: ProviderName = .apns) -> Address { Address(provider: provider, token: token) }

func device(_ id: String, token: String, at time: Int64 = 1_000) -> Device {
  Device(id: DeviceID(rawValue: id), address: address(token), registeredAt: WallTime(milliseconds: time))
}

/// A message to raw tokens, each under its derived id.
func submission(tokens: [String], at now: WallTime, credential: CredentialID = apnsCredential) -> Submission {
  var submission = Submission(
    app: shop, body: Array("{\"n\":1}".utf8), kind: .alert, urgency: .urgent, acceptedAt: now)
  for token in tokens {
    let address = address(token)
    submission.targets.append(
      SubmissionTarget(
        device: DeviceID.derived(of: address, in: shop), registered: false, address: address, route: .queue(credential))
    )
  }
  return submission
}

func final(_ target: ClaimedTarget, _ outcome: Outcome = .accepted, reason: String? = nil, attempts: AttemptLog = [])
  -> Flush.Final
{
  Flush.Final(
    delivery: target.delivery, device: target.device, provider: .apns, outcome: outcome, reason: reason,
    attempts: attempts)
}

extension Acceptance {
  var id: MessageID? {
    switch self {
    case .accepted(let id), .repeated(let id): id
    default: nil
    }
  }
}

extension MessageReport {
  var ended: Int { counts.values.reduce(0, +) }
  func count(_ outcome: Outcome) -> Int { counts.filter { $0.key.outcome == outcome }.values.reduce(0, +) }
}

extension Store {
  func take(_ partition: Int) async throws -> Lease { try #require(try await leases.take(partition)) }

  /// Everything that a partition has to do.
  func claimAll(_ lease: Lease) async throws -> [ClaimedJob] {
    var jobs: [ClaimedJob] = []
    for ready in try await queue.readyStreams(lease) {
      jobs += try await queue.claim(lease, ready.stream, after: nil, jobs: 100, targets: 10_000)
    }
    return jobs
  }
}

extension PutResult {
  var id: DeviceID? { if case .stored(let id, _) = self { id } else { nil } }
  var registration: Registration? { if case .stored(_, let registration) = self { registration } else { nil } }
}

/// A connection beside the store's.
func connected(_ loop: EventLoop, _ server: RedisServer) async throws -> Redis {
  let redis = Redis(loop: loop, endpoint: server.endpoint)
  try await until(loop) { redis.isReady }
  return redis
}

/// Until the condition holds, at most a minute.
func until(
  _ loop: EventLoop, at place: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
  let end = loop.now + 60_000 * Int64(Sanitizer.slowness)
  while try await !condition() {
    try #require(loop.now < end, "it never came", sourceLocation: place)
    await loop.sleep(milliseconds: 2)
  }
}
