import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "who waits for quiet hours is forecast and told with the time, also of a large audience; a local time that all clocks have passed is refused"
  )
  func holding() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let tool = Tool(gateway: gateway, world: world)
    let count = 2_000
    let lines = (0..<count).map {
      #"{"id":"d\#($0)","provider":"fcm","token":"\#(Tokens.fcm($0))","tz":"Etc/UTC","tags":["all"]}"#
    }
    try await tool.run("devices", "import", try world.write(lines, to: "devices.ndjson"))
    let now = WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    func clock(_ hours: Int64) -> String { String((now + hours * 3_600_000).rfc3339.dropFirst(11).prefix(5)) }

    let words = [
      "send", "--audience", "all", "--title", "Later", "--quiet-hours", "\(clock(-1))-\(clock(2))", "--ttl", "86400",
    ]
    let forecast = try await tool.start(words + ["--dry-run"]).end(0)
    #expect(forecast.contains(/2,000 +would be sent +fcm 2,000/), "\(forecast)")
    #expect(forecast.contains(/2,000 +of these wait +until \S+Z \(quiet_hours\)/), "\(forecast)")
    let sent = Tool.documents(try await tool.start(words + ["--json"]).end(0)).first
    let id = try #require(sent?["id"]?.string, "\(sent ?? .null)")
    try await gateway.until("the hold") { _ in
      try await gateway.client.get("/v1/messages/\(id)").json["waiting_for_time"]?["count"]?.integer == Int64(count)
    }
    let report = try await gateway.client.get("/v1/messages/\(id)").json
    #expect(report["waiting_for_time"]?["reason"]?.string == "quiet_hours", "\(report)")
    #expect(report["predicted_end_at"] == nil, "\(report)")
    let shown = try await tool.run("messages", "show", id)
    #expect(shown.contains(/2,000 wait until \S+Z \(quiet_hours\)/), "\(shown)")
    let waiting = try await gateway.client.get("/v1/messages/\(id)/deliveries?limit=1000").json["items"]?.array ?? []
    #expect(waiting.count == 1_000)
    for delivery in waiting {
      #expect(delivery["state"]?.string == "pending" && delivery["reason"]?.string == "quiet_hours", "\(delivery)")
      #expect(delivery["next_attempt_at"] != nil, "\(delivery)")
    }
    #expect(try await tool.run("messages", "deliveries", id, "--limit", "3").contains("\tpending\tquiet_hours\t2"))
    #expect(try await tool.run("messages", "cancel", id).contains("0 sent, 2,000 cancelled"))

    // An hour ago on every clock.
    let time = String((now + -3_600_000).rfc3339.prefix(19))
    let local = ["send", "--audience", "all", "--title", "Late", "--at-local", time]
    let refused = try await tool.start(local).end(5)
    #expect(refused.contains("the clocks of all 2,000 devices have passed this local time"), "\(refused)")
    let told = try await tool.start(local + ["--dry-run"]).end(0)
    #expect(told.contains("all 2,000 devices get it at once: their clock has passed this time"), "\(told)")
    #expect(try await world.sandbox.log().isEmpty)
    let forced = try await tool.start(local + ["--yes", "--wait", "60"]).end(0)
    #expect(forced.contains("2,000 accepted fcm"), "\(forced)")

    // A message that waits alike, and it keeps its time.
    let inAnHour = (now + 3_600_000).rfc3339
    let kept = try #require(
      Tool.documents(
        try await tool.start(["send", "--audience", "all", "--title", "W", "--at", inAnHour, "--json"]).end(0)
      )
      .first?["id"]?.string)
    let move = ["messages", "reschedule", kept, "--at-local", time]
    let still = try await tool.start(move).end(5)
    #expect(still.contains("the clocks of all 2,000 devices have passed this local time"), "\(still)")
    #expect(try await gateway.client.get("/v1/messages/\(kept)").json["version"] == .integer(1))
    let moved = try await tool.start(move + ["--yes"]).end(0)
    #expect(moved.contains("all 2,000 devices get it at once"), "\(moved)")
    _ = try await gateway.completed(kept)

    // Tomorrow: the forecast says when.
    let later = (now + 86_400_000).rfc3339
    let timed = try await tool.run("send", "--audience", "all", "--title", "T", "--at", later, "--dry-run")
    #expect(timed.contains("starts at \(later) (UTC)"), "\(timed)")

    // A draft alike, and it is kept.
    let draft = try await gateway.client.post(
      "/v1/drafts",
      #"{"message":{"to":{"audience":"all"},"notification":{"title":"D"},"send_at_local":"\#(time)"}}"#)
    let draftID = try #require(draft.json["id"]?.string, "\(draft.text)")
    #expect(try await tool.run("drafts", "send", draftID, exit: 5).contains("have passed this local time"))
    #expect(try await gateway.client.get("/v1/drafts/\(draftID)").status == 200)
  }
}
