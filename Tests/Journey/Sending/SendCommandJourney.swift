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
      #""n":"2""#, "1  device found", "would be sent now  fcm 1", "nothing was sent",
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
      #expect(told.contains(why) && told.contains("note: /to"), "\(told)")
      let document = try #require(Tool.documents(try await tool.start(words + ["--json"]).end(1)).first)
      #expect(document["warnings"]?.array?.isEmpty == false, "\(document)")
    }

    for (words, code, exit) in [
      (["send", "--json"], "usage", Int32(2)), (["send", "--nonsense", "--json"], "usage", 2),
      (["messages", "list", "--json", "--url", "http://127.0.0.1:1"], "unreachable", 4),
      (["send", "--json", "--to-token", "fcm:x", "--ttl", "1", "--priority", "urgent"], "invalid_message", 5),
    ] {
      let fault = try await tool.start(words).end(exit)
      #expect(Tool.documents(fault).first?["code"]?.string == code && Tool.documents(fault).count == 1, "\(fault)")
    }
  }
}
