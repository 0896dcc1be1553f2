import API
import Domain
import Foundation
import HTTPServer
import JSON
import Store
import Support
import Testing

@Suite("Cost is bounded by what was paid", .serialized)
struct RateLimitTests {
  /// Within an hour nothing of so small a quota comes again while a test runs.
  private static func limit(_ quota: Int) -> RateLimit { RateLimit(quota: quota, window: 3_600_000) }

  private static func limits(_ change: (inout TenantLimits) -> Void) -> TenantLimits {
    var limits = TenantLimits()
    change(&limits)
    return limits
  }

  private static func message(_ devices: [String]) -> String {
    let list = devices.map { "\"\($0)\"" }.joined(separator: ",")
    return #"{"to":{"devices":[\#(list)]},"notification":{"title":"T"}}"#
  }
  private static let lines = ["content-type": "application/x-ndjson"]

  private func count(_ name: String, _ gateway: Gateway) -> Int {
    let page = gateway.ask("GET", "/metrics", as: nil).text
    let line = page.split(separator: "\n").first { $0.hasPrefix(name) }
    return line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
  }

  @Test(
    "a key has its requests and is told when there is one more; the body of a refused one is not read, and other keys go on"
  )
  func requests() async throws {
    let limits = Self.limits { $0.keys[.requests] = Self.limit(8) }
    try await Gateway.running(limits: limits) { gateway in
      var replies: [Reply] = []
      for _ in 0..<8 { replies.append(gateway.ask("GET", "/v1/messages", as: .read)) }
      #expect(replies.map(\.status) == Array(repeating: 200, count: 8))
      #expect(replies[3].header("ratelimit") == nil, "half is left")
      #expect(replies[6].header("ratelimit-policy") == #""key-requests";q=8;w=3600"#)
      #expect(replies[6].header("ratelimit")?.hasPrefix(#""key-requests";r=1;t="#) == true)

      let client = Client(port: gateway.port)
      let key = gateway.headers(as: .read)["authorization"]!
      client.send(
        bytes: Array(
          "GET /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\nauthorization: \(key)\r\n\r\n"
            .utf8))
      let reply = client.receive()
      #expect(reply.status == 429 && reply.code == "rate_limited", "\(reply.text)")
      #expect(reply.json["retryable"] == .bool(true))
      #expect(reply.json["violated_policies"] == .array([.string("key-requests")]))
      #expect(reply.json["detail"]?.string?.contains("limits.keys.requests") == true, "\(reply.text)")
      let wait = reply.header("retry-after").flatMap { Int($0) } ?? 0
      #expect((400...450).contains(wait), "\(wait)")
      #expect(reply.header("ratelimit") == #""key-requests";r=0;t=\#(wait)"#)
      #expect(reply.header("ratelimit-policy") == #""key-requests";q=8;w=3600"#)
      #expect(reply.header("connection") == "close")

      #expect(gateway.ask("GET", "/v1/messages", as: .read).status == 429)
      #expect(gateway.ask("GET", "/v1/messages", as: .admin).status == 200)
      #expect(gateway.ask("GET", "/readyz", as: .read).status == 200, "what is open has no limit")
      #expect(count(#"fanfare_rate_limit_refused_total{app="shop",policy="key-requests"}"#, gateway) == 2)
    }
  }

  @Test("the keys of an app share its limit, another app has its own, and a new configuration holds at once")
  func ofApp() async throws {
    let limits = Self.limits { $0.app[.requests] = Self.limit(4) }
    try await Gateway.running(limits: limits) { gateway in
      for scope in [Scope.read, .admin, .devices, .admin] {
        #expect(gateway.ask("GET", "/v1/devices", as: scope).status == 200)
      }
      let reply = gateway.ask("GET", "/v1/devices", as: .read)
      #expect(reply.status == 429 && reply.header("ratelimit")?.hasPrefix("\"app-requests\";r=0") == true)
      #expect(reply.json["detail"]?.string?.contains("limits.apps.requests") == true)
      let stranger = ["authorization": "Bearer \(gateway.stranger)"]
      #expect(gateway.ask("GET", "/v1/devices", as: nil, stranger).status == 200)
      #expect(count(#"fanfare_rate_limit_left{app="shop",policy="app-requests"}"#, gateway) == 0)
      try await gateway.adopt(limits: Self.limits { $0.app[.requests] = Self.limit(40) })
      #expect(gateway.ask("GET", "/v1/devices", as: .read).status == 429, "the bucket is as empty as before")
      try await gateway.adopt(limits: TenantLimits())
      #expect(gateway.ask("GET", "/v1/devices", as: .read).status == 200)
    }
  }

