import Domain
import Foundation
import JSON
import Store
import Testing

@Suite("Audiences have names")
struct NamedAudienceTests {
  @Test("a name is given, listed, read, changed and taken away")
  func life() async throws {
    try await Gateway.running { gateway in
      let made = gateway.ask("PUT", "/v1/audiences/win-back", #"{"audience":"seen:>30d && !churned"}"#)
      #expect(made.status == 201, "\(made.text)")
      #expect(made.json["audience"]?.string == "(seen:>30d && !churned)")
      let filters = #"{"filters":[{"field":"tag","key":"plan","relation":"=","value":"pro"}]}"#
      #expect(gateway.ask("PUT", "/v1/audiences/pro", filters).status == 201)
      #expect(
        gateway.ask("PUT", "/v1/audiences/both", #"{"audience":"audience:pro || audience:win-back"}"#).status == 201)
      #expect(gateway.ask("PUT", "/v1/audiences/pro", #"{"audience":"plan:pro || plan:team"}"#).status == 200)
      #expect(gateway.ask("GET", "/v1/audiences/pro").json["audience"]?.string == "(plan:pro || plan:team)")
      let names = gateway.ask("GET", "/v1/audiences").json["items"]?.array?.compactMap { $0["name"]?.string }
      #expect(names == ["both", "pro", "win-back"])
      let table = gateway.ask("GET", "/v1/audiences?format=csv").text.split(separator: "\r\n")
      #expect(table.count == 4 && table[0] == "name,audience" && table[2] == "pro,(plan:pro || plan:team)", "\(table)")

      let used = gateway.ask("DELETE", "/v1/audiences/pro")
      #expect(used.status == 409)
      #expect(used.code == "audience_in_use")
      #expect(used.json["detail"]?.string?.contains("`both`") == true)
      #expect(gateway.ask("DELETE", "/v1/audiences/both").status == 204)
      #expect(gateway.ask("DELETE", "/v1/audiences/pro").status == 204)
      #expect(gateway.ask("DELETE", "/v1/audiences/pro").status == 404)
      #expect(gateway.ask("GET", "/v1/audiences/pro").status == 404)
    }
  }

  @Test("a change tells of the drafts and scheduled messages that name it; a message keeps what it was accepted with")
  func uses() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""tags":["plan:pro"]"#)
      #expect(gateway.ask("PUT", "/v1/audiences/vip", #"{"audience":"plan:pro"}"#).json["warnings"] == .array([]))
      #expect(gateway.ask("PUT", "/v1/audiences/wide", #"{"audience":"audience:vip || beta"}"#).status == 201)
      func message(_ audience: String, _ more: String = "") -> String {
        #"{"to":{"audience":"\#(audience)"},"notification":{"title":"T"}\#(more)}"#
      }
      let tomorrow = WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000) + 86_400_000).rfc3339
      let waiting = gateway.ask(
        "POST", "/v1/messages", message("audience:wide && ios", #","send_at":"\#(tomorrow)","name":"Spring""#),
        as: .send)
      let id = try #require(waiting.json["id"]?.string, "\(waiting.text)")
      _ = gateway.ask("POST", "/v1/messages", message("plan:pro", #","send_at":"\#(tomorrow)""#), as: .send)
      let gone = gateway.ask("POST", "/v1/messages", message("audience:vip", #","send_at":"\#(tomorrow)""#), as: .send)
      _ = gateway.ask("POST", "/v1/messages/\(gone.json["id"]?.string ?? "")/cancel", nil, as: .send)
      let draft = gateway.ask(
        "POST", "/v1/drafts", #"{"name":"Sale","message":\#(message("audience:vip"))}"#, as: .send)
      let draftID = try #require(draft.json["id"]?.string)

      let changed = gateway.ask("PUT", "/v1/audiences/vip", #"{"audience":"plan:team"}"#)
      let told = changed.json["warnings"]?.array ?? []
      #expect(told.map { $0["code"]?.string } == ["audience_in_drafts", "audience_kept"], "\(changed.text)")
      #expect(told.first?["detail"]?.string?.contains("1 draft names this audience and will be sent") == true)
      #expect(told.first?["detail"]?.string?.contains("\(draftID) \"Sale\"") == true)
      #expect(told.last?["detail"]?.string?.hasPrefix("1 scheduled message keeps") == true)
      #expect(told.last?["detail"]?.string?.contains("\(id) \"Spring\"") == true)
      let report = gateway.ask("GET", "/v1/messages/\(id)").json
      #expect(report["audience"]?.string == "(audience:wide && ios)", "\(report)")
      #expect(report["audience_expression"]?.string == "((plan:pro || beta) && ios)", "\(report)")

      _ = gateway.ask("DELETE", "/v1/audiences/wide")
      let deleted = gateway.ask("DELETE", "/v1/audiences/vip")
      #expect(deleted.status == 200, "\(deleted.text)")
      #expect(deleted.text.contains("cannot be sent before that is changed"), "\(deleted.text)")
      let now = gateway.ask("POST", "/v1/messages", message("plan:pro"), as: .send).json["id"]?.string ?? ""
      #expect(gateway.ask("GET", "/v1/messages/\(now)").json["audience_expression"] == nil)
    }
  }

  @Test("what leads nowhere, back to itself or too far is refused with the reason")
  func refusals() async throws {
    try await Gateway.running { gateway in
      func refusal(_ name: String, _ body: String) -> String {
        let reply = gateway.ask("PUT", "/v1/audiences/\(name)", body)
        let first = reply.json["violations"]?.array?.first
        let column = first?["column"]?.integer.map { " at \($0)" } ?? ""
        return "\(reply.status) \(first?["pointer"]?.string ?? "")\(column): \(reply.json["detail"]?.string ?? "")"
      }
      #expect(gateway.ask("PUT", "/v1/audiences/vip", #"{"audience":"plan:pro"}"#).status == 201)
      let unknown = refusal("a", #"{"audience":"x || audience:vipp"}"#)
      #expect(unknown.hasPrefix("422 /audience at 6: "), "\(unknown)")
      #expect(unknown.contains("did you mean `audience:vip`?"))
      #expect(refusal("a", #"{"audience":"b && audience:a"}"#).contains("a → a"))
      #expect(gateway.ask("PUT", "/v1/audiences/b", #"{"audience":"audience:vip"}"#).status == 201)
      #expect(refusal("vip", #"{"audience":"audience:b"}"#).contains("vip → b → vip"))
      #expect(refusal("a", #"{"audience":"x &"}"#).contains("did you mean `&&`?"))
      #expect(refusal("a", #"{}"#).contains("exactly one"))
      #expect(refusal("a", #"{"everyone":true}"#).hasPrefix("422 /everyone: "))
      #expect(refusal("a%20b", #"{"audience":"x"}"#).hasPrefix("422"))
      #expect(gateway.ask("PUT", "/v1/audiences/a", #"{"audience":"x"}"#, as: .read).status == 403)
      // Ten doublings of ten terms are more than an expression may have.
      var body = (0..<10).map { "t\($0)" }.joined(separator: " || ")
      for index in 0..<3 {
        #expect(gateway.ask("PUT", "/v1/audiences/n\(index)", #"{"audience":"\#(body)"}"#).status == 201)
        body = "audience:n\(index) || audience:n\(index)"
      }
      #expect(gateway.ask("PUT", "/v1/audiences/n3", #"{"audience":"\#(body)"}"#).status == 201)
      #expect(refusal("n4", #"{"audience":"audience:n3 || audience:n3"}"#).contains("too long"))
      #expect(gateway.ask("GET", "/v1/audiences/n4").status == 404)
    }
  }
}
