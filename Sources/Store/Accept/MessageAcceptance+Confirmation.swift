import Loop
import RedisClient

/// Messages that replicas must have before they count as accepted. They are written over a connection of their own, so
/// that nobody else waits behind its WAIT; WAIT tells of the connection that wrote, and of no other.
extension MessageAcceptance {
  /// As `accept`, and then until so many replicas have it. `.unconfirmed`: the primary has it and will
  /// send it unless it is lost first; that the replicas have it is not known.
  func acceptConfirmed(_ submission: Submission) async throws(StoreError) -> Acceptance {
    let writer = try await confirmer()
    let connection = writer.session.redis.generation
    let placed = try await writer.acceptance.place(submission)
    guard case .stored(let id, let isRepeated) = placed else { return placed.acceptance }
    let replicas = await writer.acceptance.receipts.confirm(
      replicas: submission.replicas, connection: connection, connected: session.probe.replicas,
      timeout: settings.replicaMilliseconds)
    writer.acceptance.settle(submission, id, isConfirmed: replicas >= submission.replicas)
    guard replicas >= submission.replicas else {
      return .unconfirmed(id, replicas: replicas, isRepeated: isRepeated)
    }
    return isRepeated ? .repeated(id) : .accepted(id)
  }

  /// The same store over another connection.
  private func confirmer() async throws(StoreError) -> Store {
    try session.checkCondition()
    let writer = confirming ?? Store(loop: loop, redis: session.endpoint, settings: settings)
    confirming = writer
    if !writer.session.isAvailable { try await writer.open(timeout: Self.confirmerMilliseconds) }
    return writer
  }
  private static let confirmerMilliseconds: Int64 = 2_000
}

/// Gathers what waits for replicas: one WAIT at a time, for all that one connection had written before it.
final class ReplicaReceipts {
  private struct Entry {
    var replicas: Int
    var connection: Int
    var connected: Int
    var timeout: Int64
    var waiter: UnsafeContinuation<Int, Never>
  }
  private let redis: Redis
  private var gathered: [Entry] = []
  private var isAsking = false

  init(redis: Redis) { self.redis = redis }

  /// How many replicas have everything that this connection has written until now; 0 if that is not known.
  func confirm(replicas: Int, connection: Int, connected: Int, timeout: Int64) async -> Int {
    await withUnsafeContinuation { waiter in
      gathered.append(
        Entry(replicas: replicas, connection: connection, connected: connected, timeout: timeout, waiter: waiter))
      if !isAsking { ask() }
    }
  }

  private func ask() {
    var batch = gathered
    gathered = []
    // A connection that came since has written nothing, and all replicas have nothing.
    for entry in batch where entry.connection != redis.generation { entry.waiter.resume(returning: 0) }
    batch.removeAll { $0.connection != redis.generation }
    guard let wanted = batch.map(\.replicas).max(), let first = batch.first else { return }
    isAsking = true
    // Replicas that are not there are not waited for: others stand behind.
    let timeout = wanted <= first.connected ? first.timeout : Self.absentMilliseconds
    redis.send(RedisCommand("WAIT", String(wanted), String(timeout)), timeout: timeout + Self.graceMilliseconds) {
      [self] result in
      isAsking = false
      var count = 0
      if case .success(let reply) = result { count = Int(reply.integer ?? 0) }
      for entry in batch { entry.waiter.resume(returning: count) }
      if !isAsking, !gathered.isEmpty { ask() }
    }
  }
  private static let absentMilliseconds: Int64 = 1
  private static let graceMilliseconds: Int64 = 1_000
}
