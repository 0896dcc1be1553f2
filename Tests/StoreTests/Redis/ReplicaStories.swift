import Domain
import Glibc
import Loop
import RedisClient
import Support
import TLS
import Testing

@testable import Store

@Suite("Messages that replicas confirm", .serialized)
struct ReplicaStories {
  /// A primary on a port, and a replica that follows it.
  private struct Pair {
    let primary: RedisServer
    let replica: RedisServer

    init() {
      let port = RedisServer.freePort()
      primary = RedisServer(["--port", String(port), "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"])
      replica = RedisServer(["--replicaof", "127.0.0.1", String(port)])
    }
  }

  private static func settings(patience: Int64 = 300) -> StoreSettings {
    var settings = quickSettings()
    settings.probeMilliseconds = 30
    settings.replicaMilliseconds = patience
    return settings
  }

  private func message(_ token: String, key: String? = nil, at now: WallTime) -> Submission {
    var submission = submission(tokens: [token, token + "2", token + "3"], at: now)
    submission.replicas = 1
    if let key { submission.idempotency = (key, Digest.sha256(Array(token.utf8))) }
    return submission
  }

  @Test("a confirmed message is on the replica, and there when that takes over; many at once share their WAIT")
  func confirmed() async throws {
    let pair = Pair()
    try await withStore(Self.settings(patience: 60_000), server: pair.primary) { store, loop in
      try await until(loop) { store.session.probe.replicas == 1 }
      let results = Results()
      for number in 0..<200 {
        results.left += 1
        loop.spawn {
          if case .accepted(let id)? = try? await store.acceptance.accept(message("t\(number)", at: loop.wallNow)) {
            results.ids.append(id)
          }
          results.left -= 1
        }
      }
      try await until(loop) { results.left == 0 }
      #expect(results.ids.count == 200)
      let asked = InfoFields(try await store.session.redis.call(RedisCommand("INFO", "commandstats")).text ?? "")
      let waits = asked["cmdstat_wait"].flatMap { text in
        text.split(separator: ",").first?.split(separator: "=").last.flatMap { Int($0) }
      }
      #expect(try #require(waits) < 100, "one WAIT for each batch")
      pair.primary.stop()

      let heir = try await connected(loop, pair.replica)
      _ = try await heir.call(RedisCommand("REPLICAOF", "NO", "ONE"))
      let after = Store(loop: loop, redis: pair.replica.endpoint, settings: Self.settings())
      try await after.open()
      for id in results.ids { #expect(try await after.reports.report(id, app: shop)?.total == 3) }
      after.close()
      heir.close()
    }
    _ = pair
  }

  @Test("what no replica confirms in time is told with its id; the same key asks again and stores nothing twice")
  func unconfirmed() async throws {
    let pair = Pair()
    try await withStore(Self.settings(), server: pair.primary) { store, loop in
      try await until(loop) { store.session.probe.replicas == 1 }
      let beginning = loop.wallNow
      try await until(loop) { try await store.acceptance.accept(message("first", key: "f", at: beginning)).id != nil }
      // The replica stays connected, takes nothing, and confirms nothing.
      pair.replica.signal(SIGSTOP)
      let now = loop.wallNow
      let began = loop.now
      let answer = try await store.acceptance.accept(message("second", key: "k", at: now))
      guard case .unconfirmed(let id, replicas: 0, isRepeated: false) = answer else {
        Issue.record("\(answer)")
        return
      }
      #expect(loop.now - began >= 300)
      #expect(try await store.reports.report(id, app: shop)?.total == 3, "it is stored, and will be sent")
      // A message that asks for nothing does not wait behind it.
      let plain = loop.now
      #expect(try await store.acceptance.accept(submission(tokens: ["plain"], at: now)).id != nil)
      #expect(loop.now - plain < 250)
      let again = try await store.acceptance.accept(message("second", key: "k", at: now))
      #expect(again == .unconfirmed(id, replicas: 0, isRepeated: true))
      let digest = Digest.sha256(Array("second".utf8))
      // The key is let go over the connection that waits for replicas, which may be behind this one.
      try await until(loop) { try await store.acceptance.lookUp(idempotencyKey: "k", digest: digest, app: shop) == nil }

      pair.replica.signal(SIGCONT)
      var last = again
      try await until(loop) {
        last = (try? await store.acceptance.accept(message("second", key: "k", at: now))) ?? last
        return last == .repeated(id)
      }
      try await until(loop) {
        try await store.acceptance.lookUp(idempotencyKey: "k", digest: digest, app: shop) == .repeated(id)
      }
      #expect(try await store.reports.messages(app: shop, before: nil, limit: 100).reports.count == 3)
    }
    _ = pair
  }

  @Test(
    "a failover without durability loses what the replica had not received, and that alone; a repeat of it is sent anew"
  )
  func failover() async throws {
    let pair = Pair()
    try await withStore(Self.settings(), server: pair.primary) { store, loop in
      try await until(loop) { store.session.probe.replicas == 1 }
      let now = loop.wallNow
      var known: MessageID?
      try await until(loop) {
        known = try await store.acceptance.accept(message("known", key: "k", at: now)).id
        return known != nil
      }
      // The replica takes over; the old primary goes on a moment longer, and dies.
      let heir = try await connected(loop, pair.replica)
      _ = try await heir.call(RedisCommand("REPLICAOF", "NO", "ONE"))
      var late = message("late", key: "l", at: now)
      late.replicas = 0
      let lost = try #require(try await store.acceptance.accept(late).id)
      pair.primary.stop()

      let after = Store(loop: loop, redis: pair.replica.endpoint, settings: Self.settings())
      try await after.open()
      #expect(try await after.reports.report(try #require(known), app: shop)?.total == 3)
      #expect(try await after.reports.report(lost, app: shop) == nil)
      guard case .accepted(let again) = try await after.acceptance.accept(late) else {
        Issue.record("the repeat was not accepted")
        return
      }
      #expect(again != lost)
      #expect(try await after.reports.messages(app: shop, before: nil, limit: 100).reports.count == 2)
      after.close()
      heir.close()
    }
    _ = pair
  }

  @Test("replicas that are not there are not waited for")
  func absent() async throws {
    try await withStore(Self.settings(patience: 4_000)) { store, loop in
      let began = loop.now
      let answer = try await store.acceptance.accept(message("alone", at: loop.wallNow))
      guard case .unconfirmed(_, replicas: 0, _) = answer else {
        Issue.record("\(answer)")
        return
      }
      #expect(loop.now - began < 4_000)
    }
  }

  private final class Results {
    var left = 0
    var ids: [MessageID] = []
  }
}
