import API
import Domain
import JSON
import Store
import Testing

@Suite("A send may wait for the outcome of a small message", .serialized)
struct OutcomeWaitTests {
  private static let path = "/v1/messages"
  private static func message(to recipients: String) -> String {
    #"{"to":{\#(recipients)},"notification":{"title":"T"}}"#
  }
  /// Nobody knows it, so its message is completed at once.
  private static let ghost = message(to: #""devices":["ghost"]"#)
  /// No worker sends here: its message waits.
  private static let known = message(to: #""devices":["d1"]"#)

  private static func seconds(_ work: () -> Void) -> Double {
    let took = ContinuousClock().measure(work)
    return Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18
  }

  private static func warnings(_ reply: Reply) -> [String] {
    reply.json["warnings"]?.array?.compactMap { $0["code"]?.string } ?? []
  }

  @Test("a message that is completed in time is answered with its report; what was preferred and followed is told")
  func completed() async throws {
    try await Gateway.running { gateway in
      for (path, headers, applied) in [
        (Self.path, ["prefer": "wait=5"], "wait=5"), (Self.path + "?wait=5", [:], nil),
        (Self.path, ["prefer": "respond-async, Wait = \"0060\"; x=1"], "wait=30"),
        (Self.path, ["prefer": "wait=99999999999999999999999"], "wait=30"),
        (Self.path, ["prefer": #"x="a, wait=1", wait=7, wait=8"#], "wait=7"),
        (Self.path + "?wait=4", ["prefer": "wait=5"], nil),
      ] as [(String, [String: String], String?)] {
        let reply = gateway.ask("POST", path, Self.ghost, as: .send, headers)
        #expect(reply.status == 200, "\(headers) \(reply.text)")
        #expect(reply.header("preference-applied") == applied, "\(headers)")
        let id = reply.json["id"]?.string ?? "?"
        #expect(reply.header("location") == "\(Self.path)/\(id)")
        #expect(reply.json["state"] == .string("completed") && reply.json["targets"] == .integer(1))
        #expect(reply.json["report"] == gateway.ask("GET", "\(Self.path)/\(id)").json, "\(reply.text)")
      }
    }
  }

  @Test("other preferences and malformed ones are ignored; a malformed query is refused")
  func malformed() async throws {
    try await Gateway.running { gateway in
      for header in [
        "wait", "wait=", "wait=0", "wait=-1", "wait=5s", "wait=1.5", "x=\"wait=5\"", "x; wait=5", ",;=\"\\",
      ] {
        let reply = gateway.ask("POST", Self.path, Self.ghost, as: .send, ["prefer": header])
        #expect(reply.status == 202 && reply.header("preference-applied") == nil, "\(header) \(reply.text)")
        #expect(reply.json["report"] == nil && !Self.warnings(reply).contains("not_waited"))
      }
      for value in ["0", "31", "x", "", "5&wait=5"] {
        let reply = gateway.ask("POST", "\(Self.path)?wait=\(value)", Self.ghost, as: .send)
        #expect(reply.status == 400 && reply.code == "invalid_parameter", "\(value) \(reply.text)")
      }
    }
  }

  @Test("when the time is over the answer is 202, as without waiting, and the message is stored")
  func over() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      var reply: Reply?
      let took = Self.seconds { reply = gateway.ask("POST", Self.path, Self.known, as: .send, ["prefer": "wait=1"]) }
      let answer = try #require(reply)
      #expect(answer.status == 202 && answer.json["state"] == .string("queued"), "\(answer.text)")
      #expect(answer.json["report"] == nil && answer.json["warnings"] == .array([]))
      #expect(answer.header("preference-applied") == nil)
      #expect(took > 0.8 && took < 10, "\(took) s")
      #expect(gateway.ask("GET", "\(Self.path)/\(answer.json["id"]?.string ?? "?")").status == 200)
    }
  }

  @Test("schedules, more than a hundred targets and dry runs are not waited for, and this is told")
  func notWaited() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let tokens = (0...100).map { #"{"provider":"fcm","token":"t\#($0)"}"# }.joined(separator: ",")
      let soon = Gateway.now + 3_600_000
      let scheduled = #"{"to":{"devices":["d1"]},"send_at":"\#(soon.rfc3339)","notification":{"title":"T"}}"#
      for (path, body, status) in [
        (Self.path, scheduled, 202), (Self.path, Self.message(to: #""tokens":[\#(tokens)]"#), 202),
        (Self.path + "?dry_run=true", Self.known, 200),
      ] {
        var reply: Reply?
        let took = Self.seconds { reply = gateway.ask("POST", path, body, as: .admin, ["prefer": "wait=30"]) }
        let answer = try #require(reply)
        #expect(answer.status == status, "\(answer.text)")
        #expect(Self.warnings(answer).contains("not_waited"), "\(answer.text)")
        #expect(answer.header("preference-applied") == nil && answer.json["report"] == nil && took < 15)
      }
    }
  }

  @Test("a repeat waits too, and so does the send of a draft")
  func repeated() async throws {
    try await Gateway.running { gateway in
      let headers = ["idempotency-key": "k", "prefer": "wait=5"]
      let first = gateway.ask("POST", Self.path, Self.ghost, as: .send, headers)
      let again = gateway.ask("POST", Self.path, Self.ghost, as: .send, headers)
      #expect(first.status == 200 && again.status == 200, "\(again.text)")
      #expect(again.header("idempotent-replayed") == "true" && again.header("preference-applied") == "wait=5")
      #expect(again.json["report"] == first.json["report"])

      gateway.register("d1")
      let draft = gateway.ask("POST", "/v1/drafts", #"{"message":\#(Self.known)}"#)
      let send = "/v1/drafts/\(draft.json["id"]?.string ?? "?")/send?wait=1"
      let sent = gateway.ask("POST", send, as: .send)
      #expect(sent.status == 202, "\(sent.text)")
      // It is ended while its sender asks again.
      let id = sent.json["id"]?.string ?? "?"
      #expect(gateway.ask("POST", "\(Self.path)/\(id)/cancel", as: .send).status == 200)
      let cancelled = gateway.ask("POST", send, as: .send)
      #expect(cancelled.status == 202 && Self.warnings(cancelled) == ["message_cancelled"], "\(cancelled.text)")
    }
  }

  @Test("twenty requests of a key may wait; the next is answered at once, and the others when the gateway stops")
  func bounds() async throws {
    var clients: [Client] = []
    try await Gateway.running { gateway in
      gateway.register("d1")
      clients = (0..<20).map { _ in Client(port: gateway.port) }
      let headers = gateway.headers(as: .send, ["prefer": "wait=30"])
      for client in clients { client.send("POST", Self.path, headers, Array(Self.known.utf8)) }
      // It waits itself until all the others do.
      let isTold = (0..<15).contains { _ in
        Self.warnings(gateway.ask("POST", Self.path, Self.known, as: .send, ["prefer": "wait=1"])) == ["not_waited"]
      }
      #expect(isTold)
      // Those of another key may wait.
      let other = gateway.ask("POST", Self.path, Self.ghost, as: .admin, ["prefer": "wait=1"])
      #expect(other.status == 200, "\(other.text)")
    }
    let took = Self.seconds {
      for client in clients {
        let reply = client.receive()
        #expect(reply.status == 202 && reply.json["warnings"] == .array([]), "\(reply.text)")
      }
    }
    #expect(took < 10, "\(took) s")
  }
}
