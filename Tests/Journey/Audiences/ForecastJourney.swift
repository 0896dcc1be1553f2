import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  /// Devices of every kind that gets nothing for some reason, and such as get all. All of it is drawn.
  private struct Registry {
    static let awake = 18
    static let asleep = 6

    var tag: String
    var count: Int
    /// A device's line of the import, and, for some, one that takes its token away.
    var lines: [String] = []
    var ids: [String] { (0..<count).map { "\(tag)-\($0)" } }
    var users: [String] { (0..<(count + 2) / 3).map { "\(tag)-u\($0)" } }

    init(tag: String, count: Int, first: Int, hour: Int, _ random: inout Seeded) {
      self.tag = tag
      self.count = count
      var moved: [String] = []
      for number in 0..<count {
        let token: String
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: token = #""provider":"fcm","token":"\#(Tokens.fcm(first + number))""#
        case 4..<7: token = #""provider":"apns","token":"\#(Tokens.apns(first + number))""#
        case 7: token = #""provider":"apns","token":"\#(Tokens.apns(first + number))","token_kind":"voip""#
        case 8: token = #""provider":"onesignal","token":"\#(Tokens.oneSignal(first + number))""#
        default:
          token = #""provider":"fcm","token":"\#(Tokens.fcm(first + number))""#
          if Bool.random(using: &random) { moved.append(#"{"id":"\#(tag)-heir\#(number)",\#(token)}"#) }
        }
        var line = #"{"id":"\#(tag)-\#(number)","user":"\#(tag)-u\#(number / 3)",\#(token),"tags":["\#(tag)"]"#
        if Int.random(in: 0..<4, using: &random) > 0 { line += #","attributes":{"name":"N\#(number)"}"# }
        if Int.random(in: 0..<8, using: &random) == 0 { line += #","enabled":false"# }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: line += #","tz":"\#(Self.zone(at: Self.asleep, hour))""#
        case 1: line += #","tz":"\#(Self.zone(at: Self.awake, hour))""#
        default: break
        }
        lines.append(line + "}")
      }
      lines += moved
    }

    /// Where the clock shows about this hour while UTC's shows another.
    static func zone(at hour: Int, _ utc: Int) -> String {
      var offset = (hour - utc + 24) % 24
      if offset > 12 { offset -= 24 }
      return offset == 0 ? "Etc/GMT" : offset > 0 ? "Etc/GMT-\(offset)" : "Etc/GMT+\(-offset)"
    }
  }

  /// What a forecast says, and what a report says: how many by outcome and reason, and how many accepted by provider.
  private struct Figures: Equatable, CustomStringConvertible {
    var targets = 0
    var ends: [String: Int] = [:]
    var sent: [String: Int] = [:]

    var description: String { "\(targets) targets, \(ends.sorted { $0.key < $1.key }), sent \(sent)" }
    var holdout: Int { ends["skipped holdout"] ?? 0 }

    init(forecast: JSONValue?) {
      targets = Int(forecast?["targets"]?.integer ?? -1)
      for row in forecast?["excluded"]?.array ?? [] {
        guard let outcome = row["outcome"]?.string else { continue }
        ends["\(outcome) \(row["reason"]?.string ?? "")", default: 0] += Int(row["count"]?.integer ?? 0)
      }
      for row in forecast?["by_provider"]?.array ?? [] {
        sent[row["provider"]?.string ?? ""] = Int(row["count"]?.integer ?? 0)
      }
    }

    init(report: JSONValue) {
      targets = Int(report["targets"]?.integer ?? -1)
      for row in report["counts"]?.array ?? [] {
        let count = Int(row["count"]?.integer ?? 0)
        if row["outcome"]?.string == "accepted" {
          sent[row["provider"]?.string ?? "", default: 0] += count
        } else {
          ends["\(row["outcome"]?.string ?? "") \(row["reason"]?.string ?? "")", default: 0] += count
        }
      }
    }

    /// Of the answer to a send: `12 of 60 targets will get nothing (skipped: holdout): …`.
    init(warnings: JSONValue?, targets: Int) {
      self.targets = targets
      for warning in warnings?.array ?? [] where warning["code"]?.string == "targets_ended" {
        guard let match = warning["detail"]?.string?.firstMatch(of: /^(\d+) of \d+ targets? .*\((\w+): ([\w:.-]+)\)/)
        else { continue }
        ends["\(match.2) \(match.3)", default: 0] += Int(match.1) ?? 0
      }
    }
  }

  @Test(
    "what is counted is what is sent: over random registries each reason has the figure in a count, a dry run, the answer to a send and the report"
  )
  func forecasts() async throws {
    var random = Seeded()
    let world = try await World { sandbox, folder in
      // No account of OneSignal: its devices have nobody to send to them.
      World.usualCredentials(sandbox, folder).components(separatedBy: #"{ name: "web""#)[0]
    }
    let gateway = try await world.gateway()
    let began = Date()
    let hour = Calendar(identifier: .iso8601).dateComponents(in: .gmt, from: began).hour ?? 0
    // Each local clock is hours away from where its quiet hours begin or end.
    let quiet = #""quiet_hours":{"from":"00:00","to":"12:00","else":"skip"}"#
    var reasons: Set<String> = []

    func play(_ round: Int) async throws {
      let note = "seed \(random.seed), round \(round)"
      // Above 500 it is an audience that the workers evaluate, below it a list.
      let count = round % 5 == 4 ? 700 : Int.random(in: 30...90, using: &random)
      let registry = Registry(tag: "r\(round)", count: count, first: round * 1_000, hour: hour, &random)
      let imported = try await gateway.client.call(
        "POST", "/v1/devices/bulk", registry.lines.joined(separator: "\n"),
        headers: [.init("content-type", "application/x-ndjson")])
      #expect(imported.status == 200 && !imported.text.contains("problem"), "\(imported.text.prefix(500))")

      // Some have heard enough already.
      let heard = registry.ids.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
      let cap = #""topic":"\#(registry.tag)","cap":{"max":1,"per":"week"}"#
      let list = heard.map { "\"\($0)\"" }.joined(separator: ",")
      _ = try await gateway.completed(
        try await gateway.send(
          #"{"to":{"devices":[\#(list)]},"quiet_hours":false,"notification":{"body":"1"},\#(cap)}"#))

      var parts: [String] = [
        #""notification":{"body":"\#(Bool.random(using: &random) ? "Hi {{name}}" : "Hi {{name|you}}")"}"#
      ]
      parts.append(Bool.random(using: &random) ? quiet : #""quiet_hours":false"#)
      if Bool.random(using: &random) { parts.append(cap) }
      if Int.random(in: 0..<4, using: &random) == 0 { parts.append(#""providers":["fcm","onesignal"]"#) }
      let hasHoldout = round % 2 == 1
      if hasHoldout { parts.append(#""holdout":20"#) }
      if hasHoldout, Bool.random(using: &random) {
        parts.append(
          #""variants":[{"name":"a","weight":40},{"name":"b","weight":40,"notification":{"body":"{{name}}!"}}]"#)
      }
      let ways = [
        #"{"audience":"\#(registry.tag)"}"#,
        #"{"users":[\#(registry.users.map { "\"\($0)\"" }.joined(separator: ","))]}"#,
        #"{"devices":[\#((registry.ids + ["nobody"]).map { "\"\($0)\"" }.joined(separator: ","))]}"#,
      ]
      let to = count > 500 ? ways[0] : random.pick(ways)
      let content = parts.joined(separator: ",")
      let message = #"{"to":\#(to),\#(content)}"#

      let dry = try await gateway.client.post("/v1/messages?dry_run=true", message)
      let draft = try await gateway.client.post("/v1/drafts", #"{"message":\#(message)}"#)
      let counted = try await gateway.client.post("/v1/drafts/\(draft.json["id"]?.string ?? "")/count", "")
      #expect(dry.status == 200 && counted.status == 200, "\(note): \(dry.text) \(counted.text)")
      let forecast = Figures(forecast: dry.json["forecast"])
      #expect(Figures(forecast: counted.json["forecast"]) == forecast, "\(note): \(message)")
      #expect(dry.json["forecast"]?["estimated"]?.bool == (forecast.holdout > 0), "\(note): \(dry.text)")
      if to == ways[0] {
        let body = #"{"audience":"\#(registry.tag)","message":{\#(content)}"#
        let only = content.contains("providers") ? #","providers":["fcm","onesignal"]"# : ""
        let own = body.replacing(#","providers":["fcm","onesignal"]"#, with: "") + only + "}"
        let answer = try await gateway.client.post("/v1/audiences/count", own)
        #expect(Figures(forecast: answer.json["forecast"]) == forecast, "\(note): \(own) \(answer.text)")
      }

      let sent = try await gateway.client.post("/v1/messages", message)
      #expect(sent.status == 202, "\(note): \(sent.text)")
      let report = try await gateway.completed(sent.json["id"]?.string ?? "")
      let truth = Figures(report: report)
      reasons.formUnion(truth.ends.keys)
      #expect(Int(sent.json["targets"]?.integer ?? -1) == truth.targets, "\(note): \(sent.text)")
      let warned = Figures(warnings: sent.json["warnings"], targets: truth.targets)
      #expect(warned.ends == truth.ends, "\(note): warned of \(warned), and it was \(truth): \(message)")
      guard !hasHoldout else {
        // Who is in it depends on the id: six standard deviations of the difference of two draws.
        #expect(forecast.targets == truth.targets, "\(note): \(forecast), and it was \(truth)")
        let deviation = (2 * Double(truth.targets) * 0.2 * 0.8).squareRoot()
        #expect(abs(Double(forecast.holdout - truth.holdout)) <= 6 * deviation + 1, "\(note): \(forecast), \(truth)")
        return
      }
      #expect(forecast == truth, "\(note): forecast \(forecast), and it was \(truth): \(message)")
    }
    for round in 0..<10 {
      do {
        try await play(round)
      } catch {
        throw ChildFailure(
          reason: "seed \(random.seed), round \(round): \(error)\n\(gateway.process.text.suffix(6_000))")
      }
    }
    // Chance may leave one out; most are there.
    #expect(reasons.count >= 5, "seed \(random.seed): \(reasons)")

    // Ended by the store alone, and by the worker: a campaign that is cancelled in the middle, and one that nobody may send.
    let campaign = try await gateway.send(
      #"{"to":{"everyone":true},"quiet_hours":false,"rate_per_second":50,"notification":{"body":"Stop"}}"#)
    _ = try await world.sandbox.accepted(atLeast: try await world.sandbox.log().count + 20)
    _ = try await gateway.client.post("/v1/messages/\(campaign)/cancel", "")
    let stopped = Figures(report: try await gateway.completed(campaign))
    #expect(stopped.ends["cancelled ", default: 0] > 500, "\(stopped)")
    try await gateway.metricsAgreeWithReports()
  }

  @Test(
    "one of a user's devices has a token of another kind, one's token moved: the command line tells it once, and is content"
  )
  func otherKinds() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    for (id, body) in [
      ("phone", #"{"provider":"apns","token":"\#(Tokens.apns(1))","user":"ann"}"#),
      ("calls", #"{"provider":"apns","token":"\#(Tokens.apns(2))","token_kind":"voip","user":"ann"}"#),
      ("old", #"{"provider":"fcm","token":"\#(Tokens.fcm(1))","user":"ann"}"#),
      ("new", #"{"provider":"fcm","token":"\#(Tokens.fcm(1))","user":"ben"}"#),
    ] {
      let answer = try await gateway.client.put("/v1/devices/\(id)", body)
      #expect([200, 201].contains(answer.status), "\(answer.text)")
    }
    let tool = Tool(gateway: gateway, world: world)
    let dry = try await tool.run("send", "--user", "ann", "--title", "T", "--dry-run")
    #expect(dry.contains(/3 +devices found/) && dry.contains(/-1 +token_kind/), "\(dry)")
    #expect(dry.contains(/1 +would be sent +apns 1/), "\(dry)")
    #expect(try await world.sandbox.log().isEmpty, "nothing was sent")
    let plain = try await tool.run("send", "--user", "ann", "--title", "T")
    #expect(plain.components(separatedBy: "token_kind").count == 2, "told once: \(plain)")
    let waited = try await tool.run("send", "--user", "ann", "--title", "T", "--wait", "60")
    #expect(waited.contains("1 accepted apns") && !waited.contains("kind_unsupported"), "\(waited)")
    let counted = try await tool.run("audience", "count", "everyone")
    #expect(counted.contains(/2 +would be sent/) && counted.contains("token_kind"), "\(counted)")
    // A browser has no calls: of a user's devices it is no target. In an audience it is skipped, as is meant.
    let call = [
      "send", "--file", try world.write([#"{"kind":"voip","data":{"a":1}}"#], to: "call.json"), "--wait", "60",
    ]
    let called = try await tool.start(call + ["--user", "ann"]).end(0)
    #expect(called.contains("1 accepted apns") && called.contains("note: 1 device of these users gets"), "\(called)")
    let all = try await tool.start(call + ["--audience", "everyone"]).end(0)
    #expect(all.contains("skipped (token_kind)"), "\(all)")
    // A failure stays one.
    try await world.sandbox.play(#"[{"provider":"apns","status":400,"reason":"BadTopic"}]"#)
    _ = try await tool.run("send", "--user", "ann", "--title", "T", "--wait", "60", exit: 1)
  }
}
