import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "each device gets its variant, the holdout nothing: the vendors' logs agree, for lists and audiences, and after a kill -9"
  )
  func variants() async throws {
    let world = try await World()
    let first = try await world.gateway()
    let count = 3_000
    let tokens = (0..<count).map { number in
      switch number % 3 {
      case 0: ("apns", Tokens.apns(number))
      case 1: ("fcm", Tokens.fcm(number))
      default: ("onesignal", Tokens.oneSignal(number))
      }
    }
    let lines = tokens.enumerated().map { number, token in
      #"{"id":"d\#(number)","provider":"\#(token.0)","token":"\#(token.1)","language":"\#(number % 2 == 0 ? "de" : "en")"}"#
    }
    let imported = try await first.client.call(
      "POST", "/v1/devices/bulk", lines.joined(separator: "\n"),
      headers: [.init("content-type", "application/x-ndjson")])
    #expect(imported.status == 200 && !imported.text.contains("problem"), "\(imported.text.prefix(500))")

    let variants = #"""
      "notification":{"title":"Plain","body":"News"},"holdout":15,"variants":[{"name":"plain","weight":50},
      {"name":"bold","weight":35,"notification":{"title":"BOLD","localized":{"de":{"title":"FETT"}}},"data":{"look":"bold"}}]
      """#
    try await world.sandbox.play(
      #"[{"provider":"apns","share":0.1,"status":503,"reason":"ServiceUnavailable","times":50},{"provider":"apns","delay_ms":300,"when":"after"},{"provider":"fcm","delay_ms":300,"when":"after"}]"#
    )
    let id = try await first.send(#"{"to":{"everyone":true},\#(variants)}"#)
    _ = try await world.sandbox.accepted(atLeast: 300)
    await first.process.destroy()
    let second = try await world.gateway()
    let report = try await second.completed(id)
    try await agree(world, second, id, report, tokens, from: 0)

    try await world.sandbox.play("[]")
    let before = try await world.sandbox.log().count
    let list = (0..<400).map { #""d\#($0)""# }.joined(separator: ",")
    let direct = try await second.send(#"{"to":{"devices":[\#(list)]},\#(variants)}"#)
    try await agree(
      world, second, direct, try await second.completed(direct), Array(tokens.prefix(400)), from: before)
  }

  /// What the vendors took for each token is what its delivery says, and the report's sums are those of the deliveries.
  private func agree(
    _ world: World, _ gateway: Gateway, _ id: String, _ report: JSONValue, _ tokens: [(String, String)], from: Int
  ) async throws {
    var taken: [String: Set<String>] = [:]
    for entry in try await world.sandbox.log().dropFirst(from) where entry.accepted {
      let look =
        entry.body.contains("BOLD") || entry.body.contains("FETT")
        ? "bold" : entry.body.contains("Plain") ? "plain" : "neither"
      taken[entry.token, default: []].insert(look)
      if entry.provider != "onesignal" {
        #expect(entry.body.contains(#""look":"bold""#) == (look == "bold"), "\(entry.body)")
      }
    }
    let deliveries = try await gateway.deliveries(id)
    #expect(deliveries.count == tokens.count)
    var sums: [String: Int] = [:]
    for delivery in deliveries {
      let number = Int((delivery["device"]?.string ?? "").dropFirst()) ?? 0
      let variant = delivery["variant"]?.string
      let state = delivery["state"]?.string
      sums[variant ?? "none", default: 0] += 1
      if let variant {
        #expect(state == "accepted" && taken[tokens[number].1] == [variant], "d\(number): \(delivery)")
      } else {
        #expect(state == "skipped" && delivery["reason"]?.string == "holdout", "\(delivery)")
        #expect(taken[tokens[number].1] == nil, "d\(number) is in the holdout")
      }
    }
    for row in report["variants"]?.array ?? [] {
      #expect(row["outcomes"]?["accepted"]?.integer == sums[row["name"]?.string ?? ""].map { Int64($0) }, "\(report)")
    }
    #expect(report["outcomes"]?["skipped"]?.integer == sums["none"].map { Int64($0) }, "\(report)")
    #expect(sums.count == 3 && sums.values.reduce(0, +) == tokens.count)
  }
}