  @Test("a key that may only register has limits of its own, low by default; other keys have none by default")
  func registerKeys() async throws {
    let shipped = TenantLimits()
    #expect(shipped.registerKeys[.requests] != nil && shipped.registerKeys[.registrations] != nil)
    #expect(LimitedUse.allCases.allSatisfy { shipped.keys[$0] == nil && shipped.app[$0] == nil })
    let limits = Self.limits { $0.registerKeys[.registrations] = Self.limit(3) }
    try await Gateway.running(limits: limits) { gateway in
      func register(_ number: Int, as scope: Scope) -> Reply {
        gateway.ask("POST", "/v1/devices", #"{"provider":"apns","token":"aabb0\#(number)"}"#, as: scope)
      }
      #expect((0..<3).map { register($0, as: .register).status } == [201, 201, 201])
      let reply = register(3, as: .register)
      #expect(reply.status == 429 && reply.header("retry-after")?.hasPrefix("1") == true, "\(reply.text)")
      #expect(reply.json["detail"]?.string?.contains("limits.register_keys.registrations") == true)
      #expect(register(0, as: .register).status == 429, "a repeated one costs as much")
      #expect(gateway.ask("POST", "/v1/devices", #"{"provider":"nobody"}"#, as: .register).status == 422)
      #expect(register(3, as: .devices).status == 201)
    }
  }

  @Test("a key whose scopes change has the limits of what it may do now")
  func changedScopes() async throws {
    let limits = Self.limits { $0.registerKeys[.requests] = Self.limit(2) }
    try await Gateway.running(limits: limits) { gateway in
      let made = gateway.ask("POST", "/v1/keys", #"{"name":"phones","scopes":["devices"]}"#, as: .admin)
      let secret = try #require(made.json["secret"]?.string, "\(made.text)")
      let id = try #require(made.json["id"]?.string)
      func register() -> Int {
        gateway.ask(
          "POST", "/v1/devices", #"{"provider":"apns","token":"6a"}"#, as: nil, ["authorization": "Bearer \(secret)"]
        ).status
      }
      for _ in 0..<5 { #expect(register() < 300) }
      #expect(gateway.ask("PATCH", "/v1/keys/\(id)", #"{"scopes":["register"]}"#, as: .admin).status == 200)
      // The change holds within a second.
      let began = ContinuousClock.now
      while register() < 300 { try #require(ContinuousClock.now - began < .seconds(30 * Sanitizer.slowness)) }
      #expect(register() == 429)
    }
  }

  @Test(
    "each registration takes a token, in a bulk call for each line; more than there ever are is refused with the fix")
  func registrations() async throws {
    let limits = Self.limits { $0.app[.registrations] = Self.limit(5) }
    try await Gateway.running(limits: limits) { gateway in
      func bulk(_ numbers: Range<Int>) -> Reply {
        let body = numbers.map { #"{"id":"d\#($0)","provider":"apns","token":"aabb0\#($0)"}"# }.joined(separator: "\n")
        return gateway.ask("POST", "/v1/devices/bulk", body, as: .devices, Self.lines)
      }
      let tooMany = bulk(0..<6)
      #expect(tooMany.status == 422 && tooMany.code == "beyond_rate_limit", "\(tooMany.text)")
      #expect(tooMany.json["retryable"] == .bool(false) && tooMany.header("retry-after") == nil)
      #expect(bulk(0..<3).status == 200)
      #expect(gateway.ask("PUT", "/v1/devices/d3", #"{"provider":"apns","token":"aabb"}"#, as: .devices).status == 201)
      let reply = bulk(4..<6)
      #expect(reply.status == 429, "one is left")
      #expect(gateway.ask("GET", "/v1/devices/d4", as: .devices).status == 404)
      #expect(gateway.ask("DELETE", "/v1/devices/d3", as: .devices).status == 204)
      #expect(bulk(4..<5).status == 200)
    }
  }

  @Test("each device that a message goes to takes a token; what is refused, repeated or only tried takes none")
  func deliveries() async throws {
    let limits = Self.limits { $0.app[.deliveries] = Self.limit(10) }
    try await Gateway.running(limits: limits) { gateway in
      for number in 0..<12 { gateway.register("d\(number)") }
      func send(_ devices: Range<Int>, _ query: String = "", _ headers: [String: String] = [:]) -> Reply {
        gateway.ask("POST", "/v1/messages\(query)", Self.message(devices.map { "d\($0)" }), as: .send, headers)
      }
      let beyond = send(0..<11)
      #expect(beyond.status == 422 && beyond.code == "beyond_rate_limit", "\(beyond.text)")
      #expect(send(0..<11, "?dry_run=true").status == 200)
      let key = ["idempotency-key": "k1"]
      let first = send(0..<4, "", key)
      #expect(first.status == 202)
      for _ in 0..<5 { #expect(send(0..<4, "", key).json["id"] == first.json["id"]) }
      #expect(send(0..<5, "", key).code == "idempotency_key_reused")
      #expect(send(0..<3).status == 202)
      let reply = send(0..<4)
      #expect(reply.status == 429 && reply.code == "rate_limited", "\(reply.text)")
      #expect(reply.json["detail"]?.string?.contains("3 are left") == true, "\(reply.text)")
      #expect(reply.header("ratelimit-policy") == #""app-deliveries";q=10;w=3600;fanfare-unit="deliveries""#)
      // Three are left: of five lines so many are stored, and the others say why not.
      let bulk = gateway.ask(
        "POST", "/v1/messages/bulk", (0..<5).map { Self.message(["d\($0)"]) }.joined(separator: "\n"), as: .send,
        Self.lines)
      let lines = bulk.text.split(separator: "\n").map { (try? JSON.parse(Array($0.utf8))) ?? .null }
      #expect(lines.map { $0["id"] != nil } == [true, true, true, false, false], "\(bulk.text)")
      #expect(lines.last?["problem"]?["code"]?.string == "rate_limited")
      #expect(send(0..<1).status == 429)
    }
  }

  @Test("a message that the store refuses takes no tokens")
  func refusedByStore() async throws {
    let redis = RedisServer()
    let limits = Self.limits { $0.app[.deliveries] = Self.limit(10) }
    try await Gateway.running(redis: redis, limits: limits) { gateway in
      for number in 0..<6 { gateway.register("d\(number)") }
      func send(_ devices: Range<Int>) -> Reply {
        gateway.ask("POST", "/v1/messages", Self.message(devices.map { "d\($0)" }), as: .send)
      }
      func memory(_ bytes: String) async throws {
        let words = ["redis-cli", "-s", redis.socketPath, "config", "set", "maxmemory", bytes]
        #expect(await (try ChildProcess(URL(filePath: "/usr/bin/env"), words)).waitForExit() == 0)
      }
      #expect(send(0..<4).status == 202)
      try await memory("1")
      let refused = send(0..<6)
      #expect(refused.status == 503, "\(refused.text)")
      try await memory("0")
      let began = ContinuousClock.now
      var last = refused
      while last.status == 503 {
        try #require(ContinuousClock.now - began < .seconds(30 * Sanitizer.slowness))
        last = send(0..<6)
      }
      #expect(last.status == 202, "\(last.text)")
    }
  }

  @Test("a draft that is refused for a rate limit is not used up: it can be changed, and sent later")
  func drafts() async throws {
    let limits = Self.limits { $0.app[.deliveries] = Self.limit(2) }
    try await Gateway.running(limits: limits) { gateway in
      for number in 0..<2 { gateway.register("d\(number)") }
      let draft = gateway.ask("POST", "/v1/drafts", #"{"message":\#(Self.message(["d0", "d1"]))}"#)
      let id = try #require(draft.json["id"]?.string, "\(draft.text)")
      _ = gateway.send(to: ["d0"])
      #expect(gateway.ask("POST", "/v1/drafts/\(id)/send").status == 429)
      let changed = gateway.ask(
        "PUT", "/v1/drafts/\(id)", #"{"message":\#(Self.message(["d0"]))}"#, ["if-match": "*"])
      #expect(changed.status == 200, "\(changed.text)")
      #expect(gateway.ask("POST", "/v1/drafts/\(id)/send").status == 202)
    }
  }

  @Test("the bytes of bodies take tokens before they are parsed")
  func bytes() async throws {
    let limits = Self.limits { $0.keys[.bytes] = Self.limit(1_000) }
    try await Gateway.running(limits: limits) { gateway in
      func post(_ bytes: Int) -> Reply {
        gateway.ask("POST", "/v1/messages", String(repeating: "[", count: bytes), as: .send)
      }
      #expect(post(600).code == "malformed_json")
      let reply = post(600)
      #expect(reply.code == "rate_limited", "\(reply.text)")
      #expect(reply.header("ratelimit-policy") == #""key-bytes";q=1000;w=3600;qu="content-bytes""#)
      #expect(post(1_001).code == "beyond_rate_limit")
      #expect(gateway.ask("GET", "/v1/messages", as: .read).status == 200)
    }
  }

  @Test("processes share a bucket exactly: together they grant what one would, and a restarted one begins with no more")
  func processes() async throws {
    let redis = RedisServer()
    let limits = Self.limits { $0.app[.requests] = Self.limit(50) }
    func granted(_ gateway: Gateway, _ asked: Int) -> Int {
      (0..<asked).count { _ in gateway.ask("GET", "/v1/messages", as: .read).status == 200 }
    }
    var sum = 0
    try await Gateway.running(redis: redis, limits: limits) { first in
      sum += granted(first, 10)
      try await Gateway.running(redis: redis, limits: limits) { second in sum += granted(second, 10) }
      sum += granted(first, 10)
    }
    #expect(sum == 30)
    try await Gateway.running(redis: redis, limits: limits) { third in sum += granted(third, 40) }
    // Those that had ended held a portion of three tokens and a half at most, which lapses.
    #expect((42...50).contains(sum), "\(sum)")
  }

  @Test("while Redis does not answer, no request is refused for a rate limit, and none passes that Redis must serve")
  func withoutRedis() async throws {
    let redis = RedisServer()
    let limits = Self.limits { $0.keys[.requests] = Self.limit(4) }
    try await Gateway.running(redis: redis, limits: limits) { gateway in
      #expect(gateway.ask("GET", "/v1/messages", as: .read).status == 200)
      redis.stop()
      for _ in 0..<10 {
        let reply = gateway.ask("GET", "/v1/messages", as: .read)
        #expect(reply.code == "store_unavailable", "\(reply.text)")
      }
      #expect(count("fanfare_rate_limit_unanswered_total", gateway) >= 1)
    }
  }
}
