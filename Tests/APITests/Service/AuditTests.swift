import Domain
import HTTPServer
import JSON
import Loop
import RedisClient
import Support
import Testing

@testable import API
@testable import Store

@Suite("The audit of what the API does")
struct AuditTests {
  private static func entries(_ gateway: Gateway, _ query: String = "") -> [JSONValue] {
    let reply = gateway.ask("GET", "/v1/audit?limit=1000\(query)")
    #expect(reply.status == 200, "\(reply.text)")
    return reply.json["items"]?.array ?? []
  }

  /// Entries of sends come within a second.
  private static func sends(_ count: Int, _ gateway: Gateway) async throws -> [JSONValue] {
    while true {
      let entries = entries(gateway).filter { $0["trail"]?.string == "sends" }
      if entries.count >= count { return entries }
      try await gateway.loop.run { [loop = gateway.loop] in await loop.sleep(milliseconds: 20) }
    }
  }

  @Test("each operation that changes something is audited, but for what devices say of themselves")
  func table() {
    let left = Endpoint.all.filter { endpoint in
      guard case .none = endpoint.audit, case .key = endpoint.access else { return false }
      return endpoint.method != "GET"
    }
    #expect(
      Set(left.compactMap(\.operation)) == [
        "countAudience", "countDraft", "registerDevice", "putDevice", "changeDeviceTags", "putUserTags",
        "changeUserTags",
      ])
    let sends = Endpoint.all.filter { AuditedOperations.trail(of: $0) == .sends }.compactMap(\.operation)
    #expect(sends == ["sendMessage", "sendMessages"])
    for endpoint in Endpoint.all {
      guard case .key(let scopes) = endpoint.access, scopes == [.admin] else { continue }
      #expect(AuditedOperations.trail(of: endpoint) == .admin, "\(endpoint.path)")
    }
  }

  @Test("what was refused has a trail of its own; an entry names what was made, says the query, and has no secret")
  func particulars() async throws {
    try await Gateway.running { gateway in
      let made = gateway.ask("POST", "/v1/keys", #"{"name":"till","scopes":["read"]}"#)
      #expect(made.status == 201)
      #expect(gateway.ask("DELETE", "/v1/keys/fan_0123456789").status == 404)
      #expect(gateway.ask("DELETE", "/v1/audiences/a%1bb").status == 404)
      #expect(gateway.ask("GET", "/v1/devices?format=csv&tag=vip").status == 200)
      // Of one millisecond, entries of different trails have no order.
      let entries = Self.entries(gateway)
      func text(_ name: String, of operation: String) -> String? {
        entries.first { $0["operation"]?.string == operation }?[name]?.string
      }
      #expect(entries.count == 4)
      #expect(text("trail", of: "createKey") == "keys" && text("created_id", of: "createKey") != nil)
      #expect(text("created_id", of: "createKey") == made.json["id"]?.string)
      #expect(text("trail", of: "revokeKey") == "refused" && text("object", of: "revokeKey") == "fan_…")
      #expect(text("trail", of: "deleteAudience") == "refused")
      #expect(text("object", of: "deleteAudience") == "a\u{fffd}b")
      #expect(text("trail", of: "listDevices") == "acts" && text("query", of: "listDevices") == "format=csv&tag=vip")
    }
  }

  @Test("sign-ins and sign-outs stand in a trail of their own")
  func sessions() async throws {
    try await Gateway.running { gateway in
      let address = try #require(NetworkAddress("127.0.0.1"))
      try await gateway.loop.run {
        guard let service = gateway.service else { return }
        let request = HTTPServerRequest(
          method: "POST", path: "/console/sign-in", headers: [], body: [], address: address)
        for act in Service.SessionAct.allCases {
          try await service.record(act, of: (AppID(rawValue: "shop"), "key_1"), request) {}
        }
      }
      let entries = Self.entries(gateway)
      #expect(entries.compactMap { $0["trail"]?.string } == ["sessions", "sessions", "sessions"], "\(entries)")
      #expect(Set(entries.compactMap { $0["operation"]?.string }) == ["signIn", "signOut", "signOutEverywhere"])
    }
  }

  @Test("an export is told as whole before its client knows, and as cut off where it is not taken to its end")
  func exportEnds() async throws {
    let told = try await withLoop { loop in
      let ends = Ends()
      func export(_ pieces: [Result<[UInt8], BodyPieces.Broken>], taken: Int) async {
        var rest = pieces[...]
        let body = BodyPieces { () throws(BodyPieces.Broken) in try rest.popFirst()?.get() }
        let export = AuditedExport(loop, body) { isWhole in ends.all.append(isWhole) }
        for _ in 0..<taken { _ = try? await export.next() }
      }
      await export([.success([1]), .success([2])], taken: 3)
      let whole = ends.all
      await export([.success([1]), .success([2])], taken: 2)
      await export([.success([1]), .failure(BodyPieces.Broken())], taken: 3)
      while ends.all.count < 3 { await loop.sleep(milliseconds: 0) }
      return (whole, ends.all)
    }
    #expect(told.0 == [true] && told.1 == [true, false, false])
  }

  @Test("an entry tells who did what from where with which object, how it ended, and what it was before and behind")
  func acts() async throws {
    try await Gateway.running { gateway in
      let path = "/v1/audiences/spring"
      #expect(gateway.ask("PUT", path, #"{"audience":"lang:de"}"#, as: .admin, ["x-request-id": "r-1"]).status == 201)
      #expect(gateway.ask("PUT", path, #"{"audience":"lang:en"}"#).status == 200)
      #expect(gateway.ask("PUT", path, #"{"audience":"("}"#).status == 422)
      #expect(gateway.ask("DELETE", path).status == 204)
      #expect(gateway.ask("GET", "/v1/devices?format=csv").status == 200)
      #expect(gateway.ask("GET", "/v1/devices").status == 200)
      // Of one millisecond, entries of different trails have no order.
      let all = Self.entries(gateway)
      func entries(_ operation: String, _ outcome: String) -> [JSONValue] {
        all.filter { $0["operation"]?.string == operation && $0["outcome"]?.string == outcome }
      }
      #expect(all.count == 5)
      let (refused, puts) = (try #require(entries("putAudience", "refused").first), entries("putAudience", "done"))
      let (deleted, listed) = (try #require(entries("deleteAudience", "done").first), entries("listDevices", "done"))
      try #require(puts.count == 2)
      let (replaced, made) = (puts[0], puts[1])
      #expect(made["object"]?.string == "spring" && made["status"]?.integer == 201)
      #expect(made["address"]?.string == "127.0.0.1" && made["request_id"]?.string == "r-1")
      #expect(made["key"]?.string?.hasPrefix("key_") == true && made["trail"]?.string == "admin")
      #expect(made["before_digest"] == nil && made["after_digest"]?.string?.utf8.count == 32)
      #expect(made["request_digest"]?.string != replaced["request_digest"]?.string)
      #expect(replaced["before_digest"] == made["after_digest"] && replaced["after_digest"] != made["after_digest"])
      #expect(refused["code"]?.string == "invalid_audience" && refused["before_digest"] == refused["after_digest"])
      #expect(deleted["before_digest"] == replaced["after_digest"] && deleted["after_digest"] == nil)
      #expect(listed.first?["trail"]?.string == "acts")
      let other = gateway.ask("GET", "/v1/audit", as: nil, ["authorization": "Bearer \(gateway.stranger)"])
      #expect(other.json["items"]?.array?.isEmpty == true)
      #expect(Self.entries(gateway, "&operation=putAudience&object=spring").count == 3)
      #expect(gateway.ask("GET", "/v1/audit?operation=putAudienze").text.contains("did you mean `putAudience`"))
      let table = gateway.ask("GET", "/v1/audit?format=csv")
      #expect(table.text.split(separator: "\r\n").count == 7, "itself among them: \(table.text)")
    }
  }

  @Test("a send has its entry within a second, a dry run and a refused send have none, and a stop leaves none out")
  func sends() async throws {
    let redis = RedisServer()
    var ids: [String] = []
    try await Gateway.running(redis: redis) { gateway in
      gateway.register("d1")
      ids = (0..<3).map { _ in gateway.send(to: ["d1"]) }
      let message = #"{"to":{"devices":["d1"]},"notification":{"title":"T"}}"#
      #expect(gateway.ask("POST", "/v1/messages?dry_run=true", message).status == 200)
      #expect(gateway.ask("POST", "/v1/messages", #"{"to":{}}"#).status == 422)
      let entries = try await Self.sends(3, gateway)
      #expect(entries.map { $0["created_id"]?.string } == ids.reversed())
      #expect(entries.allSatisfy { $0["operation"]?.string == "sendMessage" && $0["status"]?.integer == 202 })
      #expect(entries.compactMap { $0["number"]?.integer } == [3, 2, 1])
      ids.append(gateway.send(to: ["d1"]))
    }
    try await Gateway.running(redis: redis) { gateway in
      let created = Self.entries(gateway).filter { $0["trail"]?.string == "sends" }.map { $0["created_id"]?.string }
      #expect(created == ids.reversed())
    }
  }

  @Test("an act whose entry cannot be written is not done")
  func unwritable() async throws {
    try await Gateway.running { gateway in
      // A value of another kind stands where acts at work are written.
      let loop = gateway.loop
      let endpoint = gateway.redis.endpoint
      let key = try await gateway.withStore { $0.session.keys.actsAtWork(Gateway.shop) }
      try await loop.run {
        let redis = Redis(loop: loop, endpoint: endpoint)
        defer { redis.close() }
        while !redis.isReady { await loop.sleep(milliseconds: 5) }
        _ = try await redis.call(RedisCommand("SET", key, "damaged"))
      }
      #expect(gateway.ask("PUT", "/v1/audiences/spring", #"{"audience":"lang:de"}"#).status == 503)
      #expect(gateway.ask("GET", "/v1/audiences/spring").status == 404)
    }
  }
}

private final class Ends {
  var all: [Bool] = []
}
