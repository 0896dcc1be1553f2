import Domain
import JSON
import Store
import Testing

@Suite("What a message cannot do is told, in the words of whoever sends it")
struct LeftOutTests {
  private func details(_ answer: Reply) -> [String] {
    (answer.json["warnings"]?.array ?? []).compactMap { $0["detail"]?.string }
  }

  @Test("a token that moved is told as moved, not as dead: to the one who moves it, and to who sends to the former id")
  func moved() async throws {
    try await Gateway.running { gateway in
      gateway.register("a", #""user":"ana""#)
      let second = gateway.ask(
        "PUT", "/v1/devices/b", #"{"provider":"apns","token":"61","user":"ana"}"#)
      #expect(second.json["registration"]?.string == "moved", "\(second.text)")
      #expect(second.text.contains("device `a` had this token until now"), "\(second.text)")
      for to in [#"{"users":["ana"]}"#, #"{"devices":["a"]}"#] {
        let sent = gateway.ask("POST", "/v1/messages", #"{"to":\#(to),"notification":{"title":"T"}}"#)
        #expect(sent.status == 202, "\(sent.text)")
        #expect(
          details(sent).contains { $0.contains("token is now registered under another device id") }, "\(sent.text)")
        #expect(!sent.text.contains("called the token dead"), "\(sent.text)")
        #expect(sent.text.contains("moved"), "\(sent.text)")
        guard let id = sent.json["id"]?.string, to.contains("devices") else { continue }
        let report = gateway.ask("GET", "/v1/messages/\(id)").json
        let outcomes = report["outcomes"]
        #expect(outcomes?["skipped"]?.integer == 1 && outcomes?["dead"]?.integer == 0, "\(report)")
        #expect(report["counts"]?.array?.first?["reason"]?.string == "moved", "\(report)")
        let delivery = gateway.ask("GET", "/v1/messages/\(id)/deliveries").json["items"]?.array?.first
        #expect(delivery?["moved_to"]?.string == "b" && delivery?["reason"]?.string == "moved", "\(delivery ?? .null)")
      }
    }
  }

  @Test("a user's device whose provider has no such push is no target; named by its id it is one")
  func kinds() async throws {
    try await Gateway.running { gateway in
      gateway.register("phone", #""user":"ann""#)
      let message = #""kind":"voip","data":{"a":1}"#
      let sent = gateway.ask("POST", "/v1/messages", #"{"to":{"users":["ann"]},\#(message)}"#)
      #expect(sent.status == 202 && sent.json["targets"]?.integer == 0, "\(sent.text)")
      #expect(details(sent).contains { $0.contains("gets nothing (kind_unsupported)") }, "\(sent.text)")
      let named = gateway.ask("POST", "/v1/messages", #"{"to":{"devices":["phone"]},\#(message)}"#)
      #expect(named.json["targets"]?.integer == 1, "\(named.text)")
      #expect(named.text.contains("(skipped: kind_unsupported)"), "\(named.text)")
    }
  }

  @Test("what matters to bulk sends is told of an audience that is large enough")
  func bulkOnly() async throws {
    try await Gateway.running { gateway in
      let body = #"{"to":{"everyone":true},"notification":{"title":"\#(FakeAccount.bulkOnly)"}}"#
      for count in 1...3 {
        gateway.register("d\(count)")
        let told = details(gateway.ask("POST", "/v1/messages?dry_run=true", body))
        #expect(told == (count < 3 ? [] : ["apns: for bulk only"]))
      }
    }
  }

  @Test("a registration is told what is doubted of it, also as a line of an import")
  func registrations() async throws {
    try await Gateway.running { gateway in
      let put = gateway.ask(
        "PUT", "/v1/devices/a", #"{"provider":"apns","token":"61","language":"xx","platform":"iPhone"}"#)
      #expect(put.status == 201 && details(put).count == 2, "\(put.text)")
      let line = #"{"id":"b","provider":"apns","token":"62","language":"ger"}"#
      let lines = gateway.ask("POST", "/v1/devices/bulk", line, ["content-type": "application/x-ndjson"])
      #expect(lines.text.contains("did you mean `de`?"), "\(lines.text)")
      let count = gateway.ask("POST", "/v1/audiences/count", #"{"audience":"lang:ger || platform:adroid"}"#)
      #expect(
        count.text.contains("did you mean `de`?") && count.text.contains("did you mean `android`?"), "\(count.text)")
      let activity = gateway.ask("POST", "/v1/audiences/count", #"{"audience":"activity:match-8"}"#)
      #expect(activity.text.contains("no device is registered with the `activity_id` `match-8`"), "\(activity.text)")
    }
  }

  @Test("a device and a user that nobody knows are said to be unknown")
  func unknown() async throws {
    try await Gateway.running { gateway in
      let timeline = gateway.ask("GET", "/v1/devices/nobody/timeline")
      #expect(timeline.status == 404, "\(timeline.text)")
      gateway.register("a", #""user":"ann""#)
      #expect(gateway.ask("GET", "/v1/devices/a/timeline").status == 200)
      let tags = gateway.ask("PUT", "/v1/users/an/tags", #"{"tags":["x"]}"#)
      #expect(tags.status == 200 && tags.text.contains("no device is registered for the user `an`"), "\(tags.text)")
      let known = gateway.ask("PUT", "/v1/users/ann/tags", #"{"tags":["x"]}"#)
      #expect(known.json["warnings"]?.array?.isEmpty == true, "\(known.text)")
    }
  }

  @Test("a token that no credential serves is registered with a warning")
  func served() async throws {
    try await Gateway.running { gateway in
      let put = gateway.ask(
        "PUT", "/v1/devices/a", #"{"provider":"onesignal","token":"5f0ab52d-6c4c-4b0f-8c2e-6f0d3cbf1a11"}"#)
      #expect(put.status == 201, "\(put.text)")
      #expect(put.text.contains("no credential of the app serves this token"), "\(put.text)")
    }
  }

  @Test("a placeholder that no device fills stands at its text, and a message that is too large at its largest part")
  func places() async throws {
    try await Gateway.running { gateway in
      gateway.register("a")
      let missing = gateway.ask(
        "POST", "/v1/messages", #"{"to":{"devices":["a"]},"notification":{"title":"T","body":"{{nickname}}"}}"#)
      #expect(missing.text.contains(#""pointer":"/notification/body""#), "\(missing.text)")
      let text = String(repeating: "x", count: 201)
      let large = gateway.ask(
        "POST", "/v1/messages", #"{"to":{"devices":["a"]},"notification":{"body":"\#(text)"}}"#)
      #expect(large.text.contains(#""pointer":"/notification/body""#), "\(large.text)")
      #expect(large.text.contains("shorten it"), "\(large.text)")
    }
  }

  @Test("words of other systems in a query are translated, and a register key is told its way")
  func words() async throws {
    try await Gateway.running { gateway in
      let list = gateway.ask("GET", "/v1/devices?status=pruned")
      #expect(list.status == 400 && list.text.contains("here it is `dead`"), "\(list.text)")
      let put = gateway.ask("PUT", "/v1/devices/a", #"{"provider":"apns","token":"61"}"#, as: .register)
      #expect(put.status == 403 && put.text.contains("`POST /v1/devices`"), "\(put.text)")
    }
  }
}
