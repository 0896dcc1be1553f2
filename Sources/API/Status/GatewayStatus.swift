package import Domain
package import Store

/// Who owns what, and what stands against whom: what `fanfare status` and `GET /v1/status` tell. One is the whole gateway's;
/// `seen(by:gateway:)` makes of it what the key of an app may know.
package struct GatewayStatus: Sendable {
  /// One credential over all workers.
  package struct Credential: Sendable {
    package var id: CredentialID
    /// `idle`, `open`, or what stands against it.
    package var state = "idle"
    package var reason: String?
    package var condition: CredentialCondition?
    /// Nil: it is not configured, or the configuration cannot be read.
    package var facts: CredentialFacts?
    package var connections = 0
    /// Requests at work, and how many may be.
    package var atWork = 0
    package var limit = 0
    package var jobs = 0
    /// When the message of the oldest job was accepted.
    package var oldest: WallTime?
    /// Prunes that wait for the operator; 0 where the brake is off.
    package var held = 0
    package var brake: Braked?

    fileprivate init(_ id: CredentialID, _ facts: CredentialFacts? = nil) { (self.id, self.facts) = (id, facts) }
  }

  /// What belongs to no app: told to whoever runs the gateway.
  package struct Whole: Sendable {
    package var owners: Owners
    package var redis: RedisStatus
    /// What Redis may lose of what was accepted.
    package var losses: [String]
    /// Deliveries that wait for another attempt, and records that could not be read.
    package var retries: Int
    package var quarantined: Int
    /// Of the configuration. A running server goes on with the one before.
    package var faults: [String]
  }

  package let now: WallTime
  /// By name.
  package private(set) var credentials: [Credential]
  /// Nil: not told to who asks.
  package private(set) var whole: Whole?

  /// Asks Redis. `known`: what is configured; `replicas`: how many must have a message before it counts as accepted.
  package init(
    _ store: Store, known facts: [CredentialID: CredentialFacts?], replicas: Int, faults: [String], now: WallTime
  ) async throws(StoreError) {
    self.now = now
    let owners = try await store.workers.owners()
    let redis = try await store.session.redisStatus()
    let queue = try await store.queue.status()
    let brakes = try await store.pruneBrakes.all()
    let conditions = try await store.conditions.all()
    var known: [CredentialID: Credential] = [:]
    for (id, facts) in facts { known[id] = Credential(id, facts) }
    for sending in owners.workers.flatMap(\.sendings) {
      var credential = known[sending.credential] ?? Credential(sending.credential)
      if Self.rank(sending.state) >= Self.rank(credential.state) {
        credential.state = sending.state
        credential.reason = sending.reason
      }
      credential.connections += sending.connections
      credential.atWork += sending.atWork
      credential.limit += sending.limit
      known[sending.credential] = credential
    }
    for (id, condition) in conditions {
      var credential = known[id] ?? Credential(id)
      (credential.state, credential.reason) = (condition.state.rawValue, condition.reason)
      credential.condition = condition
      known[id] = credential
    }
    for (stream, jobs) in queue.jobs {
      var credential = known[stream.credential] ?? Credential(stream.credential)
      credential.jobs += jobs
      if let oldest = queue.oldestByStream[stream] { credential.oldest = min(credential.oldest ?? oldest, oldest) }
      known[stream.credential] = credential
    }
    // One that has left the configuration, and has no work, may still have its brake on.
    for (id, brake) in brakes { known[id, default: Credential(id)].brake = brake }
    // Prunes are put aside only behind a brake: nobody else is asked for, in each partition.
    for (id, held) in try await store.pruneBrakes.held(of: Array(brakes.keys)) { known[id]?.held = held }
    credentials = known.values.sorted { $0.id.rawValue < $1.id.rawValue }
    whole = Whole(
      owners: owners, redis: redis, losses: redis.losses + [redis.shortage(ofReplicas: replicas)].compactMap { $0 },
      retries: queue.retries, quarantined: queue.quarantined, faults: faults)
  }

  private static func rank(_ state: String) -> Int {
    ["idle", "open", "waiting", "probing", "failing", "unreachable", "blocked"].firstIndex(of: state) ?? 0
  }

  /// What a key of that app may know: its own credentials, and with `gateway` what belongs to no app.
  package func seen(by app: AppID, gateway: Bool) -> GatewayStatus {
    var seen = self
    seen.credentials = credentials.filter { $0.id.rawValue.hasPrefix("\(app.rawValue)/") }
    if !gateway { seen.whole = nil }
    return seen
  }

  /// Jobs of all that is told.
  package var jobs: Int { credentials.reduce(0) { $0 + $1.jobs } }
  /// When the message of the oldest of them was accepted.
  package var oldest: WallTime? { credentials.compactMap(\.oldest).min() }

  /// Somebody has to act.
  package var needsOperator: Bool {
    if let whole, !whole.owners.unowned.isEmpty || !whole.faults.isEmpty || whole.quarantined > 0 { return true }
    return credentials.contains { $0.brake != nil || $0.condition?.needsOperator == true }
  }
}
