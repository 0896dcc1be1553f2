import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("What is damaged, dropped or left half-way")
struct EndingStories {
  /// Four partitions, a home among them, and direct access to what is stored.
  private func withDamage(
    _ settings: StoreSettings = quickSettings(),
    _ body: @escaping @Sendable (Store, Redis, EventLoop) async throws -> Void
  ) async throws {
    let server = RedisServer()
    try await withStore(settings, server: server) { store, loop in
      let redis = Redis(loop: loop, endpoint: server.endpoint)
      while !redis.isReady { await loop.sleep(milliseconds: 1) }
      try await body(store, redis, loop)
      redis.close()
    }
  }

  @Test("counts of ended parts outlive their records, before the message completes and after")
  func partsOutlived() async throws {
    try await withDamage { store, redis, loop in
      let id = try #require(
        try await store.acceptance.accept(submission(tokens: (0..<40).map { "t\($0)" }, at: loop.wallNow)).id)
      var ended = 0
      for partition in (0..<4).reversed() {
        let lease = try await store.take(partition)
        let life = try await finish(store, lease)
        ended += life
        try await store.sweep.run(lease, now: loop.wallNow)
        let finished = store.session.keys.finished(partition)
        while try await redis.call(RedisCommand("EXISTS", finished)) != .integer(0) {
          await loop.sleep(milliseconds: 1)
        }
        if partition != id.homePartition {
          let left =
            try await redis.call(RedisCommand("TTL", store.session.keys.segment(partition, id.hour))).integer ?? 0
          #expect(left > store.session.settings.retentionSeconds + Int64(Message.defaultTTL) - 60)
          _ = try await redis.call(RedisCommand("DEL", store.session.keys.segment(partition, id.hour)))
        }
        let report = try #require(try await store.reports.report(id, app: shop))
        #expect(report.ended == ended && report.total == 40)
        #expect(report.state == (ended == 40 ? .completed : .sending))
      }
      #expect(ended == 40)
    }
  }

  @Test("parts that end in one flush tell of the first attempt and the last outcome, at home and elsewhere")
  func timesOfOneFlush() async throws {
    try await withDamage { store, _, loop in
      let id = try #require(
        try await store.acceptance.accept(submission(tokens: (0..<40).map { "t\($0)" }, at: loop.wallNow)).id)
      let attempt = Attempt(at: loop.wallNow, verdict: "accepted", reason: nil, status: 200)
      for partition in 0..<4 {
        let lease = try await store.take(partition)
        var flush = Flush(lease: lease, number: 1)
        for job in try await store.claimAll(lease) {
          flush.finals += job.targets.map { final($0, attempts: [attempt]) }
          flush.finishedJobs.append(job.id)
        }
        _ = try await store.outcomes.flush(flush)
        try await store.sweep.run(lease, now: loop.wallNow)
      }
      let report = try await store.completed(id)
      #expect(report.count(.accepted) == 40 && report.firstAttemptAt == attempt.at && report.lastOutcomeAt != nil)
    }
  }

  @Test("a part that has not told home yet is counted without its records")
  func untold() async throws {
    try await withDamage { store, redis, loop in
      var message = submission(tokens: (0..<40).map { "t\($0)" }, at: loop.wallNow)
      for place in message.targets.indices {
        message.targets[place].route = .ended(.skipped, reason: "kind_unsupported")
      }
      let id = try #require(try await store.acceptance.accept(message).id)
      let key = store.session.keys.message(id)
      while try await redis.call(RedisCommand("EXISTS", key)) != .integer(0) { await loop.sleep(milliseconds: 1) }
      #expect(try await store.reports.report(id, app: shop)?.count(.skipped) == 40)
      for partition in 0..<4 where partition != id.homePartition {
        _ = try await redis.call(RedisCommand("DEL", store.session.keys.segment(partition, id.hour)))
      }
      let report = try #require(try await store.reports.report(id, app: shop))
      #expect(report.count(.skipped) == 40 && report.state == .completed)
    }
  }

  @Test("beyond the bound of bytes the oldest hours go first; unfinished messages stay")
  func byteBound() async throws {
    var settings = quickSettings(partitions: 1)
    settings.retentionBytes = 2_000
    try await withDamage(settings) { store, _, loop in
      let lease = try await store.take(0)
      let now = loop.wallNow
      var ids: [MessageID] = []
      for hour in (1...9).reversed() {
        let message = submission(tokens: ["t\(hour)"], at: now + -Int64(hour) * 3_600_000)
        ids.append(try #require(try await store.acceptance.accept(message).id))
        if hour == 9 { continue }
        _ = try await finish(store, lease, only: ids.last)
      }
      try await store.sweep.run(lease, now: now)
      var kept: [MessageID] = []
      for id in ids where try await store.reports.report(id, app: shop) != nil { kept.append(id) }
      #expect(kept.first == ids.first, "the unfinished one went")
      let finished = Array(kept.dropFirst())
      #expect((1..<8).contains(finished.count) && finished == Array(ids.suffix(finished.count)))
      #expect(try await store.reports.messages(app: shop, before: nil, limit: 20).reports.map(\.id) == kept.reversed())
    }
  }

  @Test("what is archived while its hour is dropped stays, at whatever step of the sweep")
  func archivedMeanwhile() async throws {
    var isDone = false
    var steps = 0
    while !isDone {
      let limit = steps
      isDone = try await Self.archiveMeanwhile(after: limit)
      steps += 1
      try #require(steps < 60)
    }
    #expect(steps > 5)
  }

  /// True if a sweep has no more than so many commands.
  private static func archiveMeanwhile(after limit: Int) async throws -> Bool {
    let server = RedisServer()
    let relay = RedisRelay(to: server.socketPath)
    defer { relay.stop() }
    return try await withStore(quickSettings(partitions: 1), server: server) { store, loop in
      let sweeper = Store(loop: loop, redis: relay.endpoint, settings: quickSettings(partitions: 1))
      try await sweeper.open()
      defer { sweeper.close() }
      let lease = try await store.take(0)
      let now = loop.wallNow
      func archive(_ token: String) async throws -> MessageID {
        let id = try #require(try await store.acceptance.accept(submission(tokens: [token], at: now + -7_200_000)).id)
        #expect(try await finish(store, lease, only: id) == 1)
        return id
      }
      let old = try await archive("old")
      // As if Redis had expired it.
      _ = try await store.session.redis.call(RedisCommand("DEL", store.session.keys.segment(0, old.hour)))
      await relay.pass(limit, then: .waits)
      let swept = Box(false)
      loop.spawn {
        try? await sweeper.sweep.run(lease, now: now)
        swept.value = true
      }
      while await !relay.isAtEnd(), !swept.value { await loop.sleep(milliseconds: 1) }
      let isDone = swept.value
      let new = try await archive("new")
      await relay.goOn()
      while !swept.value { await loop.sleep(milliseconds: 1) }
      #expect(try await store.reports.report(new, app: shop)?.state == .completed, "after \(limit) commands")
      let hours = try await store.session.redis.call(RedisCommand("ZCARD", store.session.keys.segments(0)))
      #expect(hours == .integer(1), "after \(limit) commands")
      return isDone
    }
  }

  /// Accepts a message whose spreading stops at one partition, as if the process had died there.
  private func orphan(_ store: Store, _ redis: Redis, _ loop: EventLoop, at partition: Int) async throws -> MessageID {
    let sequence = store.session.keys.sequence(partition)
    _ = try await redis.call(RedisCommand("DEL", sequence))
    _ = try await redis.call(RedisCommand("HSET", sequence, "not", "a number"))
    await #expect(throws: StoreError.self) {
      try await store.acceptance.accept(submission(tokens: (0..<40).map { "t\($0)" }, at: loop.wallNow))
    }
    _ = try await redis.call(RedisCommand("DEL", sequence))
    return try #require(try await store.reports.messages(app: shop, before: nil, limit: 1).reports.first).id
  }

  @Test("a spread that stopped half-way is finished by the sweep of its home")
  func orphanedSpread() async throws {
    try await withDamage { store, redis, loop in
      let id = try await orphan(store, redis, loop, at: 2)
      let home = try await store.take(id.homePartition)
      try await store.sweep.run(home, now: loop.wallNow + 9_000)
      #expect(try await redis.call(RedisCommand("EXISTS", store.session.keys.spread(id))) == .integer(1))
      try await store.sweep.run(home, now: loop.wallNow + 11_000)
      #expect(try await redis.call(RedisCommand("EXISTS", store.session.keys.spread(id))) == .integer(0))
      try await store.leases.release(home)
      var ended = 0
      for partition in 0..<4 { ended += try await finish(store, try await store.take(partition)) }
      #expect(ended == 40)
      #expect(try await completed(store, loop, id).count(.accepted) == 40)
    }
  }

  @Test("a spread part that cannot be read ends as corrupt_record, and the sums hold", arguments: [true, false])
  func corruptSpread(damaged: Bool) async throws {
    try await withDamage { store, redis, loop in
      let id = try await orphan(store, redis, loop, at: 2)
      if damaged {
        _ = try await redis.call(RedisCommand("HSET", store.session.keys.spread(id), "2", "garbage"))
      } else {
        _ = try await redis.call(RedisCommand("HDEL", store.session.keys.spread(id), "2"))
      }
      let home = try await store.take(id.homePartition)
      try await store.sweep.run(home, now: loop.wallNow + 11_000)
      try await store.leases.release(home)
      var ended = 0
      for partition in 0..<4 { ended += try await finish(store, try await store.take(partition)) }
      let report = try await completed(store, loop, id)
      #expect(ended < 40 && report.count(.accepted) == ended && report.ended == 40)
      #expect(report.counts.filter { $0.key.reason == "corrupt_record" }.values.first == 40 - ended)
      #expect(try await store.queue.status().quarantined == 1)
    }
  }

  @Test("jobs that cannot be read end their deliveries, jobs of unknown messages vanish; the rest goes on")
  func corruptJobs() async throws {
    try await withDamage(quickSettings(partitions: 1)) { store, redis, loop in
      let id = try #require(
        try await store.acceptance.accept(submission(tokens: (0..<600).map { "t\($0)" }, at: loop.wallNow)).id)
      let stream = store.session.keys.stream(0, "u:\(apnsCredential.rawValue)")
      let jobs = try await redis.call(RedisCommand("XRANGE", stream, "-", "+")).array ?? []
      #expect(jobs.count == 2)
      _ = try await redis.call(RedisCommand("DEL", stream))
      func add(_ entry: String, _ fields: [[UInt8]]) async throws {
        var command = RedisCommand("XADD", stream, entry)
        for field in fields { command.append(field) }
        _ = try await redis.call(command)
      }
      func fields(_ job: RedisReply) -> [[UInt8]] { (job.array?.last?.array ?? []).compactMap(\.bytes) }
      var bad = fields(jobs[0])
      bad[7] = Array(bad[7].dropLast(3))
      try await add(jobs[0].array?.first?.text ?? "", bad)
      try await add(jobs[1].array?.first?.text ?? "", fields(jobs[1]))
      var unknown = fields(jobs[1])
      unknown[1] = MessageID(acceptedAt: loop.wallNow, partition: 0, random: 7).raw
      try await add("900-1", unknown)
      try await add("901-1", [[1], [2]])
      let lease = try await store.take(0)
      let claimed = try await store.claimAll(lease)
      #expect(claimed.flatMap(\.targets).count == 100)
      var report = try #require(try await store.reports.report(id, app: shop))
      #expect(report.count(.failed) == 500 && report.state == .sending)
      _ = try await finish(store, lease)
      report = try await completed(store, loop, id)
      #expect(report.count(.accepted) == 100 && report.count(.failed) == 500)
      let items = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 1)).items
      #expect(items.first?.state == "failed" && items.first?.reason == "corrupt_record")
      let status = try await store.queue.status()
      #expect(status.jobs.isEmpty && status.quarantined == 2)
    }
  }

  @Test("a retry whose record cannot be read ends; one without a record is dropped", arguments: ["R!", "", "X123456"])
  func corruptRetry(record: String) async throws {
    try await withDamage(quickSettings(partitions: 1)) { store, redis, loop in
      let id = try #require(try await store.acceptance.accept(submission(tokens: ["a", "b"], at: loop.wallNow)).id)
      let lease = try await store.take(0)
      let job = try #require(try await store.claimAll(lease).first)
      var flush = Flush(lease: lease, number: 1)
      flush.retries = [Flush.RetryEntry(target: job.targets[0], due: loop.wallNow, reason: "busy", attempts: [])]
      flush.finals = [final(job.targets[1])]
      flush.finishedJobs = [job.id]
      _ = try await store.outcomes.flush(flush)
      let index = String(job.targets[0].delivery.index)
      _ = try await redis.call(RedisCommand("HSET", store.session.keys.deliveries(0, id), index, record))
      var stale = RedisCommand("ZADD", store.session.keys.retry(0), "1")
      stale.append(MessageID(acceptedAt: loop.wallNow, partition: 0, random: 9).raw + [0, 0, 0, 0])
      _ = try await redis.call(stale)
      #expect(try await store.queue.dueRetries(lease, now: loop.wallNow + 1, limit: 10).isEmpty)
      #expect(try await store.queue.nextRetry(lease) == nil)
      let report = try await completed(store, loop, id)
      #expect(report.count(.failed) == 1 && report.count(.accepted) == 1 && report.retrying == 0)
      #expect(try await store.queue.status().quarantined == 2)
    }
  }

  @Test("a cancelled list keeps its content, however long it is", arguments: [40, 1_100])
  func cancelledContent(count: Int) async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let message = submission(tokens: (0..<count).map { "t\($0)" }, at: loop.wallNow)
      let id = try #require(try await store.acceptance.accept(message).id)
      let lease = try await store.take(0)
      let jobs = try await store.claimAll(lease)
      var flush = Flush(lease: lease, number: 1)
      flush.finals = jobs.flatMap(\.targets).map { final($0, .cancelled) }
      flush.finishedJobs = jobs.map(\.id)
      _ = try await store.outcomes.flush(flush)
      #expect(try await completed(store, loop, id).count(.cancelled) == count)
      #expect(try await store.archive.body(of: id, app: shop) == message.body)
    }
  }

  @Test("a retry of a delivery that its message has not is dropped, and the message ends as it would")
  func retryOfNobody() async throws {
    try await withDamage(quickSettings(partitions: 1)) { store, redis, loop in
      let id = try #require(try await store.acceptance.accept(submission(tokens: ["a", "b"], at: loop.wallNow)).id)
      let lease = try await store.take(0)
      let nobody = UInt32.max
      var due = RedisCommand("ZADD", store.session.keys.retry(0), "1")
      due.append(id.raw + [255, 255, 255, 255])
      _ = try await redis.call(due)
      _ = try await redis.call(RedisCommand("HSET", store.session.keys.deliveries(0, id), String(nobody), "R!"))
      #expect(try await store.queue.dueRetries(lease, now: loop.wallNow, limit: 10).isEmpty)
      #expect(try await store.queue.nextRetry(lease) == nil)
      #expect(try await finish(store, lease) == 2)
      let report = try await completed(store, loop, id)
      #expect(report.count(.accepted) == 2 && report.ended == 2)
      #expect(try await store.queue.status().quarantined == 1)
    }
  }
}

/// Claims and accepts all that a partition has to do, or what one message has; how many deliveries that were.
private func finish(_ store: Store, _ lease: Lease, only: MessageID? = nil) async throws -> Int {
  let jobs = try await store.claimAll(lease).filter { only == nil || $0.message == only }
  var flush = Flush(lease: lease, number: 0)
  flush.finals = jobs.flatMap(\.targets).map { final($0) }
  flush.finishedJobs = jobs.map(\.id)
  _ = try await store.outcomes.flush(flush)
  return flush.finals.count
}

/// The report of a message once it is completed: the last word travels behind the flush.
private func completed(_ store: Store, _ loop: EventLoop, _ id: MessageID) async throws -> MessageReport {
  while true {
    let report = try #require(try await store.reports.report(id, app: shop))
    if report.state == .completed { return report }
    await loop.sleep(milliseconds: 1)
  }
}
