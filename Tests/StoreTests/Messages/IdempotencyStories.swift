import Domain
import Loop
import RedisClient
import Support
import TLS
import Testing

@testable import Store

@Suite("Idempotency, keys and opening")
struct IdempotencyStories {
  @Test("a key stands for one message and one body")
  func keys() async throws {
    try await withStore { store, loop in
      var message = submission(tokens: (0..<9).map { "t\($0)" }, at: loop.wallNow)
      message.idempotency = ("order 1", Digest.sha256([1]))
      #expect(
        try await store.acceptance.lookUp(idempotencyKey: "order 1", digest: Digest.sha256([1]), app: shop) == nil)
      let id = try #require(try await store.acceptance.accept(message).id)
      #expect(try await store.acceptance.accept(message) == .repeated(id))
      #expect(
        try await store.acceptance.lookUp(idempotencyKey: "order 1", digest: Digest.sha256([1]), app: shop)
          == .repeated(id))
      message.idempotency = ("order 1", Digest.sha256([2]))
      #expect(try await store.acceptance.accept(message) == .keyReused)
      #expect(
        try await store.acceptance.lookUp(idempotencyKey: "order 1", digest: Digest.sha256([2]), app: shop)
          == .keyReused)
      #expect(try await store.reports.messages(app: shop, before: nil, limit: 10).reports.count == 1)
      #expect(try await store.queue.status().jobs.values.reduce(0, +) <= 4)
    }
  }

  @Test("of two requests at once with one key, one is told that the other is at work, or gets its id")
  func concurrent() async throws {
    try await withStore { store, loop in
      var message = submission(tokens: ["a"], at: loop.wallNow)
      message.idempotency = ("k", [1])
      let copy = message
      let answers = Bag()
      for _ in 0..<2 { loop.spawn { answers.add(try? await store.acceptance.accept(copy)) } }
      while answers.items.count < 2 { await loop.sleep(milliseconds: 1) }
      let accepted = answers.items.compactMap { if case .accepted(let id) = $0 { id } else { nil } }
      #expect(accepted.count == 1)
      let id = try #require(accepted.first)
      #expect(answers.items.contains { $0 == .inProgress || $0 == .repeated(id) })
      let status = try await store.queue.status()
      #expect(status.jobs.values.reduce(0, +) == 1)
    }
  }

  /// Lets others come between the reservation of a key and the storing of its message.
  private func reserved(_ message: Submission, _ store: Store) async throws -> (Submission, MessageID) {
    let id = store.acceptance.identify(message)
    guard case .new(let until) = try await store.acceptance.reserve("k", digest: [1], id: id, app: shop) else {
      throw StoreError.unusable("the key is known")
    }
    var message = message
    message.keyedUntil = until
    return (message, id)
  }

  @Test(
    "who has reserved a key and stores late, when another has stored its message and it has ended and gone, stores nothing",
    arguments: [1, 3, 9])
  func late(targets: Int) async throws {
    try await withStore(quickSettings(partitions: targets == 9 ? 4 : 1)) { store, loop in
      var message = submission(tokens: (0..<targets).map { "t\($0)" }, at: loop.wallNow)
      message.idempotency = ("k", [1])
      let (own, id) = try await reserved(message, store)
      // Another one takes the reservation over, stores the message, and dies before it says so.
      try await store.acceptance.place(own, as: id, isRepeated: true)
      var leases: [Lease] = []
      for partition in 0..<store.session.settings.partitions { leases.append(try await store.take(partition)) }
      #expect(try await end(store, leases) == targets)
      for partition in 0..<store.session.settings.partitions {
        _ = try await store.session.ask(RedisCommand("UNLINK", store.session.keys.segment(partition, id.hour)))
      }
      #expect(try await store.reports.report(id, app: shop) == nil)
      // The first one wakes up; so does one whose confirmation was lost.
      for isRepeated in [false, true] {
        try await store.acceptance.place(own, as: id, isRepeated: isRepeated)
        #expect(try await end(store, leases) == 0, "it is sent once")
      }
    }
  }

  @Test("one message that two store at once for a key is stored once, in one script or in two", arguments: [1, 3])
  func together(targets: Int) async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      var message = submission(tokens: (0..<targets).map { "t\($0)" }, at: loop.wallNow)
      message.idempotency = ("k", [1])
      let (own, id) = try await reserved(message, store)
      let answers = Bag()
      // The first is at work alone; the others come together behind it.
      for _ in 0..<5 {
        loop.spawn {
          try? await store.acceptance.place(own, as: id, isRepeated: false)
          answers.add(nil)
        }
      }
      try await until(loop) { answers.items.count == 5 }
      #expect(try await end(store, [try await store.take(0)]) == targets)
    }
  }

  @Test("for a key that has ended nothing is stored, and the others of its script are", arguments: [1, 3])
  func ended(targets: Int) async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let message = submission(tokens: (0..<targets).map { "t\($0)" }, at: loop.wallNow)
      var (own, id) = try await reserved(message, store)
      let others = Bag()
      own.keyedUntil = loop.wallNow.milliseconds - 1
      for number in 0..<3 {
        let other = submission(tokens: (0..<targets).map { "o\(number) \($0)" }, at: loop.wallNow)
        loop.spawn { others.add(try? await store.acceptance.accept(other)) }
      }
      let late = own
      await #expect(throws: MessageAcceptance.keyHasEnded) {
        try await store.acceptance.place(late, as: id, isRepeated: false)
      }
      try await until(loop) { others.items.count == 3 }
      #expect(others.items.allSatisfy { if case .accepted = $0 { true } else { false } })
      #expect(try await end(store, [try await store.take(0)]) == targets * 3)
      #expect(try await store.reports.report(id, app: shop) == nil)
    }
  }

  @Test("what is remembered of a key lives as long as the key, and no longer than two hours more")
  func evidence() async throws {
    var settings = quickSettings(partitions: 1)
    settings.idempotencySeconds = 600
    try await withStore(settings) { store, loop in
      var message = submission(tokens: ["t"], at: loop.wallNow)
      message.idempotency = ("k", [1])
      let id = try #require(try await store.acceptance.accept(message).id)
      let life = try await store.session.ask(RedisCommand("TTL", store.session.keys.keyed(0, id.hour))).integer ?? 0
      #expect((600...7_800).contains(life))
    }
  }

  /// Sends whatever there is to send; how many deliveries that was.
  private func end(_ store: Store, _ leases: [Lease]) async throws -> Int {
    var count = 0
    for lease in leases {
      let jobs = try await store.claimAll(lease)
      var flush = Flush(lease: lease, number: 0)
      for job in jobs {
        count += job.targets.count
        flush.finals += job.targets.map { final($0) }
        flush.finishedJobs.append(job.id)
      }
      if !jobs.isEmpty { _ = try await store.outcomes.flush(flush) }
    }
    return count
  }

  @Test("accepted work survives a Redis restart; the store comes back by itself")
  func restart() async throws {
    let server = RedisServer(durable: true)
    try await withStore(quickSettings(partitions: 1), server: server) { store, loop in
      let id = try #require(try await store.acceptance.accept(submission(tokens: ["a"], at: loop.wallNow)).id)
      let lease = try await store.take(0)
      server.stop()
      await #expect(throws: StoreError.self) {
        try await store.acceptance.accept(submission(tokens: ["b"], at: loop.wallNow))
      }
      server.start()
      while !store.session.isAvailable { await loop.sleep(milliseconds: 5) }
      let job = try #require(try await store.claimAll(lease).first)
      #expect(job.message == id)
      var flush = Flush(lease: lease, number: 1)
      flush.finals = [final(job.targets[0])]
      flush.finishedJobs = [job.id]
      _ = try await store.outcomes.flush(flush)
      #expect(try await store.reports.report(id, app: shop)?.state == .completed)
    }
  }

  @Test("a full Redis refuses messages and still takes outcomes; with more memory it accepts again")
  func full() async throws {
    let server = RedisServer()
    try await withStore(quickSettings(partitions: 2), server: server) { store, loop in
      let redis = Redis(loop: loop, endpoint: server.endpoint)
      while !redis.isReady { await loop.sleep(milliseconds: 1) }
      // What was accepted before, in one partition and over several.
      let one = try #require(try await store.acceptance.accept(submission(tokens: ["a"], at: loop.wallNow)).id)
      let list = submission(tokens: (0..<60).map { "t\($0)" }, at: loop.wallNow)
      let many = try #require(try await store.acceptance.accept(list).id)
      var leases: [Lease] = []
      for partition in 0..<2 { leases.append(try await store.take(partition)) }
      _ = try await redis.call(RedisCommand("CONFIG", "SET", "maxmemory", "1mb"))

      for message in [submission(tokens: ["b"], at: loop.wallNow), list] {
        let refused = await fault { try await store.acceptance.accept(message) }
        guard case .unavailable(_, let retryAfter) = refused else {
          return #expect(Bool(false), "accepted by a full Redis: \(String(describing: refused))")
        }
        #expect(retryAfter > 0)
      }
      // Retries, renewals, cancellations, ends and sweeps pass.
      for lease in leases {
        #expect(try await store.leases.take(lease.partition, renewing: lease) != nil)
        let jobs = try await store.claimAll(lease)
        var flush = Flush(lease: lease, number: 1)
        flush.finals = jobs.flatMap(\.targets).dropFirst().map { final($0) }
        if let first = jobs.first?.targets.first {
          flush.retries = [Flush.RetryEntry(target: first, due: loop.wallNow, reason: "busy", attempts: [])]
        }
        flush.finishedJobs = jobs.map(\.id)
        _ = try await store.outcomes.flush(flush)
        var second = Flush(lease: lease, number: 2)
        second.finals = try await store.queue.dueRetries(lease, now: loop.wallNow + 1, limit: 10).map { final($0) }
        _ = try await store.outcomes.flush(second)
        try await store.sweep.run(lease, now: loop.wallNow)
      }
      for (id, total) in [(one, 1), (many, 60)] {
        while try await store.reports.report(id, app: shop)?.state != .completed { await loop.sleep(milliseconds: 1) }
        #expect(try await store.reports.report(id, app: shop)?.count(.accepted) == total)
      }
      #expect(try await store.reports.messages(app: shop, before: nil, limit: 10).reports.count == 2)

      _ = try await redis.call(RedisCommand("CONFIG", "SET", "maxmemory", "1gb"))
      // The share of memory in use is looked at every second.
      var accepted: MessageID?
      while accepted == nil {
        accepted = try? await store.acceptance.accept(submission(tokens: ["c"], at: loop.wallNow)).id
        if accepted == nil { await loop.sleep(milliseconds: 10) }
      }
      #expect(try await store.reports.report(accepted!, app: shop)?.state == .queued)
      redis.close()
    }
  }

  @Test("opening tells what is wrong and how to mend it")
  func open() async throws {
    let server = RedisServer()
    try await withStore(quickSettings(partitions: 4), server: server) { _, loop in
      let other = Store(loop: loop, redis: server.endpoint, settings: quickSettings(partitions: 8))
      let words = await complaint { try await other.open() }
      #expect(words.contains("4 partitions"))
      other.close()
    }
    let lru = RedisServer(["--maxmemory-policy", "allkeys-lru"])
    let words = await complaint { try await withStore(server: lru) { _, _ in } }
    #expect(words.contains("noeviction"))
  }
}

/// What makes a store unusable, or nothing.
private func complaint(_ body: () async throws -> Void) async -> String {
  do {
    try await body()
    return ""
  } catch {
    guard case .unusable(let text)? = error as? StoreError else { return "" }
    return text
  }
}

/// The fault that a call ends with, if it does.
private func fault<Value>(_ body: () async throws -> Value) async -> StoreError? {
  do {
    _ = try await body()
    return nil
  } catch { return error as? StoreError }
}

private final class Bag {
  var items: [Acceptance?] = []
  func add(_ item: Acceptance?) { items.append(item) }
}
