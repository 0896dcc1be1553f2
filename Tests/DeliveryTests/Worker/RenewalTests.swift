import Domain
import HTTP2
import Loop
import Store
import Support
import Telemetry
import Testing

@testable import Delivery

@Suite("Credentials that change under a worker", .serialized, .timeLimit(.minutes(6 * Sanitizer.slowness)))
struct RenewalTests {
  private func accounts(_ list: PlainAccount...) -> [CredentialID: any ProviderAccount] {
    Dictionary(uniqueKeysWithValues: list.map { ($0.credential, $0) })
  }

  @Test(
    "in the middle of a send: nothing is lost, nothing doubled, and the rest goes over new connections with the new key"
  )
  func underLoad() async throws {
    try await withPost { post in
      // So few streams that most of the message waits when the key changes.
      var narrow = HTTP2ServerSettings()
      narrow.maximumConcurrentStreams = 20
      let responder = try Responder(post.loop, settings: narrow)
      let old = post.account(responder)
      var new = old
      new.pass = "new"
      let (renewed, id) = (new, old.credential)
      let worker = try post.work([old])
      responder.reply = { [unowned responder] _, _ in
        if responder.pushes.count == 200 { try? worker.adopt(accounts(renewed), changed: [id]) }
        return .status(200)
      }
      let message = try await post.send("x", to: tokens(600))
      #expect(try await post.done(message) == [.accepted: 600])
      #expect(responder.pushes.count == 600)
      let first = responder.pushes.filter { $0.authorization == "pass-1" }
      let rest = responder.pushes.filter { $0.authorization == "new-1" }
      #expect(first.count + rest.count == 600 && first.count >= 200 && !rest.isEmpty)
      #expect(Set(first.map(\.connection)).isDisjoint(with: Set(rest.map(\.connection))))
      // Of another account: not the same token, renewed.
      #expect(post.metric("fanfare_provider_token_changes_total") == 0)
      await post.finish(worker)
    }
  }

  @Test("a blocked credential sends again as soon as fresh ones are there, without waiting for its next probe")
  func reopens() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, _ in
        push.authorization.hasPrefix("pass") ? .status(403, [Header("reason", "InvalidProviderToken")]) : .status(200)
      }
      var settings = Post.settings()
      settings.breaker.probeInterval = 600_000
      let old = post.account(responder)
      let worker = try post.work([old], settings)
      let id = try await post.send("x", to: tokens(30))
      try await post.until("the block") {
        try await post.store.conditions.all()[old.credential]?.reason == "InvalidProviderToken"
      }
      var new = old
      new.pass = "new"
      try worker.adopt(accounts(new), changed: [old.credential])
      #expect(try await post.done(id) == [.accepted: 30])
      try await post.until("the end of the block") { try await post.store.conditions.all().isEmpty }
      await post.finish(worker)
    }
  }

  @Test("a reload that changes nothing lets a credential without a connection connect at once")
  func connectsAtOnce() async throws {
    try await withPost { post in
      let port = RedisServer.freePort()
      let account = PlainAccount(
        credential: CredentialID(rawValue: "shop/apns"), provider: .apns, origin: Origin(host: "127.0.0.1", port: port))
      var settings = Post.settings()
      settings.pool.reconnectBase = 36_000_000
      settings.pool.reconnectMaximum = 36_000_000
      settings.pool.failuresToReport = 1
      let worker = try post.work([account], settings)
      let id = try await post.send("x", to: tokens(30))
      try await post.until("no connection") {
        try await post.store.conditions.all()[account.credential]?.state == .unreachable
      }
      let responder = try Responder(post.loop, port: port)
      try worker.adopt(accounts(account), changed: [])
      #expect(try await post.done(id) == [.accepted: 30])
      #expect(responder.pushes.count == 30)
      try await post.until("the end of it") { try await post.store.conditions.all().isEmpty }
      await post.finish(worker)
    }
  }

  @Test("a credential that is taken out keeps what is queued, and goes on when it is back; a new one finds its jobs")
  func removedAndAdded() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      let apple = post.account(responder)
      let google = post.account(responder, .fcm)
      let worker = try post.work([apple])
      let waiting = try await post.send("later", to: tokens(5), .fcm)
      try await post.until("the stranger") {
        try await post.store.conditions.all()[google.credential]?.reason == "not configured"
      }
      try worker.adopt(accounts(google), changed: [google.credential])
      #expect(try await post.done(waiting) == [.accepted: 5])
      try await post.until("nothing is told, as nothing is queued") { try await post.store.conditions.all().isEmpty }
      let kept = try await post.send("kept", to: tokens(5))
      try await post.until("the removal") {
        try await post.store.conditions.all().mapValues(\.reason) == [apple.credential: "not configured"]
      }
      let other = try await post.send("other", to: tokens(5), .fcm)
      #expect(try await post.done(other) == [.accepted: 5])
      #expect(!responder.pushes.contains { $0.title == "kept" })
      try worker.adopt(accounts(apple, google), changed: [])
      #expect(try await post.done(kept) == [.accepted: 5])
      #expect(responder.pushes.count == 15)
      try await post.until("the return") { try await post.store.conditions.all().isEmpty }
      await post.finish(worker)
    }
  }
}
