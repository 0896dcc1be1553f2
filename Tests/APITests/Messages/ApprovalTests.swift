import API
import Domain
import JSON
import Loop
import Store
import Support
import Testing

@Suite("A message to many devices needs two people, where the app says so", .serialized)
struct ApprovalTests {
  private static let message = #"{"to":{"audience":"beta"},"notification":{"title":"T"}}"#

  /// Three devices, and two keys that may send beside one that writes drafts.
  private func running(_ body: (Gateway, _ second: String) async throws -> Void) async throws {
    try await Gateway.running { gateway in
      for name in ["d1", "d2", "d3"] { gateway.register(name, #""tags":["beta"]"#) }
      try await gateway.adopt { $0.approval = ApprovalRule(above: 2) }
      let second = try await gateway.withStore { store in
        try await store.keyring.create(
          NewKey(name: "second", scopes: [.send, .read]), app: Gateway.shop, now: gateway.loop.wallNow
        ).secret
      }
      try await body(gateway, second)
    }
  }

  private static func by(_ secret: String, _ headers: [String: String] = [:]) -> [String: String] {
    headers.merging(["authorization": "Bearer " + secret]) { $1 }
  }

  private func draft(_ gateway: Gateway, as scope: Scope = .send, _ message: String = message) throws -> String {
    let made = gateway.ask("POST", "/v1/drafts", #"{"message":\#(message)}"#, as: scope)
    return "/v1/drafts/" + (try #require(made.json["id"]?.string, "\(made.text)"))
  }

  @Test("who wrote a draft cannot send it alone; another key sends it, or approves it")
  func two() async throws {
    try await running { gateway, second in
      let path = try draft(gateway)
      let refused = gateway.ask("POST", path + "/send", nil, as: .send)
      #expect(refused.status == 403 && refused.json["code"]?.string == "approval_needed", "\(refused.text)")
      #expect(refused.text.contains("more than 2 devices") && refused.text.contains("/approve"), "\(refused.text)")
      #expect(gateway.ask("POST", path + "/count", nil, as: .send).json["approval"]?["is_needed"]?.bool == true)
      // Who has not said which version they saw is no second person.
      #expect(gateway.ask("POST", path + "/send", nil, as: nil, Self.by(second)).status == 403)
      let seen = ["if-match": "\"1\""]
      #expect(gateway.ask("POST", path + "/send", nil, as: nil, Self.by(second, seen)).status == 202)

      let other = try draft(gateway)
      let own = gateway.ask("POST", other + "/approve", nil, as: .send, seen)
      #expect(own.status == 403 && own.json["code"]?.string == "own_draft", "\(own.text)")
      let approved = gateway.ask("POST", other + "/approve", nil, as: nil, Self.by(second, ["if-match": "\"1\""]))
      #expect(approved.status == 200 && approved.json["approved_by"]?.string != nil, "\(approved.text)")
      #expect(approved.json["edited_by"] != approved.json["approved_by"])
      #expect(gateway.ask("POST", other + "/count", nil, as: .send).json["approval"]?["is_needed"]?.bool == false)
      #expect(gateway.ask("POST", other + "/send", nil, as: .send).status == 202)
    }
  }

  @Test("a change ends an approval, and a version that was not seen is not approved")
  func changes() async throws {
    try await running { gateway, second in
      let path = try draft(gateway)
      #expect(gateway.ask("POST", path + "/approve", nil, as: nil, Self.by(second)).status == 428)
      let any = Self.by(second, ["if-match": "*"])
      #expect(gateway.ask("POST", path + "/approve", nil, as: nil, any).status == 428)
      #expect(
        gateway.ask("POST", path + "/approve", nil, as: nil, Self.by(second, ["if-match": "\"1\""])).status == 200)
      let changed = gateway.ask("PUT", path, #"{"message":\#(Self.message)}"#, as: .send, ["if-match": "\"1\""])
      #expect(changed.json["approved_by"] == nil && changed.json["version"]?.integer == 2, "\(changed.text)")
      #expect(gateway.ask("POST", path + "/send", nil, as: .send).status == 403)
      #expect(
        gateway.ask("POST", path + "/approve", nil, as: nil, Self.by(second, ["if-match": "\"1\""])).status == 412)
      #expect(
        gateway.ask("POST", path + "/approve", nil, as: nil, Self.by(second, ["if-match": "\"2\""])).status == 200)
      #expect(gateway.ask("POST", path + "/send", nil, as: .send).status == 202)
    }
  }

  @Test("no other way leads around it: messages, bulk calls and times; programs are exempt by name")
  func otherWays() async throws {
    try await running { gateway, _ in
      let direct = gateway.ask("POST", "/v1/messages", Self.message, as: .send)
      #expect(direct.status == 403 && direct.json["code"]?.string == "approval_needed", "\(direct.text)")
      let listed = #"{"to":{"devices":["d1","d2","d3"]},"notification":{"title":"T"}}"#
      #expect(gateway.ask("POST", "/v1/messages", listed, as: .send).status == 403)
      let lines = gateway.ask(
        "POST", "/v1/messages/bulk", Self.message + "\n", as: .send, ["content-type": "application/x-ndjson"])
      #expect(lines.text.contains("approval_needed"), "\(lines.text)")
      let soon = (gateway.loop.wallNow + 172_800_000).rfc3339
      let later = Self.message.dropLast() + #","send_at":"\#(soon)"}"#
      #expect(gateway.ask("POST", "/v1/messages", String(later), as: .send).status == 403)
      let local = Self.message.dropLast() + #","send_at_local":"\#(soon.prefix(19))"}"#
      #expect(gateway.ask("POST", "/v1/messages", String(local), as: .send).status == 403)
      #expect(gateway.ask("POST", "/v1/messages?dry_run=true", Self.message).status == 200)
      let few = #"{"to":{"devices":["d1","d2"]},"notification":{"title":"T"}}"#
      #expect(gateway.ask("POST", "/v1/messages", few, as: .send).status == 202)
      let id = try await gateway.withStore { store in
        try await store.keyring.keys(app: Gateway.shop).first { $0.scopes == [.send] }?.id ?? ""
      }
      try await gateway.adopt {
        $0.approval = ApprovalRule(above: 2)
        $0.approval?.exempt = [id]
      }
      #expect(gateway.ask("POST", "/v1/messages", Self.message, as: .send).status == 202)
    }
  }

  @Test("whom a provider chooses is not counted here, so that it needs two people; a test is for a few")
  func uncounted() async throws {
    try await running { gateway, second in
      let segment = #"""
        {"to":{"everyone":true},"providers":["onesignal"],"onesignal_targeting":"provider","notification":{"title":"T"}}
        """#
      let refused = gateway.ask("POST", "/v1/messages", segment, as: .send)
      #expect(refused.status == 403 && refused.json["code"]?.string == "approval_needed", "\(refused.text)")
      let path = try draft(gateway, segment)
      #expect(gateway.ask("POST", path + "/count", nil, as: .send).json["approval"]?["is_needed"]?.bool == true)
      // An author does not count as the second person.
      let counted = gateway.ask("POST", try draft(gateway) + "/count", nil, as: .drafts)
      #expect(counted.json["approval"]?["is_needed"]?.bool == true, "\(counted.text)")
      let list = #"{"devices":["d1","d2","d3"]}"#
      #expect(gateway.ask("PUT", "/v1/test_lists/team", list, as: .send).status == 201)
      let tested = gateway.ask("POST", try draft(gateway) + "/test", #"{"lists":["team"]}"#, as: .send)
      #expect(tested.status == 202, "\(tested.text)")
    }
  }

  @Test("an author writes, counts, looks and duplicates, and does not send")
  func author() async throws {
    try await running { gateway, _ in
      let path = try draft(gateway, as: .drafts)
      let changed = gateway.ask("PUT", path, #"{"message":\#(Self.message)}"#, as: .drafts, ["if-match": "\"1\""])
      #expect(changed.status == 200, "\(changed.text)")
      #expect(gateway.ask("POST", path + "/count", nil, as: .drafts).json["forecast"]?["targets"]?.integer == 3)
      #expect(gateway.ask("POST", path + "/send?dry_run=true", nil, as: .drafts).json["dry_run"]?.bool == true)
      #expect(gateway.ask("POST", "/v1/messages?dry_run=true", Self.message, as: .drafts).status == 200)
      #expect(gateway.ask("POST", "/v1/audiences/count", #"{"audience":"beta"}"#, as: .drafts).status == 200)
      #expect(gateway.ask("POST", path + "/duplicate", nil, as: .drafts).status == 201)
      for (method, target) in [
        ("POST", path + "/send"), ("POST", path + "/send?dry_run=false"), ("POST", path + "/approve"),
        ("POST", "/v1/messages"), ("POST", "/v1/messages?dry_run=false"), ("PUT", "/v1/test_lists/team"),
        ("GET", "/v1/devices"), ("POST", "/v1/messages/msg_0000000000000000000000000000/duplicate"),
      ] {
        let reply = gateway.ask(method, target, method == "GET" ? nil : "{}", as: .drafts, ["if-match": "*"])
        #expect(reply.status == 403, "\(method) \(target): \(reply.text)")
      }
      #expect(gateway.ask("DELETE", path, nil, as: .drafts).status == 204)
    }
  }
}
