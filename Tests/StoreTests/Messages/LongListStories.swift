import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

/// Lists that are stored and spread step by step.
@Suite("Long lists")
struct LongListStories {
  @Test("a list of 65,535 targets is stored and spread in scripts of bounded size, and is whole")
  func longestList() async throws {
    let server = RedisServer()
    let relay = RedisRelay(to: server.socketPath)
    defer { relay.stop() }
    let settings = quickSettings(partitions: 2)
    try await withStore(settings, server: server) { store, loop in
      let sender = Store(loop: loop, redis: relay.endpoint, settings: settings)
      try await sender.open()
      defer { sender.close() }
      let tokens = (0..<65_535).map { "token-\($0)-" + String(repeating: "x", count: 140) }
      let id = try #require(try await sender.acceptance.accept(submission(tokens: tokens, at: loop.wallNow)).id)
      let longest = await relay.longest()
      #expect(longest < 600_000, "\(longest) bytes")
      #expect(try await store.reports.report(id, app: shop)?.total == 65_535)
      var ended = 0
      for partition in 0..<2 {
        let lease = try await store.take(partition)
        for ready in try await store.queue.readyStreams(lease) {
          var after: ClaimPlace?
          while case let jobs = try await store.queue.claim(
            lease, ready.stream, after: after, jobs: 20, targets: 10_000),
            let last = jobs.last
          {
            after = last.place
            var flush = Flush(lease: lease, number: 0)
            flush.finals = jobs.flatMap(\.targets).map { final($0) }
            flush.finishedJobs = jobs.map(\.id)
            ended += flush.finals.count
            _ = try await store.outcomes.flush(flush)
          }
        }
      }
      #expect(ended == 65_535)
      #expect(try await store.completed(id).count(.accepted) == 65_535)
      var devices: Set<DeviceID> = []
      var cursor: DeliveryPlace?
      repeat {
        let page = try #require(try await store.deliveries.page(id, app: shop, cursor: cursor, limit: 5_000))
        for item in page.items { devices.insert(item.device) }
        cursor = page.next
      } while cursor != nil
      #expect(devices.count == 65_535)
      #expect(try await store.session.redis.call(RedisCommand("EXISTS", store.session.keys.spread(id))) == .integer(0))
    }
  }

  @Test("a long list whose process dies at any step is whole or was never there", arguments: [1, 2])
  func deadAtAnyStep(partitions: Int) async throws {
    var steps = 0
    var (whole, gone) = (0, 0)
    while true {
      guard let isThere = try await Self.dieAfter(steps, partitions) else { break }
      if isThere { whole += 1 } else { gone += 1 }
      steps += 1
      try #require(steps < 60)
    }
    #expect(whole > 2 && gone > 2, "\(whole) and \(gone)")
  }

  /// Whether the message was there when its process had died after so many commands; nil: it had not so many.
  private static func dieAfter(_ limit: Int, _ partitions: Int) async throws -> Bool? {
    let server = RedisServer()
    let relay = RedisRelay(to: server.socketPath)
    defer { relay.stop() }
    let settings = quickSettings(partitions: partitions)
    return try await withStore(settings, server: server) { store, loop in
      let sender = Store(loop: loop, redis: relay.endpoint, settings: settings)
      try await sender.open()
      defer { sender.close() }
      let now = loop.wallNow
      // A step in the middle is told as it is accepted.
      var message = submission(tokens: (0..<4_100).map { "t\($0)-" + String(repeating: "x", count: 60) }, at: now)
      for place in 1_500..<1_600 { message.targets[place].route = .ended(.skipped, reason: "kind_unsupported") }
      await relay.pass(limit, then: .dies)
      var id: MessageID?
      do { id = try await sender.acceptance.accept(message).id } catch {}
      let isWhole = id != nil
      id = try await store.reports.messages(app: shop, before: nil, limit: 1).reports.first?.id
      guard let id else {
        // What was staged goes by itself.
        for key in try await store.session.redis.call(RedisCommand("KEYS", "*}:x*:*")).array?.compactMap(\.text) ?? [] {
          #expect(
            try await store.session.redis.call(RedisCommand("TTL", key)).integer.map { (1...3_600).contains($0) }
              == true,
            "after \(limit) commands")
        }
        return false
      }
      let home = try await store.take(id.homePartition)
      try await store.sweep.run(home, now: now + 11_000)
      try await store.leases.release(home)
      var ended = 0
      for partition in 0..<partitions { ended += try await store.finishAll(try await store.take(partition)).count }
      #expect(ended == 4_000, "after \(limit) commands")
      let report = try await store.completed(id)
      #expect(report.count(.accepted) == 4_000 && report.count(.skipped) == 100, "after \(limit) commands: \(report)")
      return isWhole ? nil : true
    }
  }

  @Test("a step of a long list that cannot be read ends as corrupt_record, the others are sent")
  func lostStep() async throws {
    let server = RedisServer()
    try await withStore(quickSettings(partitions: 1), server: server) { store, loop in
      var message = submission(tokens: (0..<3_200).map { "t\($0)" }, at: loop.wallNow)
      message.schedule = Schedule(startAt: loop.wallNow + 1_000)
      let id = try #require(try await store.acceptance.accept(message).id)
      let redis = store.session.redis
      #expect(try await redis.call(RedisCommand("HLEN", store.session.keys.spread(id))) == .integer(4))
      _ = try await redis.call(RedisCommand("HSET", store.session.keys.spread(id), "0.1", "garbage"))
      let lease = try await store.take(0)
      #expect(try await store.schedule.beginDue(lease, now: loop.wallNow + 2_000, limit: 5) == 1)
      #expect(try await store.finishAll(lease).count == 2_200)
      let report = try await store.completed(id)
      #expect(report.count(.accepted) == 2_200 && report.count(.failed) == 1_000)
      #expect(try await store.queue.status().quarantined == 1)
    }
  }
}
