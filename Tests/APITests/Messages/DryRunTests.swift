import API
import Domain
import JSON
import Store
import Testing

@Suite("A dry run tells what would be sent, and sends nothing", .serialized)
struct DryRunTests {
  private static let path = "/v1/messages?dry_run=true"

  @Test("one request for each account and kind of token, whole but for its secrets; nothing is stored or reserved")
  func samples() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      gateway.register("d2")
      gateway.register("d3", #""enabled":false"#)
      let body =
        #"{"to":{"devices":["d1","d2","d3"]},"notification":{"title":"T","body":"0123456789","buttons":[{"id":"a","text":"b"}]}}"#
      let key = ["idempotency-key": "k"]
      let reply = gateway.ask("POST", Self.path, body, as: .admin, key)
      #expect(reply.status == 200, "\(reply.text)")
      #expect(reply.json["dry_run"] == .bool(true))
      #expect(reply.json["targets"] == .integer(3))
      #expect(reply.json["warnings"]?.array?.count == 2)
      let requests = reply.json["requests"]?.array ?? []
      #expect(requests.count == 1)
      let request = try #require(requests.first)
      #expect(request["provider"] == .string("apns"))
      #expect(request["credential"] == .string("shop/apns:production"))
      #expect(request["device"] == .string("d1"))
      #expect(request["method"] == .string("POST"))
      #expect(request["url"] == .string("https://localhost:1/push/6431"))
      #expect(
        request["headers"]
          == .object([JSONMember("x-kind", .string("alert")), JSONMember("authorization", .string("***"))]))
      #expect(request["body"] == .object([JSONMember("shown", .string("T"))]))
      #expect(request["bytes"] == .integer(13))
      #expect(request["bytes_left"] == .integer(Int64(FakeAccount.limit - 10)))

      // A key that may not read devices does not see their tokens, but those that it brings itself.
      let sender = gateway.ask("POST", Self.path, body, as: .send).json["requests"]?.array?.first
      #expect(sender?["url"] == .string("https://localhost:1/push/TOKEN"))
      let own = gateway.ask(
        "POST", Self.path,
        #"{"to":{"tokens":[{"provider":"fcm","token":"own"},{"provider":"apns","token":"abcd"}]},"notification":{"title":"T"}}"#,
        as: .send)
      #expect(
        own.json["requests"]?.array?.compactMap { $0["url"]?.string }
          == ["https://localhost:1/push/own", "https://localhost:1/push/abcd"])

      #expect(gateway.ask("GET", "/v1/messages").json["items"] == .array([]))
      let sent = gateway.ask("POST", "/v1/messages", body, as: .send, key)
      #expect(sent.status == 202)
      #expect(sent.header("idempotent-replayed") == nil)
      #expect(gateway.ask("POST", Self.path, body, as: .send, key).json["dry_run"] == .bool(true))
    }
  }

  @Test(
    "a key that may not read devices sees no attribute and no language of one: placeholders stay as they are written")
  func attributes() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""language":"de","attributes":{"first_name":"Ana","tier":"gold"}"#)
      func shown(_ title: String, as scope: Scope) -> String? {
        let body =
          #"{"to":{"devices":["d1"]},"notification":{"title":"\#(title)","localized":{"de":{"title":"Hallo {{first_name}}"}}}}"#
        let reply = gateway.ask("POST", Self.path, body, as: scope)
        return reply.json["requests"]?.array?.first?["body"]?["shown"]?.string ?? reply.text
      }
      for scope in [Scope.send, .admin] {
        #expect(shown("Hi {{tier}}", as: scope) == (scope == .send ? "Hi {{tier}}" : "Hallo Ana"))
      }
      // Who has an attribute is not told either.
      #expect(shown("Hi {{first_name|you}}", as: .send) == "Hi {{first_name}}")
    }
  }

  @Test("what a send would refuse, a dry run refuses")
  func refused() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let long = String(repeating: "x", count: FakeAccount.limit + 1)
      for body in [
        "{", #"{"to":{"devices":["d1"]}}"#, #"{"to":{"devices":["d1"]},"notification":{"body":"\#(long)"}}"#,
      ] {
        let sent = gateway.ask("POST", "/v1/messages", body)
        let dry = gateway.ask("POST", Self.path, body)
        #expect(dry.status == sent.status && dry.json == sent.json, "\(dry.text)")
      }
      let word = gateway.ask(
        "POST", "/v1/messages?dry_run=yes", #"{"to":{"devices":["d1"]},"notification":{"title":"T"}}"#)
      #expect(word.code == "invalid_parameter")
      let nobody = gateway.ask("POST", Self.path, #"{"to":{"devices":["ghost"]},"notification":{"title":"T"}}"#)
      #expect(nobody.status == 200)
      #expect(nobody.json["requests"] == .array([]))
    }
  }
}
