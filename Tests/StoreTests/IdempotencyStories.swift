import Domain
import Loop
import RedisClient
import Store
import Support
import TLS
import Testing

@Suite("Idempotency, keys and opening")
struct IdempotencyStories {
  @Test("a key stands for one message and one body")
  func keys() async throws {
    try await withStore { store, loop in
      var message = submission(tokens: (0..<9).map { "t\($0)" }, at: loop.wallNow)
      message.idempotency = ("order 1", Digest.sha256([1]))
      #expect(try await store.lookUp(idempotencyKey: "order 1", digest: Digest.sha256([1]), app: shop) == nil)
      let id = try #require(try await store.accept(message).id)
      #expect(try await store.accept(message) == .repeated(id))
      #expect(try await store.lookUp(idempotencyKey: "order 1", digest: Digest.sha256([1]), app: shop) == .repeated(id))
      message.idempotency = ("order 1", Digest.sha256([2]))
      #expect(try await store.accept(message) == .keyReused)
      #expect(try await store.lookUp(idempotencyKey: "order 1", digest: Digest.sha256([2]), app: shop) == .keyReused)
      #expect(try await store.messages(app: shop, before: nil, limit: 10).count == 1)
      #expect(try await store.queueStatus().jobs.values.reduce(0, +) <= 4)
    }
  }

  @Test("of two requests at once with one key, one is told that the other is at work, or gets its id")
  func concurrent() async throws {
    try await withStore { store, loop in
      var message = submission(tokens: ["a"], at: loop.wallNow)
      message.idempotency = ("k", [1])
      let copy = message
      let answers = Bag()
      for _ in 0..<2 { loop.spawn { answers.add(try? await store.accept(copy)) } }
      while answers.items.count < 2 { await loop.sleep(milliseconds: 1) }
      let accepted = answers.items.compactMap { if case .accepted(let id) = $0 { id } else { nil } }
      #expect(accepted.count == 1)
      let id = try #require(accepted.first)
      #expect(answers.items.contains { $0 == .inProgress || $0 == .repeated(id) })
      let status = try await store.queueStatus()
      #expect(status.jobs.values.reduce(0, +) == 1)
    }
  }

  @Test("an API key is found by its secret only, listed without it, and dies when revoked")
  func apiKeys() async throws {
    try await withStore { store, loop in
      let (key, secret) = try await store.createKey(app: shop, scopes: [.send, .read], note: "ci", now: loop.wallNow)
      #expect(secret.hasPrefix("fk_"))
      #expect(try await store.key(forSecret: secret) == key)
      #expect(try await store.key(forSecret: secret + "x") == nil)
      #expect(try await store.keys(app: shop) == [key])
      #expect(try await store.revokeKey(key.id, app: AppID(rawValue: "other")) == false)
      #expect(try await store.revokeKey(key.id, app: shop))
      #expect(try await store.key(forSecret: secret) == nil)
    }
  }

  @Test("accepted work survives a Redis restart; the store comes back by itself")
  func restart() async throws {
    let server = RedisServer(durable: true)
    try await withStore(quickSettings(partitions: 1), server: server) { store, loop in
      let id = try #require(try await store.accept(submission(tokens: ["a"], at: loop.wallNow)).id)
      let lease = try await store.take(0)
      server.stop()
      await #expect(throws: StoreError.self) {
        try await store.accept(submission(tokens: ["b"], at: loop.wallNow))
      }
      server.start()
      while !store.isAvailable { await loop.sleep(milliseconds: 5) }
      let job = try #require(try await store.claimAll(lease).first)
      #expect(job.message == id)
      var flush = Flush(lease: lease, number: 1)
      flush.finals = [final(job.targets[0])]
      flush.finishedJobs = [job.id]
      _ = try await store.flush(flush)
      #expect(try await store.report(id, app: shop)?.state == .completed)
    }
  }

  @Test("a full Redis refuses messages and still takes outcomes; with more memory it accepts again")
  func full() async throws {
    let server = RedisServer()
    try await withStore(quickSettings(partitions: 2), server: server) { store, loop in
      let redis = Redis(loop: loop, endpoint: server.endpoint)
      while !redis.isReady { await loop.sleep(milliseconds: 1) }
      // What was accepted before, in one partition and over several.
      let one = try #require(try await store.accept(submission(tokens: ["a"], at: loop.wallNow)).id)
      let list = submission(tokens: (0..<60).map { "t\($0)" }, at: loop.wallNow)
      let many = try #require(try await store.accept(list).id)
      var leases: [Lease] = []
      for partition in 0..<2 { leases.append(try await store.take(partition)) }
      _ = try await redis.call(RedisCommand("CONFIG", "SET", "maxmemory", "1mb"))

      for message in [submission(tokens: ["b"], at: loop.wallNow), list] {
        let refused = await fault { try await store.accept(message) }
        guard case .unavailable(_, let retryAfter) = refused else {
          return #expect(Bool(false), "accepted by a full Redis: \(String(describing: refused))")
        }
        #expect(retryAfter > 0)
      }
      // Retries, renewals, cancellations, ends and sweeps pass.
      for lease in leases {
        #expect(try await store.lease(lease.partition, renewing: lease) != nil)
        let jobs = try await store.claimAll(lease)
        var flush = Flush(lease: lease, number: 1)
        flush.finals = jobs.flatMap(\.targets).dropFirst().map { final($0) }
        if let first = jobs.first?.targets.first {
          flush.retries = [Flush.RetryEntry(target: first, due: loop.wallNow, reason: "busy", attempts: [])]
        }
        flush.finishedJobs = jobs.map(\.id)
        _ = try await store.flush(flush)
        var second = Flush(lease: lease, number: 2)
        second.finals = try await store.dueRetries(lease, now: loop.wallNow + 1, limit: 10).map { final($0) }
        _ = try await store.flush(second)
        try await store.sweep(lease, now: loop.wallNow)
      }
      for (id, total) in [(one, 1), (many, 60)] {
        while try await store.report(id, app: shop)?.state != .completed { await loop.sleep(milliseconds: 1) }
        #expect(try await store.report(id, app: shop)?.count(.accepted) == total)
      }
      #expect(try await store.messages(app: shop, before: nil, limit: 10).count == 2)

      _ = try await redis.call(RedisCommand("CONFIG", "SET", "maxmemory", "1gb"))
      // The share of memory in use is looked at every second.
      var accepted: MessageID?
      while accepted == nil {
        accepted = try? await store.accept(submission(tokens: ["c"], at: loop.wallNow)).id
        if accepted == nil { await loop.sleep(milliseconds: 10) }
      }
      #expect(try await store.report(accepted!, app: shop)?.state == .queued)
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
