import Domain
import Loop
import RedisClient
import Store
import Support
import Telemetry
import Testing

@testable import Delivery

@Suite("Workers share the partitions", .serialized, .timeLimit(.minutes(6 * Sanitizer.slowness)))
struct SharingTests {
  @Test("shares are even, cover all partitions, and are asked for at different places", arguments: 1...20)
  func quotas(workers: Int) {
    let serials = (1...workers).map { UInt64($0) }
    for partitions in [1, 4, 16, 65] {
      let plans = serials.map { serial in
        var plan = SharePlan(partitions: partitions)
        #expect(plan.wanted(held: 0) == 0)
        plan.heard(workers: serials, own: serial)
        return plan
      }
      let quotas = plans.map { $0.quota ?? -1 }
      #expect(quotas.reduce(0, +) == partitions)
      #expect((quotas.max() ?? 0) - (quotas.min() ?? 0) <= 1)
      for plan in plans {
        #expect(plan.order.sorted() == Array(0..<partitions))
        #expect(plan.wanted(held: 0) == plan.quota)
        #expect(plan.surplus(held: partitions) == partitions - (plan.quota ?? 0))
      }
      if workers <= partitions { #expect(Set(plans.map(\.first)).count == workers) }
    }
  }

  /// Another worker over the same Redis, with a store of its own.
  private func colleague(of post: Post, _ account: any ProviderAccount) async throws -> (worker: Worker, store: Store) {
    let store = Store(loop: post.loop, redis: post.redis.endpoint, settings: Post.quick())
    try await store.open(timeout: 60_000)
    let worker = try Worker(
      loop: post.loop, store: store, accounts: [account.credential: account], settings: Post.settings(),
      metrics: post.metrics, log: .init(minimum: .error), decode: { PlainMessage.decode($0) },
      resolver: { _, _ in Post.route })
    return (worker, store)
  }

  @Test("partitions that another holds hide no free one behind them, and what it lets go of is taken at once")
  func freed() async throws {
    // All pauses are longer than the test may take: only what a worker is told leads it to a partition.
    var lasting = Post.quick()
    lasting.leaseMilliseconds = 200_000
    try await withPost(settings: lasting) { post in
      var patient = Post.settings()
      patient.sweepInterval = 200_000
      let other = Store(loop: post.loop, redis: post.redis.endpoint, settings: post.store.session.settings)
      try await other.open()
      // The last of all serials: the worker's row begins with the first partition.
      let serial = UInt64.max
      _ = try await other.workers.beat(
        WorkerReport(serial: serial, host: "other", process: 1, startedAt: post.loop.wallNow))
      var held: [Lease] = []
      for number in 0..<3 { held.append(try #require(try await other.leases.take(number, worker: serial))) }
      let worker = try post.work([post.account(try Responder(post.loop))], patient)
      try await post.until("the free one behind them") { Array(worker.leaseKeeper.partitions.keys) == [3] }
      #expect(worker.leaseKeeper.share.quota == 2)

      let redis = Redis(loop: post.loop, endpoint: post.redis.endpoint, scripts: [])
      try await post.until("a connection") { redis.isReady }
      try await post.until("the wakeup") {
        try await redis.call(RedisCommand("PUBSUB", "CHANNELS")).array?.isEmpty == false
      }
      try await other.leases.release(held[1])
      try await post.until("the one that was let go") { Set(worker.leaseKeeper.partitions.keys) == [1, 3] }
      redis.close()
      other.close()
      await post.finish(worker)
    }
  }

  @Test("a second worker gets its half under load and gives it back; every delivery is made once")
  func comesAndGoes() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      let account = post.account(responder)
      let first = try post.work([account])
      try await post.until("the first has all") { first.leaseKeeper.partitions.count == 4 }
      var ids: [MessageID] = []
      func more() async throws {
        for _ in 1...4 { ids.append(try await post.send("x", to: tokens(150, "m\(ids.count)-"))) }
      }
      try await more()
      let (second, store) = try await colleague(of: post, account)
      let run = post.loop.spawn { await second.run() }
      try await post.until("each has its half") {
        try await more()
        return first.leaseKeeper.partitions.count == 2 && second.leaseKeeper.partitions.count == 2
      }
      #expect(Set(first.leaseKeeper.partitions.keys).isDisjoint(with: second.leaseKeeper.partitions.keys))
      second.stop(grace: 1_000)
      await run.value
      store.close()
      try await more()
      try await post.until("the first has all again") { first.leaseKeeper.partitions.count == 4 }
      for id in ids { #expect(try await post.done(id) == [.accepted: 150]) }
      #expect(responder.pushes.count == ids.count * 150, "handing over doubles nothing")
      await post.finish(first)
    }
  }
}
