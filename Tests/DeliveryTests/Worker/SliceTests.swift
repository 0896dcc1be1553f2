import Domain
import HTTPServer
import Loop
import Store
import Support
import Telemetry
import Testing

@testable import Delivery

/// A provider's server that takes many recipients in a request, over HTTP/1.1.
final class SliceServer {
  struct Push: Hashable {
    var tokens: [String]
    var key: String
  }
  private(set) var server: HTTPServer!
  private(set) var pushes: [Push] = []
  /// Those of them that were answered with 200.
  private(set) var accepted: [Push] = []
  /// `nth`: how many requests came, this one among them.
  var reply: (Push, _ nth: Int) async -> HTTPServerResponse = { _, _ in HTTPServerResponse(status: 200) }

  init(_ loop: EventLoop) throws {
    var settings = HTTPServerSettings()
    settings.certificate = Trust.leaf.certificate
    settings.key = Trust.leaf.key
    settings.maximumHead = 65_536
    server = try HTTPServer(loop: loop, settings: settings) { [unowned self] request in
      let push = Push(
        tokens: request.path.dropFirst("/send/".count).split(separator: ",").map(String.init),
        key: request.header("request-id") ?? "")
      pushes.append(push)
      let answer = await reply(push, pushes.count)
      if answer.status == 200 { accepted.append(push) }
      return answer
    }
  }

  func account(limit: Int) -> PlainAccount {
    PlainAccount(
      credential: CredentialID(rawValue: "shop/onesignal"), provider: .oneSignal,
      origin: Origin(host: "127.0.0.1", port: server.port), wire: .http1(connections: 4), recipientLimit: limit)
  }
}

@Suite("Slices of a provider that takes many recipients", .serialized, .timeLimit(.minutes(6 * Sanitizer.slowness)))
struct SliceTests {
  @Test("recipients go together, never over the limit, never twice, and the id of the request is told")
  func together() async throws {
    try await withPost { post in
      let server = try SliceServer(post.loop)
      server.reply = { _, _ in HTTPServerResponse(status: 200, headers: [Header("id", "n-1")]) }
      let worker = try post.work([server.account(limit: 50)])
      let id = try await post.send("x", to: tokens(500), .oneSignal)
      #expect(try await post.done(id) == [.accepted: 500])
      #expect(server.pushes.flatMap(\.tokens).sorted() == tokens(500).sorted())
      #expect(server.pushes.allSatisfy { $0.tokens.count <= 50 })
      #expect(server.pushes.count <= 14)
      #expect(Set(server.pushes.map(\.key)).count == server.pushes.count)
      #expect(try await post.deliveries(id)[0].providerID == "n-1")
      await post.finish(worker)
    }
  }

  @Test("a failed slice goes again with the same members and the same key")
  func again() async throws {
    try await withPost { post in
      let server = try SliceServer(post.loop)
      server.reply = { _, nth in HTTPServerResponse(status: nth <= 8 ? 503 : 200) }
      let worker = try post.work([server.account(limit: 50)])
      let id = try await post.send("x", to: tokens(200), .oneSignal)
      #expect(try await post.done(id) == [.accepted: 200])
      expectKeysWithMembers(server)
      await post.finish(worker)
    }
  }

  /// Some were repeated, and each repeat had the members and the key of the first request.
  private func expectKeysWithMembers(_ server: SliceServer) {
    for (_, same) in Dictionary(grouping: server.pushes, by: \.key) {
      #expect(Set(same.map(\.tokens)).count == 1, "other members under the same key")
    }
    let keys = Set(server.pushes.map(\.key)).count
    #expect(keys == Set(server.pushes.map(\.tokens)).count, "the same members under another key")
    #expect(keys < server.pushes.count, "nothing was repeated")
  }

  @Test("members refused by name are left out; the rest goes again at once under a new key")
  func revised() async throws {
    try await withPost { post in
      let server = try SliceServer(post.loop)
      server.reply = { push, _ in
        push.tokens.contains("t7")
          ? HTTPServerResponse(status: 422, headers: [Header("refused", "t7"), Header("reason", "bad_id")])
          : HTTPServerResponse(status: 200)
      }
      let worker = try post.work([server.account(limit: 50)])
      let id = try await post.send("x", to: tokens(40), .oneSignal)
      #expect(try await post.done(id) == [.accepted: 39, .failed: 1])
      let refused = try #require(server.pushes.first { $0.tokens.contains("t7") })
      let rest = server.pushes.filter { $0.key != refused.key && $0.tokens == refused.tokens.filter { $0 != "t7" } }
      #expect(rest.count == 1 || refused.tokens == ["t7"])
      await post.finish(worker)
    }
  }

