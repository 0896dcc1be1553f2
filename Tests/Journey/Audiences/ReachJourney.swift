import Domain
import JSON
import Support
import Testing

extension Journeys {
  /// People with several devices each. The newest but one is APNs', the one before it FCM's.
  private struct People {
    static let both = 0..<700
    /// They have no other device than APNs'.
    static let apple = 700..<710
    /// They have a newer device that no alert can go to.
    static let callers = 0..<30
    static let few = 20

    static var lines: String {
      var lines: [String] = []
      func add(_ id: String, _ number: Int, _ token: String, seen: String) {
        let tags = number < few ? #","tags":["few"]"# : ""
        lines.append(
          #"{"id":"\#(id)\#(number)","user":"u\#(number)","last_seen_at":"2026-01-\#(seen)T08:00:00Z",\#(token)\#(tags)}"#
        )
      }
      for number in both.lowerBound..<apple.upperBound {
        add("a", number, #""provider":"apns","token":"\#(Tokens.apns(number))""#, seen: "20")
      }
      for number in both { add("f", number, #""provider":"fcm","token":"\#(Tokens.fcm(number))""#, seen: "10") }
      for number in callers {
        let token = Tokens.apns(10_000 + number)
        add("v", number, #""provider":"apns","token":"\#(token)","token_kind":"voip""#, seen: "25")
      }
      return lines.joined(separator: "\n")
    }
  }

  @Test(
    "of each user the latest device gets it that the message can go to, of many as of few; who has none is told why")
  func latestDeviceOfEachUser() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let imported = try await gateway.client.call(
      "POST", "/v1/devices/bulk", People.lines, headers: [.init("content-type", "application/x-ndjson")])
    #expect(imported.status == 200 && !imported.text.contains("problem"), "\(imported.text.prefix(500))")

    for (to, both, apple) in [
      (#"{"everyone":true}"#, People.both, People.apple), (#"{"audience":"few"}"#, 0..<People.few, 0..<0),
    ] {
      for providers in [nil, "fcm"] {
        let only = providers.map { #","providers":["\#($0)"]"# } ?? ""
        let before = try await world.sandbox.log().count
        let counted = try await gateway.client.post(
          "/v1/audiences/count", "\(to.dropLast()),\"reach\":\"latest_device_per_user\"\(only)}")
        let id = try await gateway.send(
          #"{"to":\#(to),"reach":"latest_device_per_user"\#(only),"notification":{"body":"Hello"}}"#)
        let report = try await gateway.completed(id)
        let entries = try await world.sandbox.log().dropFirst(before)
        let reached: Set<String>
        if providers == nil {
          reached = Set((Array(both) + Array(apple)).map { Tokens.apns($0) })
          #expect(report["outcomes"]?["skipped"]?.integer ?? 0 == 0, "\(report)")
        } else {
          reached = Set(both.map { Tokens.fcm($0) })
          #expect(report["outcomes"]?["skipped"]?.integer ?? 0 == Int64(apple.count), "\(report)")
          let skipped = try await gateway.deliveries(id).filter { $0["state"]?.string == "skipped" }
          #expect(skipped.allSatisfy { $0["reason"]?.string == "provider_excluded" })
          #expect(difference(skipped.compactMap { $0["device"]?.string }, from: apple.map { "a\($0)" }) == nil)
        }
        #expect(difference(entries.map(\.token), from: reached) == nil, "\(to) \(only): each once, and nobody else")
        #expect(report["outcomes"]?["accepted"]?.integer == Int64(reached.count), "\(report)")
        #expect(counted.json["total"]?.integer == Int64(reached.count), "\(counted.text)")
      }
    }
    try await gateway.metricsAgreeWithReports()
  }
}
