import API
import Domain
import JSON
import Store
import Testing

@Suite("Drafts are tried out on test lists", .serialized)
struct DraftTrialTests {
  private func devices(_ gateway: Gateway, _ id: String) -> [String] {
    let items = gateway.ask("GET", "/v1/messages/\(id)/deliveries").json["items"]?.array ?? []
    return items.compactMap { $0["device"]?.string }.sorted()
  }

  @Test("test lists are kept under names, checked, listed and deleted")
  func lists() async throws {
    try await Gateway.running { gateway in
      let team = #"{"devices":["d1"],"users":["ana"],"tokens":[{"provider":"fcm","token":"raw"}]}"#
      #expect(gateway.ask("PUT", "/v1/test_lists/team", team, as: .send).status == 201)
      #expect(gateway.ask("PUT", "/v1/test_lists/team", team, as: .send).status == 200)
      let read = gateway.ask("GET", "/v1/test_lists/team", nil, as: .read).json
      #expect(read["name"]?.string == "team" && read["users"] == .array([.string("ana")]))
      #expect(gateway.ask("GET", "/v1/test_lists").json["items"]?.array?.count == 1)
      let table = gateway.ask("GET", "/v1/test_lists?format=csv").text.split(separator: "\r\n")
      #expect(table.first == "name,devices,users,tokens" && table.count == 2, "\(table)")
      #expect(table.last?.hasPrefix("team,") == true, "\(table)")
      for (body, violations) in [
        (#"{"device":["d1"]}"#, ["/device unknown_field"]),
        (#"{"devices":[]}"#, ["/devices empty"]), (#"{"users":["a\nb"]}"#, ["/users/0 invalid_format"]),
        (#"{"tokens":[{"provider":"fmc","token":"x"}]}"#, ["/tokens/0/provider unknown_value"]),
        (#"{"devices":[\#((0..<101).map { "\"d\($0)\"" }.joined(separator: ","))]}"#, ["/devices too_many"]),
        (
          #"{"devices":[\#((0..<60).map { "\"d\($0)\"" }.joined(separator: ","))],"users":[\#((0..<60).map { "\"u\($0)\"" }.joined(separator: ","))]}"#,
          [" too_many"]
        ),
      ] {
        let reply = gateway.ask("PUT", "/v1/test_lists/bad", body)
        #expect(reply.status == 422 && reply.violations == violations, "\(reply.text)")
      }
      #expect(gateway.ask("PUT", "/v1/test_lists/a%20b", team).code == "invalid_test_list")
      #expect(gateway.ask("DELETE", "/v1/test_lists/team").status == 204)
      #expect(gateway.ask("DELETE", "/v1/test_lists/team").status == 404)
      #expect(gateway.ask("GET", "/v1/test_lists/team").status == 404)
    }
  }

  @Test("a test goes to the lists only, as everybody would get it, in each variant or in one")
  func test() async throws {
    try await Gateway.running { gateway in
      for device in ["d1", "d2", "d3"] { gateway.register(device, device == "d2" ? #""user":"ana""# : "") }
      _ = gateway.ask(
        "PUT", "/v1/test_lists/team",
        #"{"devices":["d1"],"users":["ana"],"tokens":[{"provider":"apns","token":"6431"},{"provider":"fcm","token":"raw"}]}"#
      )
      _ = gateway.ask("PUT", "/v1/test_lists/boss", #"{"devices":["d2"]}"#)
      let message =
        #"{"to":{"everyone":true},"reach":"latest_device_per_user","notification":{"title":"T"},"variants":[{"name":"a","weight":50},{"name":"b","weight":40,"notification":{"title":"Other"}}],"holdout":10}"#
      let made = gateway.ask("POST", "/v1/drafts", #"{"name":"Spring","message":\#(message)}"#)
      let id = try #require(made.json["id"]?.string, "\(made.text)")
      let all = gateway.ask("POST", "/v1/drafts/\(id)/test", #"{"lists":["team","boss"]}"#, as: .send)
      #expect(all.status == 202, "\(all.text)")
      let items = all.json["items"]?.array ?? []
      #expect(items.map { $0["variant"]?.string } == ["a", "b"])
      // d1 by its name and by its token, d2 by its user and by its name: each once.
      #expect(items.map { $0["targets"]?.integer } == [3, 3])
      for (item, (title, variant)) in zip(items, [("T", "a"), ("Other", "b")]) {
        let sent = try #require(item["id"]?.string.flatMap { MessageID($0) })
        let report = gateway.ask("GET", "/v1/messages/\(sent)").json
        #expect(report["test_of"]?.string == id && report["draft_of"] == nil, "\(report)")
        // Which variant it was is told by its name, its report, and beside each of its devices.
        #expect(report["name"]?.string == "Test of Spring (\(variant))", "\(report)")
        let shares = report["variants"]?.array ?? []
        #expect(shares.map { $0["name"]?.string } == [variant] && shares.map { $0["weight"] } == [.integer(100)])
        #expect(devices(gateway, sent.description).count == 3)
        let deliveries = gateway.ask("GET", "/v1/messages/\(sent)/deliveries").json["items"]?.array ?? []
        #expect(deliveries.allSatisfy { $0["variant"]?.string == variant }, "\(deliveries)")
        let body = try #require(try await gateway.withStore { try await $0.archive.body(of: sent, app: Gateway.shop) })
        let stored = try JSON.parse(body)
        #expect(stored["notification"]?["title"]?.string == title && stored["holdout"] == nil && stored["reach"] == nil)
      }
      let one = gateway.ask("POST", "/v1/drafts/\(id)/test", #"{"lists":["boss"],"variant":"b"}"#)
      #expect(one.json["items"]?.array?.count == 1 && one.json["items"]?.array?.first?["variant"]?.string == "b")
      #expect(gateway.ask("GET", "/v1/drafts/\(id)").status == 200, "a test leaves the draft as it is")

      for (body, violations) in [
        (#"{"lists":["teem"]}"#, ["/lists/0 unknown_value"]), (#"{}"#, ["/lists required"]),
        (#"{"lists":[]}"#, ["/lists empty"]), (#"{"lists":["boss"],"variant":"c"}"#, ["/variant unknown_value"]),
      ] {
        let reply = gateway.ask("POST", "/v1/drafts/\(id)/test", body)
        #expect(reply.status == 422 && reply.violations == violations, "\(reply.text)")
      }
      #expect(
        gateway.ask("POST", "/v1/drafts/\(id)/test", #"{"lists":["teem"]}"#).text.contains("did you mean `team`?"))
    }
  }

  @Test("a draft without recipients can be tested; one that a provider would refuse is not, in any variant")
  func refused() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      _ = gateway.ask("PUT", "/v1/test_lists/me", #"{"devices":["d1"]}"#)
      let plain =
        gateway.ask("POST", "/v1/drafts", #"{"message":{"notification":{"title":"T"}}}"#).json["id"]?.string ?? ""
      #expect(gateway.ask("POST", "/v1/drafts/\(plain)/test", #"{"lists":["me"]}"#).status == 202)
      let long = String(repeating: "x", count: FakeAccount.limit + 1)
      let message =
        #"{"variants":[{"name":"a","weight":50,"notification":{"body":"B"}},{"name":"b","weight":50,"notification":{"body":"\#(long)"}}]}"#
      let id = gateway.ask("POST", "/v1/drafts", #"{"message":\#(message)}"#).json["id"]?.string ?? ""
      let before = gateway.ask("GET", "/v1/messages").json["items"]?.array?.count
      let reply = gateway.ask("POST", "/v1/drafts/\(id)/test", #"{"lists":["me"]}"#)
      #expect(reply.status == 422 && reply.text.contains("1 bytes too many"), "\(reply.text)")
      #expect(gateway.ask("GET", "/v1/messages").json["items"]?.array?.count == before, "nothing of it was sent")
    }
  }
}