  @Test("a worker that dies with a slice at work is followed by the same slice under the same key")
  func killed() async throws {
    try await withPost { post in
      let server = try SliceServer(post.loop)
      let redis = post.redis
      let account = server.account(limit: 500)
      let id = try await post.send("x", to: tokens(100), .oneSignal)
      let grave = EventLoop(name: "doomed")
      let thread = grave.start()
      var dead = false
      server.reply = { [loop = post.loop] _, _ in
        if !dead {
          dead = true
          grave.stop()
          await loop.sleep(milliseconds: 500)
        }
        return HTTPServerResponse(status: 200)
      }
      grave.post {
        grave.spawn {
          let store = Store(loop: grave, redis: redis.endpoint, settings: Post.quick())
          try? await store.open()
          let doomed = try? Worker(
            loop: grave, store: store, accounts: [account.credential: account], settings: Post.settings(),
            metrics: Metrics(), log: Log(minimum: .error), decode: { PlainMessage.decode($0) },
            resolver: { _, _ in Post.route })
          await doomed?.run()
        }
      }
      try await post.until("the death") { dead }
      thread.join()
      let worker = try post.work([account])
      #expect(try await post.done(id) == [.accepted: 100])
      expectKeysWithMembers(server)
      let members = server.pushes.map(\.tokens)
      #expect(Set(members).flatMap { $0 }.sorted() == tokens(100).sorted())
      await post.finish(worker)
    }
  }

  @Test(
    "members that have ended leave a stored slice its key; late ones go under another, so that none is taken for sent")
  func incomplete() async throws {
    try await withPost { post in
      let server = try SliceServer(post.loop)
      let account = server.account(limit: 500)
      let id = try await post.send("x", to: tokens(40), .oneSignal)
      // A former owner stored a slice per partition, then died. In partition 0 it wrote one outcome before, in the
      // others one member waits for its retry.
      var former: [Int: StoredSlice] = [:]
      var held: [Int: String] = [:]
      for partition in 0..<4 {
        let lease = try #require(try await post.store.leases.take(partition))
        for ready in try await post.store.queue.readyStreams(lease) {
          let targets = try await post.store.queue.claim(lease, ready.stream, after: nil, jobs: 10, targets: 10_000)
            .flatMap(
              \.targets)
          let slice = StoredSlice(
            message: id, partition: partition, number: targets[0].delivery.index, revision: 0,
            members: targets.map(\.delivery.index))
          try await post.store.queue.storeSlice(lease, slice)
          former[partition] = slice
          held[partition] = targets[0].address?.token
          var flush = Flush(lease: lease, number: 1)
          if partition == 0 {
            flush.finals = [
              .init(
                delivery: targets[0].delivery, device: targets[0].device, provider: .oneSignal, outcome: .accepted,
                reason: nil)
            ]
          } else {
            let due = post.loop.wallNow + 1_500
            flush.retries = [.init(target: targets[0], due: due, reason: "ServiceUnavailable", attempts: [])]
          }
          _ = try await post.store.outcomes.flush(flush)
        }
        try await post.store.leases.release(lease)
      }
      #expect(former.count == 4)

      var settings = Post.settings()
      settings.slice.reunion = 100
      let worker = try post.work([account], settings)
      #expect(try await post.done(id) == [.accepted: 40])
      let sent = server.pushes.flatMap(\.tokens)
      #expect(sent.sorted() == tokens(40).filter { $0 != held[0] }.sorted())
      for (partition, slice) in former {
        let underOldKey = server.pushes.filter { $0.key == slice.key.description }
        if partition == 0 {
          #expect(underOldKey.map(\.tokens.count) == [slice.members.count - 1])
        } else {
          #expect(underOldKey.isEmpty)
        }
      }
      #expect(Set(server.pushes.map(\.key)).count == server.pushes.count)
      await post.finish(worker)
    }
  }
}
