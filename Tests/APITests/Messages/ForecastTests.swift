import API
import Domain
import Foundation
import JSON
import Loop
import Store
import Support
import Testing

@Suite("A forecast of a message", .serialized)
struct ForecastTests {
  private func rows(_ forecast: JSONValue?) -> [String: Int64] {
    Dictionary(
      (forecast?["excluded"]?.array ?? []).map {
        ("\($0["outcome"]?.string ?? "-") \($0["reason"]?.string ?? "")", $0["count"]?.integer ?? 0)
      }, uniquingKeysWith: +)
  }

  @Test("of few devices each is looked at; of many a sample stands for all, says so, and adds up")
  func sample() async throws {
    let count = 400
    var random = Seeded()
    let nameless = (0..<count).map { _ in Int.random(in: 0..<10, using: &random) < 3 }
    for isExact in [true, false] {
      var settings = ServiceSettings()
      // As shipped it takes thousands to need a sample.
      if !isExact { settings.forecasts.answer = ForecastBounds(exact: 100, sample: 160) }
      settings.urgentTargets = 100
      try await Gateway.running(settings: settings) { gateway in
        let lines = nameless.enumerated().map { number, isNameless in
          let attributes = isNameless ? "" : #","attributes":{"name":"N\#(number)"}"#
          return #"{"id":"d\#(number)","provider":"fcm","token":"t\#(number)"\#(attributes)}"#
        }
        let imported = gateway.ask(
          "POST", "/v1/devices/bulk", lines.joined(separator: "\n"), as: .admin,
          ["content-type": "application/x-ndjson"])
        #expect(imported.status == 200)
        gateway.register("voice", #""token_kind":"voip""#)
        let dry = gateway.ask(
          "POST", "/v1/messages?dry_run=true", #"{"to":{"everyone":true},"notification":{"title":"Hi {{name}}"}}"#)
        let forecast = dry.json["forecast"]
        let rows = rows(forecast)
        let missing = nameless.count { $0 }
        #expect(forecast?["targets"]?.integer == Int64(count + 1), "\(dry.text)")
        #expect(rows["skipped token_kind"] == 1, "what the route says is exact: \(dry.text)")
        let sum = rows.values.reduce(0, +) + (forecast?["would_be_sent"]?.integer ?? 0)
        #expect(sum == Int64(count + 1), "\(dry.text)")
        let told = Int(rows["skipped attribute_missing"] ?? 0)
        if isExact {
          #expect(told == missing && forecast?["estimated"]?.bool == false, "seed \(random.seed): \(dry.text)")
        } else {
          #expect(forecast?["estimated"]?.bool == true, "\(dry.text)")
          let sample = Int(forecast?["sample_size"]?.integer ?? 0)
          #expect((40...160).contains(sample), "\(dry.text)")
          // Five standard deviations of a sample of that size.
          let deviation = Double(count) * (0.25 / Double(max(1, sample))).squareRoot()
          #expect(abs(Double(told - missing)) <= 5 * deviation, "seed \(random.seed): \(dry.text)")
        }
        let count = gateway.ask(
          "POST", "/v1/audiences/count", #"{"everyone":true,"message":{"notification":{"title":"Hi {{name}}"}}}"#)
        #expect(self.rows(count.json["forecast"]) == rows, "one figure: \(count.text)")
      }
    }
  }

  @Test("who waits for quiet hours or a local time is counted, with the times; whose clock has passed one is told")
  func waiting() async throws {
    try await Gateway.running { gateway in
      // One clock is far ahead of the other.
      gateway.register("early", #""tz":"Pacific/Kiritimati""#)
      gateway.register("late", #""tz":"Pacific/Pago_Pago""#)
      let time = Date().addingTimeInterval(-3_600).formatted(.iso8601).prefix(10)
      let local = gateway.ask(
        "POST", "/v1/messages?dry_run=true",
        #"{"to":{"everyone":true},"notification":{"title":"T"},"send_at_local":"\#(time)T23:59:00","ttl":172800}"#)
      let waits = local.json["forecast"]?["waiting"]?.array ?? []
      #expect(waits.first?["reason"]?.string == "local_time" && waits.first?["count"]?.integer != 0, "\(local.text)")

      let quiet = gateway.ask(
        "POST", "/v1/messages?dry_run=true",
        #"{"to":{"everyone":true},"notification":{"title":"T"},"quiet_hours":{"from":"00:00","to":"23:59","else":"hold"}}"#
      )
      let held = quiet.json["forecast"]?["waiting"]?.array?.first
      #expect(held?["reason"]?.string == "quiet_hours" && held?["count"]?.integer == 2, "\(quiet.text)")
      #expect(held?["first_at"]?.string != nil && held?["last_at"]?.string != nil, "\(quiet.text)")
      #expect(quiet.json["forecast"]?["would_be_sent"]?.integer == 2, "\(quiet.text)")

      // Some hours ago where the clock is ahead, and yet to come where it is behind.
      let noon = Date().addingTimeInterval(8 * 3_600).formatted(.iso8601).prefix(19)
      let passed = gateway.ask(
        "POST", "/v1/messages",
        #"{"to":{"everyone":true},"notification":{"title":"T"},"send_at_local":"\#(noon)","ttl":172800}"#)
      let told = (passed.json["warnings"]?.array ?? []).filter { $0["code"]?.string == "local_time_passed" }
      #expect(
        told.count == 1 && told[0]["detail"]?.string?.hasPrefix("1 device gets it at once") == true, "\(passed.text)")
    }
  }

  @Test("a figure that the draw of variants decides is marked as estimated")
  func drawn() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      gateway.register("d2", #""attributes":{"name":"Ann"}"#)
      for (title, isEstimated) in [("Hi {{name}}", true), ("Hi", false)] {
        let reply = gateway.ask(
          "POST", "/v1/messages?dry_run=true",
          #"{"to":{"everyone":true},"notification":{"title":"T"},"variants":[{"name":"a","weight":50,"notification":{"title":"\#(title)"}},{"name":"b","weight":50}]}"#
        )
        #expect(reply.json["forecast"]?["estimated"]?.bool == isEstimated, "\(title): \(reply.text)")
      }
    }
  }

  @Test("missing attributes are told when a draft is written, when it is counted and when it is sent")
  func attributes() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1", #""attributes":{"name":"Ann"}"#)
      gateway.register("d2")
      func details(_ reply: Reply, _ code: String) -> String {
        (reply.json["warnings"]?.array ?? []).filter { $0["code"]?.string == code }
          .compactMap { $0["detail"]?.string }.joined(separator: "\n")
      }
      let open = gateway.ask("POST", "/v1/drafts", #"{"message":{"notification":{"title":"Hi {{nam}}"}}}"#)
      #expect(details(open, "unknown_attribute").contains("did you mean `name`"), "\(open.text)")

      let message = #"{"to":{"everyone":true},"notification":{"title":"Hi {{name}}"}}"#
      let made = gateway.ask("POST", "/v1/drafts", #"{"message":\#(message)}"#)
      let path = "/v1/drafts/\(made.json["id"]?.string ?? "?")"
      let counted = gateway.ask("POST", path + "/count")
      let sent = gateway.ask("POST", path + "/send")
      #expect(made.status == 201 && counted.status == 200 && sent.status == 202, "\(sent.text)")
      for reply in [made, counted, sent] {
        #expect(
          details(reply, "targets_ended").contains(
            "1 of 2 targets will get nothing (skipped: attribute_missing): the device has no `name`"),
          "\(reply.text)")
      }
      #expect(counted.json["forecast"]?["would_be_sent"]?.integer == 1, "\(counted.text)")
    }
  }

  @Test(
    "a tag that no device has is told with the one that was meant, whoever else is in the audience: at a count, a draft and a send"
  )
  func unusedTags() async throws {
    for urgentTargets in [1, 500] {
      var settings = ServiceSettings()
      settings.urgentTargets = urgentTargets
      try await Gateway.running(settings: settings) { gateway in
        gateway.register("d1", #""tags":["plan:pro","beta"]"#)
        gateway.register("d2", #""tags":["plan:pro"]"#)
        gateway.register("d3", #""tags":["plan:old"],"enabled":false"#)
        func hints(_ reply: Reply) -> [String] {
          (reply.json["warnings"]?.array ?? []).filter { $0["code"]?.string == "unknown_tag" }
            .compactMap { $0["detail"]?.string }
        }
        let later = (gateway.loop.wallNow + 86_400_000).rfc3339
        let meant = "no device has the tag `plan:por`; did you mean `plan:pro`?"
        for audience in ["plan:por OR plan:pro", "plan:pro AND NOT plan:por"] {
          let to = #"{"audience":"\#(audience)"}"#
          let message = #"{"to":\#(to),"notification":{"title":"T"}}"#
          let made = gateway.ask("POST", "/v1/drafts", #"{"message":\#(message)}"#)
          let path = "/v1/drafts/\(made.json["id"]?.string ?? "?")"
          for reply in [
            gateway.ask("POST", "/v1/audiences/count", to), made, gateway.ask("POST", path + "/count"),
            gateway.ask("POST", path + "/send"), gateway.ask("POST", "/v1/messages?dry_run=true", message),
            gateway.ask("POST", "/v1/messages", message),
            gateway.ask("POST", "/v1/messages", message.dropLast() + #","send_at":"\#(later)"}"#),
          ] {
            #expect(hints(reply) == [meant], "\(reply.text)")
          }
          #expect(made.text.contains(#""/message/to/audience""#), "\(made.text)")
        }
        let quiet = gateway.ask("POST", "/v1/audiences/count", #"{"audience":"beta OR plan:pro OR plan:* OR lang:de"}"#)
        #expect(hints(quiet).isEmpty, "\(quiet.text)")
        let disabled = gateway.ask("POST", "/v1/audiences/count", #"{"audience":"plan:old OR plan:pro"}"#)
        #expect(hints(disabled) == ["no device has the tag `plan:old`"], "\(disabled.text)")
        for (tag, meant) in [
          ("platfrm:ios", "platform:ios"), ("os:android", "platform:android"), ("sen:yesterday", "seen:"),
          ("timezone:Europe/Rome", "tz:Europe/Rome"),
          ("plan:x:y", nil),
        ] {
          let told = hints(gateway.ask("POST", "/v1/audiences/count", #"{"audience":"\#(tag) OR plan:pro"}"#))
          #expect(told == ["no device has the tag `\(tag)`" + (meant.map { "; did you mean `\($0)`?" } ?? "")])
        }
      }
    }
  }

  @Test("a slip that is repeated looks through the tags once, and ever new ones only so often")
  func boundedLooks() async {
    let book = TagBook()
    var looks = 0
    func tags(_ prefix: String, _ now: Int64) async -> [String]? {
      await book.tags(Gateway.shop, prefix: prefix, now: Instant(nanoseconds: 1) + now) {
        looks += 1
        return [prefix + "one"]
      }
    }
    for _ in 0..<3 { #expect(await tags("a:", 0) == ["a:one"]) }
    #expect(looks == 1)
    for number in 1..<100 {
      #expect(await tags("\(number):", Int64(number)) == (number < TagBook.mostLooks ? ["\(number):one"] : nil))
    }
    #expect(looks == TagBook.mostLooks)
    #expect(await tags("99:", TagBook.milliseconds) == ["99:one"])
  }

  @Test("a send to a user has the devices as targets that it can go to; the others are told once, in plain words")
  func users() async throws {
    try await Gateway.running { gateway in
      gateway.register("phone", #""user":"ann""#)
      gateway.register("call", #""user":"ann","token_kind":"voip""#)
      gateway.register("old", #""user":"ann""#)
      // The token moved to another device: the former one's record is a tombstone.
      let moved = gateway.ask(
        "PUT", "/v1/devices/new", #"{"provider":"apns","token":"6f6c64","user":"ann"}"#)
      #expect(moved.status == 200, "\(moved.text)")
      let sent = gateway.ask("POST", "/v1/messages", #"{"to":{"users":["ann"]},"notification":{"title":"T"}}"#)
      #expect(sent.status == 202 && sent.json["targets"]?.integer == 2, "\(sent.text)")
      let told = (sent.json["warnings"]?.array ?? []).compactMap { $0["detail"]?.string }
      #expect(
        told.count { $0.contains("token_kind") && $0.contains("`voip`, and kind `alert` needs `device`") } == 1,
        "\(sent.text)")
      let dry = gateway.ask(
        "POST", "/v1/messages?dry_run=true", #"{"to":{"users":["ann"]},"notification":{"title":"T"}}"#)
      #expect(dry.json["targets"]?.integer == 2 && dry.json["forecast"]?["targets"]?.integer == 2, "\(dry.text)")
      #expect(rows(dry.json["forecast"])["- token_kind"] == 1, "\(dry.text)")
      // Named by its id it is a target, and says why it gets nothing.
      let named = gateway.ask("POST", "/v1/messages", #"{"to":{"devices":["call"]},"notification":{"title":"T"}}"#)
      #expect(named.text.contains("(skipped: token_kind)"), "\(named.text)")
    }
  }

  @Test("what a request to count says of a message stands in `message`, and whom it is for beside it")
  func refused() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let twice = gateway.ask(
        "POST", "/v1/audiences/count", #"{"everyone":true,"message":{"to":{"everyone":true},"notification":{}}}"#)
      #expect(twice.status == 422 && twice.text.contains("/message/to"), "\(twice.text)")
      let wrong = gateway.ask("POST", "/v1/audiences/count", #"{"everyone":true,"message":{"kind":"alarm"}}"#)
      #expect(wrong.status == 422 && wrong.text.contains("/message/kind"), "\(wrong.text)")
      let warned = gateway.ask("POST", "/v1/audiences/count", #"{"audience":"no-such-tag OR plan:nothing"}"#)
      let pointers = (warned.json["warnings"]?.array ?? []).compactMap { $0["pointer"]?.string }
      #expect(!pointers.isEmpty && pointers.allSatisfy { $0.hasPrefix("/audience") }, "\(warned.text)")
      let number = gateway.ask("POST", "/v1/audiences/count", #"{"everyone":true,"message":7}"#)
      #expect(number.status == 422 && number.text.contains("/message"), "\(number.text)")
    }
  }
}
