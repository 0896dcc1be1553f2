import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

/// One process reads in several steps; after any of them another one ends what is being read.
@Suite("What ends while it is read is no damage")
struct EndedMeanwhileStories {
  /// How a delivery that waits for its retry ends.
  enum Ending: String, CaseIterable {
    /// With its message, whose records are archived.
    case last
    /// Other deliveries of the message go on.
    case first
    case cancelled
    /// It belongs to an audience.
    case member
  }

  @Test(
    "a retry that ends while the retry set is read is not quarantined, and the others go on", arguments: Ending.allCases
  )
  func retryEnds(_ ending: Ending) async throws {
    try await inSteps(partitions: 1) { store, reader, loop in
      let now = loop.wallNow
      let lease = try await store.take(0)
      let id = try await Self.accept(ending, store, at: now)
      if ending == .member { try await store.startAll(lease, now: now) }
      let jobs = try await store.claimAll(lease)
      var flush = Flush(lease: lease, number: 0)
      flush.retries = jobs.flatMap(\.targets).map {
        Flush.RetryEntry(target: $0, due: now, reason: "busy", attempts: [])
      }
      flush.finishedJobs = jobs.map(\.id)
      _ = try await store.outcomes.flush(flush)
      let targets = flush.retries.map(\.target)

      try await reader.run {
        _ = try await $0.queue.dueRetries(lease, now: now + 1, limit: 10)
      } meanwhile: {
        if ending == .cancelled { return try await store.queue.cancelWaiting(lease, message: id) }
        _ = try await store.end([targets[0]], lease)
      }
      #expect(try await store.queue.status().quarantined == 0, "after \(reader.steps) commands")
      let left = try await store.queue.dueRetries(lease, now: now + 1, limit: 10)
      let others = ending == .cancelled ? [] : targets.dropFirst().map(\.delivery)
      #expect(Set(left.map(\.delivery)) == Set(others), "after \(reader.steps) commands")
      try await store.end(left, lease)
      let report = try await store.completed(id)
      #expect(report.count(ending == .cancelled ? .cancelled : .accepted) == targets.count && report.retrying == 0)
      try await store.leases.release(lease)
    }
  }

  private static func accept(_ ending: Ending, _ store: Store, at now: WallTime) async throws -> MessageID {
    var message = submission(tokens: ending == .first ? ["a", "b", "c"] : ["a"], at: now)
    if ending == .member {
      _ = try await Crowd.register(3, in: store)
      message = try await Crowd.submission(store, 3, at: now)
    }
    return try #require(try await store.acceptance.accept(message).id)
  }

  /// The longer list goes to its partition in two steps.
  @Test("a spread that another process ends while it is read is not quarantined, and is whole", arguments: [40, 1_100])
  func spreadEnds(count: Int) async throws {
    let partitions = count == 40 ? 4 : 1
    try await inSteps(partitions: partitions) { store, reader, loop in
      var message = submission(tokens: (0..<count).map { "t\($0)" }, at: loop.wallNow)
      message.schedule = Schedule(startAt: loop.wallNow + 60_000)
      let id = try #require(try await store.acceptance.accept(message).id)
      // Its time has come, and who was to spread it has died.
      _ = try await store.session.redis.call(RedisCommand("HSET", store.session.keys.message(id), "st", "s"))
      let ended = Box(0)
      func finish() async throws {
        for partition in 0..<partitions {
          let lease = try await store.take(partition)
          ended.value += try await store.finishAll(lease).count
          try await store.leases.release(lease)
        }
      }
      try await reader.run {
        try await $0.spread.finishSpreading(id)
      } meanwhile: {
        try await store.spread.finishSpreading(id)
        try await finish()
      }
      try await finish()
      #expect(ended.value == count, "after \(reader.steps) commands")
      let report = try await store.completed(id)
      #expect(report.count(.accepted) == count && report.ended == count, "after \(reader.steps) commands")
      #expect(try await store.queue.status().quarantined == 0, "after \(reader.steps) commands")
    }
  }

  /// Runs `body` with a reader that stops after 0, 1, 2… commands, until it needs no more.
  private func inSteps(
    partitions: Int, _ body: @escaping @Sendable (Store, Reader, EventLoop) async throws -> Void
  ) async throws {
    let server = RedisServer()
    let settings = quickSettings(partitions: partitions)
    try await withStore(settings, server: server) { store, loop in
      let reader = try await Reader(server, loop, settings)
      defer { reader.stop() }
      while !reader.isWhole {
        try await body(store, reader, loop)
        reader.steps += 1
        try #require(reader.steps < 60)
      }
      #expect(reader.steps > 3)
    }
  }

  /// A process that stops after so many commands. Loop only.
  private final class Reader: @unchecked Sendable {
    var steps = 0
    /// It had no more commands than that.
    private(set) var isWhole = false
    private let relay: RedisRelay
    private let store: Store
    private let loop: EventLoop

    init(_ server: RedisServer, _ loop: EventLoop, _ settings: StoreSettings) async throws {
      relay = RedisRelay(to: server.socketPath)
      self.loop = loop
      store = Store(loop: loop, redis: relay.endpoint, settings: settings)
      try await store.open(timeout: 60_000)
    }

    func stop() {
      store.close()
      relay.stop()
    }

    func run(_ job: @escaping (Store) async throws -> Void, meanwhile: () async throws -> Void) async throws {
      await relay.pass(steps, then: .waits)
      let result = Box<Result<Void, any Error>?>(nil)
      loop.spawn { [store] in
        do { result.value = .success(try await job(store)) } catch { result.value = .failure(error) }
      }
      try await until(loop) { if result.value == nil { await relay.isAtEnd() } else { true } }
      isWhole = result.value != nil
      try await meanwhile()
      await relay.goOn()
      try await until(loop) { result.value != nil }
      try result.value?.get()
    }
  }
}

extension Store {
  /// These deliveries are accepted.
  fileprivate func end(_ targets: [ClaimedTarget], _ lease: Lease) async throws {
    var flush = Flush(lease: lease, number: 0)
    flush.finals = targets.map { final($0) }
    _ = try await self.outcomes.flush(flush)
  }
}
