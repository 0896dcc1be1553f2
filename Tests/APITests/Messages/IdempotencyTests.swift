import API
import Domain
import JSON
import Store
import Testing

@Suite("An idempotency key makes a repeat safe", .serialized)
struct IdempotencyTests {
  private static func message(_ title: String) -> String {
    #"{"to":{"devices":["d1"]},"notification":{"title":"\#(title)"}}"#
  }

  @Test("the same body again answers the first id and says so; another body is refused")
  func repeated() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let key = ["idempotency-key": "order 881 / shipped"]
      let first = gateway.ask("POST", "/v1/messages", Self.message("A"), as: .send, key)
      #expect(first.status == 202, "\(first.text)")
      #expect(first.header("idempotent-replayed") == nil)
      let again = gateway.ask("POST", "/v1/messages", Self.message("A"), as: .send, key)
      #expect(again.status == 202)
      #expect(again.json["id"] == first.json["id"])
      #expect(again.json["targets"] == .integer(1))
      #expect(again.header("idempotent-replayed") == "true")
      #expect(again.header("location") == first.header("location"))

      let other = gateway.ask("POST", "/v1/messages", Self.message("B"), as: .send, key)
      #expect(other.status == 422)
      #expect(other.code == "idempotency_key_reused")
      #expect(gateway.ask("GET", "/v1/messages").json["items"]?.array?.count == 1)
    }
  }

  @Test("twenty requests at once with one key make one message")
  func concurrent() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let clients = (0..<20).map { _ in Client(port: gateway.port) }
      let headers = gateway.headers(as: .send, ["idempotency-key": "k"])
      for client in clients { client.send("POST", "/v1/messages", headers, Array(Self.message("A").utf8)) }
      let replies = clients.map { $0.receive() }
      let ids = Set(replies.filter { $0.status == 202 }.compactMap { $0.json["id"]?.string })
      #expect(ids.count == 1)
      for reply in replies where reply.status != 202 {
        #expect(reply.status == 409, "\(reply.text)")
        #expect(reply.code == "request_in_progress")
        #expect(reply.json["retryable"] == .bool(true))
        #expect(reply.header("retry-after") != nil)
      }
      #expect(gateway.ask("GET", "/v1/messages").json["items"]?.array?.count == 1)
    }
  }

  @Test("a refused message does not use up its key")
  func refused() async throws {
    try await Gateway.running { gateway in
      let key = ["idempotency-key": "k"]
      #expect(gateway.ask("POST", "/v1/messages", "{}", as: .send, key).status == 422)
      #expect(gateway.ask("POST", "/v1/messages", Self.message("A"), as: .send, key).status == 202)
    }
  }

  @Test("a key on a call that would ignore it is refused with the fix, and nothing is done")
  func ignored() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let key = ["idempotency-key": "k", "content-type": "application/x-ndjson"]
      let bulk = gateway.ask("POST", "/v1/messages/bulk", Self.message("A") + "\n", as: .send, key)
      #expect(bulk.status == 400 && bulk.code == "invalid_parameter", "\(bulk.text)")
      #expect(bulk.text.contains("give each line its own `idempotency_key`"), "\(bulk.text)")
      #expect(bulk.json["violations"]?.array?.first?["parameter"]?.string == "Idempotency-Key", "\(bulk.text)")
      let draft = gateway.ask("POST", "/v1/drafts", #"{"message":{}}"#, as: .send, ["idempotency-key": "k"])
      #expect(draft.status == 400 && draft.text.contains("send the request without it"), "\(draft.text)")
      #expect(gateway.ask("GET", "/v1/messages").json["items"]?.array?.isEmpty == true)
      #expect(gateway.ask("GET", "/v1/drafts").json["items"]?.array?.isEmpty == true)
    }
  }

  @Test("a key that is no key is refused", arguments: ["", String(repeating: "k", count: 256), "é"])
  func badKey(_ key: String) async throws {
    try await Gateway.running { gateway in
      let reply = gateway.ask("POST", "/v1/messages", Self.message("A"), as: .send, ["idempotency-key": key])
      #expect(reply.status == 400)
      #expect(reply.code == "invalid_parameter" || reply.code == "bad_request")
    }
  }
}
