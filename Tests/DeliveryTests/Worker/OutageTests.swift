import Domain
import HTTP2
import Loop
import RedisClient
import Store
import Support
import Telemetry
import Testing

@testable import Delivery

/// A provider is away for many times the longest wait of its credential, as an hour would be in service, while a campaign to it and to
/// another one is queued.
@Suite("A provider is away during a campaign", .serialized, .timeLimit(.minutes(6 * Sanitizer.slowness)))
struct OutageTests {
  enum Ailment: String, CaseIterable {
    /// Nobody listens.
    case unreachable
    case refusesCredential
    /// 5xx to everything.
    case fails
    /// Takes requests and never answers.
    case silent

    /// Of one kind so many that what may be added in Redis comes to ten bytes for each that waits: no record is as small.
    var members: Int { self == .refusesCredential ? 12_000 : 4_000 }
  }

  /// A retry record for each probe, and what the message's counters may grow by.
  private static let bytesAllowed = 60_000
  private static let sick = "sick"

  @Test(
    "it costs no attempts but those at work and the probes, no memory per delivery, and nothing of the other's rate",
    arguments: Ailment.allCases)
  func away(_ ailment: Ailment) async throws {
    try await withPost { post in
      let healthy = try Responder(post.loop)
      healthy.keepsAll = false
      let sick = try Responder(post.loop)
      sick.keepsAll = false
      var isBack = false
      sick.reply = { _, _ in
        switch ailment {
        case _ where isBack: return .status(200)
        case .refusesCredential: return .status(403, [Header("reason", "InvalidProviderToken")])
        case .fails, .unreachable: return .status(503)
        case .silent: return .silence
        }
      }
      var settings = Post.settings()
      settings.claim.room = 1_000
      settings.http2.answerTimeout = ailment == .silent ? 150 : 20_000
      settings.retry[.fcm]!.attempts = 100
      var account = post.account(sick, .fcm)
      // A port that nobody listens on, until it is back.
      if ailment == .unreachable { account.origin.port = 1 }
      let worker = try post.work([post.account(healthy), account], settings)
      let sender = try #require(worker.senders[account.credential])

      let members = ailment.members
      try await post.register(members) { device, number in
        if number.isMultiple(of: 2) { device.address = Address(provider: .fcm, token: "f\(number)") }
      }
      let id = try await post.sendToAll(PlainMessage(title: "campaign", ttl: 86_400), members)
      let half = members / 2
      try await post.until("the other's half") { healthy.tokens.count == half }

      // The trouble has been noticed; from here on only probes go.
      try await post.until("the wait of the sick one") {
        ailment == .unreachable
          ? sender.status.isUnreachable : !sender.status.breaker.isClosed && sender.usage.atWork <= 1
      }
      try await post.until("all outcomes written") { worker.context.ledger.unflushed == 0 }
      let before = try await Self.picture(post, worker)
      // Before the attempts are read: a probe that goes meanwhile belongs to those of which they may grow.
      let requests = sick.total
      let attempts = try await Self.attempts(post, id)
      // What was at work when it began has spent one; of all others nothing has.
      let atWork = ailment == .fails || ailment == .silent ? settings.claim.room : 0
      #expect(attempts <= atWork, "\(ailment)")
      let probes = 12
      if ailment == .unreachable {
        for _ in 0..<probes { await post.loop.sleep(milliseconds: settings.pool.reconnectBase) }
      } else {
        try await post.until("many probes", seconds: 40) { sick.total >= requests + probes }
      }
      let after = try await Self.picture(post, worker)
      let spent = try await Self.attempts(post, id) - attempts
      // With a probe's own attempt the one of before is written down, that went again at once and then waited.
      let most = ailment == .refusesCredential ? 0 : 2 * (sick.total - requests + 1)
      #expect(spent <= most, "\(ailment): \(spent)")
      #expect(sick.total - requests <= 3 * probes)
      #expect(after.inMemory <= settings.claim.room + settings.claim.membersAtOnce)
      // A retry record for each probe at most; never one for each that waits.
      #expect(after.bytes - before.bytes < Self.bytesAllowed, "\(ailment): \(before.bytes) then \(after.bytes)")
      if ailment == .refusesCredential {
        let report = try await post.report(id)
        #expect(Array(report.blocked.keys) == ["InvalidProviderToken"])
        #expect(report.blocked.values.reduce(0, +) + report.retrying == half)
      }
      // Another message to the other provider passes at once.
      #expect(try await post.done(try await post.send("beside", to: tokens(50, "x"))) == [.accepted: 50])

      isBack = true
      if ailment == .unreachable {
        account.origin = sick.origin
        try worker.adopt(
          [account.credential: account, CredentialID(rawValue: "shop/apns"): post.account(healthy)],
          changed: [account.credential])
      }
      #expect(try await post.done(id, seconds: 60) == [.accepted: members])
      #expect(sick.tokens.count == half)
      #expect(try await post.report(id).blocked == [:])
      await post.finish(worker)
    }
  }

  /// Deliveries of the worker's memory, and the bytes of the keys that a campaign may make grow.
  private static func picture(_ post: Post, _ worker: Worker) async throws -> (
    inMemory: Int, bytes: Int
  ) {
    let inMemory = worker.senders.values.reduce(0) { $0 + $1.usage.inMemory }
    return (inMemory, try await post.redisBytes())
  }

  /// Attempts that are on record and count.
  private static func attempts(_ post: Post, _ id: MessageID) async throws -> Int {
    var filter = DeliveryFilter()
    filter.provider = .fcm
    var sum = 0
    var cursor: DeliveryPlace?
    repeat {
      guard
        let page = try await post.store.deliveries.page(id, app: Post.app, filter: filter, cursor: cursor, limit: 1_000)
      else { break }
      sum += page.items.reduce(0) { $0 + $1.attempts.spent }
      cursor = page.next
    } while cursor != nil
    return sum
  }
}

extension Post {
  /// Bytes of all keys of the store.
  func redisBytes() async throws -> Int {
    let redis = Redis(loop: loop, endpoint: self.redis.endpoint, scripts: [])
    defer { redis.close() }
    try await until("a connection") { redis.isReady }
    guard let keys = try await redis.call(RedisCommand("KEYS", "*")).array?.compactMap(\.text) else { return 0 }
    let sizes = try await redis.call(keys.map { RedisCommand("MEMORY", "USAGE", $0) })
    return sizes.reduce(0) { $0 + Int($1.integer ?? 0) }
  }
}
