import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test("lines sent in bulk arrive once each, in order per device; the upload repeated sends nothing")
  func bulk() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let lines = (0..<600).map { number in
      """
      {"to":{"tokens":[{"provider":"apns","token":"\(Tokens.apns(number % 50))"}]},\
      "notification":{"body":"Line \(number)."},"idempotency_key":"line-\(number)"}
      """
    }
    let body = (lines + [#"{"to":{"devices":[]}}"#]).joined(separator: "\n")
    for round in 1...2 {
      let answer = try await gateway.client.post(
        "/v1/messages/bulk", body, headers: [Header("content-type", "application/x-ndjson")])
      #expect(answer.status == 200, "\(answer.text.prefix(500))")
      let results = try answer.text.split(separator: "\n").map { try JSON.parse(Array($0.utf8)) }
      #expect(results.count == 601)
      #expect(results.prefix(600).allSatisfy { $0["id"] != nil }, "\(results.first { $0["id"] == nil } ?? .null)")
      #expect(results.prefix(600).allSatisfy { ($0["replayed"] != nil) == (round == 2) })
      #expect(results[600]["problem"]?["code"]?.string == "invalid_message")
      if round == 1 {
        for result in results.prefix(600) { _ = try await gateway.completed(result["id"]?.string ?? "") }
      }
    }
    let accepted = try await world.sandbox.log().filter(\.accepted)
    #expect(accepted.count == 600)
    for (token, entries) in Dictionary(grouping: accepted, by: \.token) {
      let numbers = entries.compactMap { $0.body.firstMatch(of: /Line (\d+)\./).flatMap { Int($0.1) } }
      #expect(numbers.count == 12 && numbers == numbers.sorted(), "\(token): \(numbers)")
    }
  }

  @Test("a dry run tells the request that the send then makes; what failed is replayed to those it failed for")
  func dryRunAndReplay() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let message = """
      {"to":{"tokens":[\(Tokens.targets("apns", (1...3).map(Tokens.apns)))]},"kind":"alert",\
      "notification":{"title":"Order","body":"Shipped"},"data":{"order":881},"collapse_key":"order-881"}
      """
    let dry = try await gateway.client.post("/v1/messages?dry_run=true", message)
    #expect(dry.status == 200, "\(dry.text)")
    let request = try #require(dry.json["requests"]?.array?.first)
    #expect(request["headers"]?["authorization"]?.string == "***")
    #expect(try await world.sandbox.log().isEmpty)

    try await world.sandbox.play(
      #"[{"provider":"apns","token":"*2","times":1,"status":400,"reason":"BadCollapseId"}]"#)
    let parent = try await gateway.send(message)
    _ = try await gateway.completed(parent)
    let sent = try await world.sandbox.log().filter(\.accepted)
    #expect(Set(sent.map(\.token)) == [Tokens.apns(1), Tokens.apns(3)])
    let body = try #require(request["body"])
    for entry in sent { #expect(try JSON.parse(Array(entry.body.utf8)) == body, "\(entry.body)") }

    let replay = try ChildProcess(
      World.program,
      [
        "messages", "replay", parent, "--idempotency-key", "once", "--json", "--url", gateway.client.base,
      ], environment: ["FANFARE_KEY": gateway.client.key ?? ""])
    let line = try await replay.line { $0.contains("msg_") }
    let child = try #require(try JSON.parse(Array(line.utf8))["id"]?.string)
    let report = try await gateway.completed(child)
    #expect(report["replay_of"]?.string == parent && report["targets"]?.integer == 1)
    let all = try await world.sandbox.log().filter(\.accepted)
    #expect(all.count == 3 && all.last?.token == Tokens.apns(2))
    let again = try await gateway.client.call(
      "POST", "/v1/messages/\(parent)/replay", "{}", headers: [Header("idempotency-key", "once")])
    #expect(again.json["id"]?.string == child, "\(again.text)")
    // Nobody is left for another one.
    let tool = Tool(gateway: gateway, world: world)
    let twice = try await tool.run("messages", "replay", parent, exit: 5)
    #expect(twice.contains("An earlier replay has reached") && twice.contains(child), "\(twice)")
    #expect(try await tool.run("messages", "show", parent).contains("replayed by \(child)"))
    #expect(try await world.sandbox.log().filter(\.accepted).count == 3)

    // Waited for as a send is: it ends with 0 only if all were accepted.
    /// A message that fails at one device, as often as its replays.
    func failing(times: Int) async throws -> String {
      try await world.sandbox.play(
        #"[{"provider":"apns","token":"*2","times":\#(times),"status":400,"reason":"BadCollapseId"}]"#)
      let id = try await gateway.send(message)
      _ = try await gateway.completed(id)
      return id
    }
    let other = try await failing(times: 2)
    let failed = try await tool.run("messages", "replay", other, "--wait", "60", exit: 1)
    #expect(failed.contains("1 delivery to go again") && failed.contains("1 failed (BadCollapseId) apns"), "\(failed)")
    let ended = try await tool.run("messages", "replay", other, "--wait", "60")
    #expect(ended.contains("completed: 1 accepted apns"), "\(ended)")
    let third = try await failing(times: 1)
    let told = try await tool.run("messages", "replay", third, "--wait", "60", "--json")
    let reports = Tool.documents(told)
    #expect(reports.count == 1 && reports.first?["state"]?.string == "completed", "\(told)")
    #expect(reports.first?["replay_of"]?.string == third, "\(told)")
  }
}
