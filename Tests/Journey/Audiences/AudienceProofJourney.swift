import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  /// Devices of all providers, known by their number.
  private struct Crowd {
    static let size = 9_000
    /// Whom the journey's expression names.
    static let expression = "plan:pro && (lang:de || lang:fr) && !churned"

    struct Member {
      var number: Int
      var provider: String { ["apns", "fcm", "onesignal"][number % 3] }
      var token: String {
        switch provider {
        case "apns": Tokens.apns(number)
        case "fcm": Tokens.fcm(number)
        default: Tokens.oneSignal(number)
        }
      }
      var language: String { ["de", "de-AT", "fr", "en", "es"][number / 3 % 5] }
      var platform: String? { ["ios", "android", nil][number / 9 % 3] }
      var isPro: Bool { number % 4 != 0 }
      var hasChurned: Bool { number % 7 == 0 }
      var isMeant: Bool { isPro && !hasChurned && ["de", "fr"].contains(language.prefix(2)) }
      var line: String {
        let tags = [isPro ? "plan:pro" : "plan:free"] + (hasChurned ? ["churned"] : [])
        let list = tags.map { "\"\($0)\"" }.joined(separator: ",")
        let told = platform.map { #""platform":"\#($0)","# } ?? ""
        return #"""
          {"id":"d\#(number)",\#(told)"provider":"\#(provider)","token":"\#(token)","language":"\#(language)","tags":[\#(list)],"attributes":{"name":"N\#(number)"}}
          """#
      }
    }
    let members = (0..<size).map { Member(number: $0) }
    var meant: [Member] { members.filter(\.isMeant) }

    func register(_ gateway: Gateway) async throws {
      for part in stride(from: 0, to: members.count, by: 3_000) {
        let lines = members[part..<min(part + 3_000, members.count)].map(\.line).joined(separator: "\n")
        let answer = try await gateway.client.call(
          "POST", "/v1/devices/bulk", lines, headers: [.init("content-type", "application/x-ndjson")])
        guard answer.status == 200, !answer.text.contains("\"problem\"") else {
          throw ChildFailure(reason: String(answer.text.prefix(2_000)))
        }
      }
    }
  }

  @Test("an audience is counted, sent among faults and through a kill -9, and its export equals the vendors' logs")
  func audienceProof() async throws {
    let world = try await World()
    let first = try await world.gateway()
    let crowd = Crowd()
    try await crowd.register(first)
    let meant = crowd.meant

    let counted = try await first.client.post("/v1/audiences/count", #"{"audience":"\#(Crowd.expression)"}"#)
    #expect(counted.json["total"]?.integer == Int64(meant.count), "\(counted.text)")
    for provider in ["apns", "fcm", "onesignal"] {
      let expected = meant.count { $0.provider == provider }
      let told = counted.json["by_provider"]?.array?.first { $0["provider"]?.string == provider }
      #expect(told?["count"]?.integer == Int64(expected), "\(counted.text)")
    }

    // Some tokens are dead, some answers are late, some are errors that pass.
    let dead = Set(meant.filter { $0.provider == "apns" && $0.number % 11 == 0 }.map(\.token))
    let gone = dead.map {
      #"{"provider":"apns","token":"\#($0)","status":410,"reason":"Unregistered","timestamp":4102444800000}"#
    }
    let faults = [
      #"{"provider":"apns","share":0.1,"status":503,"reason":"ServiceUnavailable","times":100}"#,
      #"{"provider":"fcm","share":0.1,"status":503,"times":100}"#,
      #"{"provider":"onesignal","status":503,"times":3}"#,
      #"{"provider":"apns","delay_ms":600,"when":"after"}"#, #"{"provider":"fcm","delay_ms":600,"when":"after"}"#,
    ]
    try await world.sandbox.play("[\((gone + faults).joined(separator: ","))]")

    let id = try await first.send(
      #"{"to":{"audience":"\#(Crowd.expression)"},"kind":"alert","notification":{"title":"Hi {{name|you}}","body":"News"}}"#
    )
    _ = try await world.sandbox.accepted(atLeast: meant.count / 5)
    await first.process.destroy()
    let before = try await world.sandbox.log().filter(\.accepted).count
    #expect(before < meant.count, "the kill came too late to prove anything")

    let second = try await world.gateway()
    let report = try await second.completed(id)
    #expect(report["targets"]?.integer == Int64(meant.count), "\(report)")

    let log = try await world.sandbox.log()
    let taken = Dictionary(grouping: log.filter(\.accepted), by: \.token)
    let exported = try await second.deliveries(id)
    #expect(exported.count == meant.count)
    let byDevice = Dictionary(exported.map { ($0["device"]?.string ?? "", $0) }) { first, _ in first }
    #expect(byDevice.count == meant.count, "each device once")
    for member in crowd.members {
      guard member.isMeant else {
        #expect(taken[member.token] == nil, "d\(member.number) was not meant")
        continue
      }
      let row = byDevice["d\(member.number)"]
      let entries = taken[member.token] ?? []
      let shown = "d\(member.number): " + (row.map { String(decoding: $0.encoded, as: UTF8.self) } ?? "missing")
      #expect(row?["provider"]?.string == member.provider && row?["platform"]?.string == member.platform)
      if dead.contains(member.token) {
        #expect(row?["state"]?.string == "dead" && entries.isEmpty, "\(shown)")
        continue
      }
      #expect(row?["state"]?.string == "accepted" && !entries.isEmpty, "\(shown)")
      // What the vendor was given names the delivery, and has the device's own text.
      if member.provider != "fcm" {
        #expect(row?["request_id"]?.string == entries.last?.id, "\(shown)")
      }
      #expect(entries.allSatisfy { $0.body.contains("Hi N\(member.number)") }, "d\(member.number)")
      // What was in flight or not yet written down at the kill goes once more, and nothing a third time.
      #expect(entries.count <= 2, "d\(member.number)")
    }
    #expect(Self.tally(of: exported) == Self.tally(in: report), "every sum is the export's")

    // The dead are out of the next count.
    let after = try await second.client.post("/v1/audiences/count", #"{"audience":"\#(Crowd.expression)"}"#)
    #expect(after.json["total"]?.integer == Int64(meant.count - dead.count), "\(after.text)")
  }

  /// By provider, platform, outcome and reason, as the export has them.
  private static func tally(of exported: [JSONValue]) -> [String: Int64] {
    Dictionary(exported.map { (kind($0, outcome: "state"), 1) }, uniquingKeysWith: +)
  }
  /// … and as the report counts them.
  private static func tally(in report: JSONValue) -> [String: Int64] {
    let rows = (report["counts"]?.array ?? []).map { (kind($0, outcome: "outcome"), $0["count"]?.integer ?? 0) }
    return Dictionary(rows) { first, _ in first }
  }
  private static func kind(_ row: JSONValue, outcome: String) -> String {
    ["provider", "platform", outcome, "reason"].map { row[$0]?.string ?? "-" }.joined(separator: " ")
  }
}
