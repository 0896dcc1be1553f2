import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Redis that goes back in time", .serialized)
struct HistoryStories {
  private static let stream = StreamID(partition: 0, credential: apnsCredential, urgency: .urgent)

  /// One delivery each is kept whole, several have hashes.
  private func accept(_ names: [String], targets: Int, _ store: Store, _ loop: EventLoop) async throws -> [MessageID] {
    var ids: [MessageID] = []
    for name in names {
      let tokens = (0..<targets).map { "\(name) \($0)" }
      ids.append(try #require(try await store.acceptance.accept(submission(tokens: tokens, at: loop.wallNow)).id))
    }
    return ids
  }

  private func claim(_ store: Store, _ lease: Lease, after: JobID? = nil) async throws -> [ClaimedJob] {
    try await store.queue.claim(lease, Self.stream, after: after.map { ClaimPlace(job: $0) }, jobs: 100, targets: 1_000)
  }

  private func flush(_ jobs: [ClaimedJob], _ lease: Lease, number: UInt64 = 1) -> Flush {
    var flush = Flush(lease: lease, number: number)
    for job in jobs {
      flush.finals += job.targets.map { final($0) }
      flush.finishedJobs.append(job.id)
    }
    return flush
  }

  private func back(_ server: RedisServer, _ store: Store, _ loop: EventLoop) async throws {
    server.restartFromCopy()
    try await until(loop) { !store.session.isAvailable }
    try await until(loop) { store.session.isAvailable }
  }

  @Test(
    "an owner that has claimed what Redis has lost writes nothing more; who follows finds all that is left",
    arguments: [1, 3])
  func owner(targets: Int) async throws {
    let server = RedisServer(durable: true)
    try await withStore(quickSettings(partitions: 1), server: server) { store, loop in
      let ended = Ended()
      store.session.onHistoryEnd = { ended.words.append($0) }
      let kept = try await accept(["kept"], targets: targets, store, loop)
      let lease = try await store.take(0)
      var jobs = try await claim(store, lease)
      server.copy()
      _ = try await accept(["lost"], targets: targets, store, loop)
      jobs += try await claim(store, lease, after: jobs[0].id)
      #expect(jobs.count == 2)
      try await back(server, store, loop)

      // It gets the place in the stream that the lost one had.
      let later = try await accept(["later"], targets: targets, store, loop)
      await #expect(throws: StoreError.leaseLost(partition: 0)) {
        try await store.outcomes.flush(flush([jobs[1]], lease))
      }
      await #expect(throws: StoreError.leaseLost(partition: 0)) { try await claim(store, lease, after: jobs[1].id) }
      #expect(try await store.leases.take(0, renewing: lease) == nil)
      #expect(ended.words.count == 1)
      // Its lease has ended with the history that granted it: nobody waits for it.
      let next = try await store.take(0)
      let found = try await claim(store, next)
      #expect(found.map(\.message) == kept + later)
      #expect(found[1].id == jobs[1].id)
      _ = try await store.outcomes.flush(flush(found, next))
      for id in kept + later { #expect(try await store.reports.report(id, app: shop)?.count(.accepted) == targets) }
    }
  }

  @Test(
    "a renewal tells that a claim was lost, and no renewal ends a lease whose writes are all there", arguments: [1, 3])
  func renewal(targets: Int) async throws {
    let server = RedisServer(durable: true)
    try await withStore(quickSettings(partitions: 1), server: server) { store, loop in
      _ = try await accept(["kept"], targets: targets, store, loop)
      let lease = try await store.take(0)
      let jobs = try await claim(store, lease)
      server.copy()
      try await back(server, store, loop)
      // What others write, and lose, is not what this owner knows.
      let same = try #require(try await store.leases.take(0, renewing: lease))
      _ = try await store.outcomes.flush(flush(jobs, same))
      try await back(server, store, loop)
      #expect(try await store.leases.take(0, renewing: same) == nil)
      #expect(try await claim(store, try await store.take(0)).map(\.message) == jobs.map(\.message))
    }
  }

  @Test("a job is removed with its message only: one that was given its place afterwards stays", arguments: [1, 3])
  func places(targets: Int) async throws {
    let server = RedisServer(durable: true)
    try await withStore(quickSettings(partitions: 1), server: server) { store, loop in
      let lease = try await store.take(0)
      server.copy()
      _ = try await accept(["lost"], targets: targets, store, loop)
      let jobs = try await claim(store, lease)
      try await back(server, store, loop)
      let later = try await accept(["later"], targets: targets, store, loop)
      // As if nothing had been confirmed to this owner.
      store.session.fences[0] = nil
      _ = try await store.outcomes.flush(flush(jobs, lease))
      try await store.queue.drop([jobs[0].id.entry(of: jobs[0].message)], corrupt: 0, lease, Self.stream)
      let found = try await claim(store, lease)
      #expect(found.map(\.message) == later && found[0].id == jobs[0].id)
    }
  }

  @Test("another history is told when Redis has been started anew, and not while it runs")
  func told() async throws {
    let server = RedisServer(durable: true)
    var settings = quickSettings(partitions: 1)
    settings.probeMilliseconds = 10
    let quick = settings
    try await withStore(quick, server: server) { store, loop in
      let ended = Ended()
      store.session.onOtherHistory = { ended.words.append("other") }
      for _ in 0..<2 {
        store.session.probe.read(try await store.session.ask(RedisCommand("INFO", "replication")).text ?? "")
      }
      #expect(ended.words.isEmpty)
      server.restart()
      try await until(loop) { !ended.words.isEmpty }
    }
  }

  private final class Ended { var words: [String] = [] }
}
