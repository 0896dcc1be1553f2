import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "fanfare send fills a message from its options, shows it without sending it, tells warnings also while it waits, and answers JSON for its own faults"
  )
  func sendCommand() async throws {
    let world = try await World()
    let tool = Tool(gateway: try await world.gateway(), world: world)
    let body = #"{"provider":"fcm","token":"\#(Tokens.fcm(1))","platform":"android","tags":["plan:pro"]}"#
    #expect(try await tool.gateway.client.put("/v1/devices/d1", body).status == 201)
    let options = [
      "send", "--audience", "plan:pro", "--title", "Sale", "--subtitle", "Spring", "--body", "Today", "--image",
      "https://example.com/a.png", "--link", "https://example.com/sale", "--badge", "3", "--sound", "bell.caf",
      "--data",
      "screen=sale", "--data", "n=2", "--label", "campaign:spring", "--ttl", "600",
    ]
    let shown = try await tool.start(options + ["--dry-run"]).end(0)
    for part in [
      #""title":"Sale""#, #""body":"Today""#, "https://example.com/a.png", "https://example.com/sale",
      #""screen":"sale""#,
      #""n":"2""#, "1  device found", "would be sent  fcm 1", "nothing was sent",
    ] {
      #expect(shown.contains(part), "\(part) is not in \(shown)")
    }
    #expect(try await world.sandbox.log().isEmpty)

    // A volume counts for critical sounds only: that is warned of.
    let file = try world.write(
      [#"{"to":{"devices":["d1"]},"notification":{"title":"T","sound":{"volume":0.5}}}"#], to: "m.json")
    let waited = try await tool.run("send", "--file", file, "--wait", "60")
    #expect(waited.contains("only critical alerts have a volume") && waited.contains("completed: 1 accepted fcm"))
    let told = try #require(Tool.documents(try await tool.run("send", "--file", file, "--wait", "60", "--json")).first)
    #expect(
      told["state"]?.string == "completed" && told["warnings"]?.array?.first?["code"]?.string == "ignored", "\(told)")

    let sent = try await tool.start(options + ["--wait", "60", "--json"]).end(0)
    #expect(Tool.documents(sent).first?["labels"]?["campaign"]?.string == "spring", "\(sent)")
    #expect(try await world.sandbox.log().count == 3)

    // A send that can reach nobody ends alike, whoever was named, and says why.
    for (recipient, why) in [
      (["--device", "nowhere"], "completed: 1 skipped (unknown_device)"),
      (["--user", "nobody"], "completed: it had no recipients"),
      (["--audience", "plan:none"], "completed: it had no recipients"),
    ] {
      let words = ["send", "--title", "T", "--wait", "60"] + recipient
      let told = try await tool.start(words).end(1)
      #expect(told.contains(why) && told.contains("note: ") && !told.contains("/to"), "\(told)")
      let document = try #require(Tool.documents(try await tool.start(words + ["--json"]).end(1)).first)
      #expect(document["warnings"]?.array?.isEmpty == false, "\(document)")
    }

    for (words, code, exit) in [
      (["foo", "--json"], "usage", Int32(2)), (["send", "--json"], "usage", 2),
      (["send", "--nonsense", "--json"], "usage", 2),
      (["messages", "list", "--json", "--url", "http://127.0.0.1:1"], "unreachable", 4),
      (["send", "--json", "--to-token", "fcm:x", "--ttl", "1", "--priority", "urgent"], "invalid_message", 5),
    ] {
      let fault = try await tool.start(words).end(exit)
      #expect(Tool.documents(fault).first?["code"]?.string == code && Tool.documents(fault).count == 1, "\(fault)")
    }

    // At a terminal it asks before a message goes to many.
    let before = try await world.sandbox.log().count
    for (answer, exit, more) in [("n", Int32(1), 0), ("y", 0, 1)] {
      let asked = try await tool.shell(
        #"printf '\#(answer)\n' | script -qefc "stty cols 100 rows 24; exec $0 send --everyone --title T --wait 60" /dev/null"#,
        exit: exit)
      #expect(asked.contains("Send it? [y/N]") && asked.contains("would be sent"), "\(asked)")
      #expect(try await world.sandbox.log().count == before + more, "\(asked)")
    }
  }

  @Test("whoever waits for a message gets its id, also if its report cannot be read: it is accepted")
  func waitWithoutReport() async throws {
    let world = try await World()
    let tool = Tool(gateway: try await world.gateway(), world: world)
    let words = ["send", "--to-token", "fcm:\(Tokens.fcm(1))", "--title", "T", "--wait", "30"]
    let sender = try await world.key(scopes: "send")
    let told = try await tool.start(words, key: sender).end(1)
    let id = try #require(told.firstMatch(of: /msg_[0-9a-z]+/)).0
    #expect(told.contains("the message was accepted") && told.contains("needs the scope `read`"), "\(told)")
    #expect(told.contains("messages watch \(id)") && !told.contains("refused"), "\(told)")
    let document = try #require(Tool.documents(try await tool.start(words + ["--json"], key: sender).end(1)).first)
    #expect(document["id"]?.string?.hasPrefix("msg_") == true && document["report_error"]?.string != nil, "\(document)")
    #expect(try await tool.gateway.completed(String(id))["outcomes"]?["accepted"]?.integer == 1)
  }

  @Test("fanfare send makes buttons, variants and a Live Activity of its options, as the API names them")
  func sendContent() async throws {
    let world = try await World()
    let tool = Tool(gateway: try await world.gateway(), world: world)
    for number in 1...40 {
      let body = #"{"provider":"fcm","token":"\#(Tokens.fcm(number))","tags":["all"]}"#
      #expect(try await tool.gateway.client.put("/v1/devices/d\(number)", body).status == 201)
    }
    // Buttons: the last mark begins the link, which may hold more of them.
    try await tool.run(
      "send", "--device", "d1", "--title", "Order", "--button", "open=Show me=https://example.com/?a=b", "--button",
      "later=Not now", "--wait", "60")
    let buttons = try #require(try await world.sandbox.log().last?.body)
    for part in ["Show me", "https://example.com/?a=b", "Not now"] {
      #expect(buttons.replacing("\\/", with: "/").contains(part), "\(buttons)")
    }

    // Variants: of a title, of both texts, of the message's own, with a holdout.
    let sent = try await tool.run(
      "send", "--audience", "all", "--title", "Plain", "--body", "Text", "--variant", "plain=30", "--variant",
      "loud=30:LOUD: now", "--variant", "both=29.5%", "--wait", "60", exit: 2)
    #expect(sent.contains("NAME=PERCENT:TITLE|BODY"), "\(sent)")
    let told = try await tool.start([
      "send", "--audience", "all", "--title", "Plain", "--body", "Text", "--variant", "plain=30", "--variant",
      "loud=30:LOUD: now", "--variant", "both=29.5:Other|Words", "--holdout", "10.5", "--wait", "60", "--json",
    ]).end(0)
    let report = try #require(Tool.documents(told).last)
    #expect(
      report["variants"]?.array?.map { $0["name"]?.string } == ["plain", "loud", "both"]
        && report["holdout"] == .double(10.5), "\(report)")
    let texts = try await world.sandbox.log().dropFirst().map { entry in
      ["Plain", "LOUD: now", "Other"].filter { entry.body.contains("\"\($0)\"") }
        + ["Text", "Words"].filter { entry.body.contains("\"\($0)\"") }
    }
    #expect(Set(texts).isSubset(of: [["Plain", "Text"], ["LOUD: now", "Text"], ["Other", "Words"]]), "\(texts)")
    #expect(Set(texts).count > 1 && texts.count <= 40, "\(texts)")
    let file = try world.write(
      [#"[{"name":"a","weight":50},{"name":"b","weight":50,"data":{"look":"b"}}]"#], to: "variants.json")
    let shown = try await tool.run("send", "--audience", "all", "--title", "T", "--variants", file, "--dry-run")
    #expect(shown.contains("variant a") && shown.contains(#""look":"b""#), "\(shown)")

    // A Live Activity: started for a user, then updated and ended for those that follow it.
    for (name, body) in [
      ("start", #""token":"\#(Tokens.apns(901))","token_kind":"push_to_start","user":"ana""#),
      ("match", #""token":"\#(Tokens.apns(801))","token_kind":"activity","activity_id":"match-7","user":"ana""#),
    ] {
      #expect(
        try await tool.gateway.client.put("/v1/devices/\(name)", #"{"provider":"apns",\#(body)}"#).status == 201)
    }
    try await tool.run(
      "send", "--user", "ana", "--event", "start", "--activity", "match-7", "--attributes-type", "Match",
      "--attributes", #"{"id":7}"#, "--content-state", #"{"home":0}"#, "--title", "Kick-off", "--wait", "60")
    try await tool.run(
      "send", "--event", "update", "--activity", "match-7", "--content-state", #"{"home":1}"#, "--wait", "60")
    try await tool.run("send", "--event", "end", "--activity", "match-7", "--wait", "60")
    let activities = try await world.sandbox.log().filter { $0.provider == "apns" && $0.accepted }
    #expect(activities.map(\.token) == [Tokens.apns(901), Tokens.apns(801), Tokens.apns(801)])
    for (entry, part) in zip(activities, [#""event":"start""#, #""home":1"#, #""event":"end""#]) {
      #expect(entry.body.contains(part), "\(entry.body)")
    }

    for (words, why) in [
      (["--device", "d1", "--button", "open"], "ID=TEXT"), (["--device", "d1", "--button", "open="], "ID=TEXT"),
      (["--device", "d1", "--variant", "a"], "NAME=PERCENT"), (["--device", "d1", "--holdout", "many"], "percent"),
      (["--device", "d1", "--variants", "none.json"], "there is no file none.json"),
      (["--device", "d1", "--variants", file, "--variant", "a=50"], "exclude each other"),
      (["--activity", "match-7"], "--event update"), (["--event", "start", "--activity", "match-7"], "recipients"),
      (["--event", "update", "--activity", "match-7", "--content-state", "home"], "JSON object"),
      (["--event", "end", "--activity", "match-7", "--background"], "exclude each other"),
    ] {
      let fault = try await tool.start(["send", "--title", "T"] + words).end(2)
      #expect(fault.contains(why), "\(words): \(fault)")
    }
  }
}
