import Domain
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "a delivery is told by the id that its vendor was given, by itself or in a slice: in a list, an audience, a timeline",
    arguments: ["few", "many"])
  func requestIDs(tag: String) async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    // More than 500 are kept as an audience, fewer become a list.
    let size = tag == "few" ? 9 : 600
    func token(_ number: Int) -> String {
      number % 3 == 0 ? Tokens.apns(number) : Tokens.oneSignal(number)
    }
    let lines = (0..<size).map { number in
      let provider = number % 3 == 0 ? "apns" : "onesignal"
      return
        #"{"id":"d\#(number)","provider":"\#(provider)","token":"\#(token(number))","tags":["\#(tag)"]}"#
    }
    let imported = try await gateway.client.call(
      "POST", "/v1/devices/bulk", lines.joined(separator: "\n"),
      headers: [.init("content-type", "application/x-ndjson")])
    #expect(imported.status == 200, "\(imported.text.prefix(500))")

    // A slice whose first answer says nothing goes again under the same key.
    try await world.sandbox.play(#"[{"provider":"onesignal","status":503,"times":1}]"#)
    let id = try await gateway.send(#"{"to":{"audience":"\#(tag)"},"notification":{"body":"Hello"}}"#)
    let report = try await gateway.completed(id)
    #expect(report["outcomes"]?["accepted"]?.integer == Int64(size), "\(report)")
    let given = Dictionary(
      try await world.sandbox.log().filter(\.accepted).map { ($0.token, $0.id) }, uniquingKeysWith: { $1 })
    let rows = try await gateway.deliveries(id)
    #expect(rows.count == size)
    for row in rows {
      let number = try #require(row["device"]?.string.flatMap { Int($0.dropFirst()) })
      #expect(row["request_id"]?.string == given[token(number)], "d\(number)")
    }
    for number in 0..<3 {
      let timeline = try await gateway.client.get("/v1/devices/d\(number)/timeline")
      let entry = try #require(timeline.json["items"]?.array?.first, "\(timeline.text)")
      #expect(entry["request_id"]?.string == given[token(number)], "\(timeline.text)")
      #expect(entry["state"]?.string == "accepted" && timeline.json["items"]?.array?.count == 1, "\(timeline.text)")
    }
  }
}
