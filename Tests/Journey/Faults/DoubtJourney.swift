import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test("a wrong topic, environment, project or app prunes not one token, with thousands of them reached before")
  func doubtfulWords() async throws {
    let world = try await World()
    try world.installAsShipped(more: "quotas: { fcm: { per_minute: 0 }, onesignal: { per_minute: 0 } },")
    let gateway = try await world.gateway()
    let each = 2_000
    let lines = (0..<each).flatMap {
      [
        #"{"id":"a\#($0)","provider":"apns","token":"\#(Tokens.apns($0))"}"#,
        #"{"id":"f\#($0)","provider":"fcm","token":"\#(Tokens.fcm($0))"}"#,
        #"{"id":"o\#($0)","provider":"onesignal","token":"\#(Tokens.oneSignal($0))"}"#,
      ]
    }
    let file = world.directory.file("devices.ndjson")
    try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    let imported = try await world.run(["devices", "import", file.path], against: gateway)
    #expect(imported.code == 0, "\(imported.text)")
    func living() async throws -> Int64? {
      try await gateway.client.post("/v1/audiences/count", #"{"everyone":true}"#).json["total"]?.integer
    }
    func states(_ text: String) async throws -> [String: Int] {
      let id = try await gateway.send(#"{"to":{"everyone":true},"kind":"alert","notification":{"body":"\#(text)"}}"#)
      _ = try await gateway.completed(id)
      return try await gateway.deliveries(id).reduce(into: [:]) { $0[$1["state"]?.string ?? "", default: 0] += 1 }
    }
    #expect(try await states("Hello") == ["accepted": 3 * each])

    for (provider, status, word, credential) in [
      ("apns", 400, "DeviceTokenNotForTopic", "ios:production"), ("apns", 400, "BadDeviceToken", "ios:production"),
      ("fcm", 403, "SENDER_ID_MISMATCH", "android"), ("onesignal", 200, "invalid_player_ids", "web"),
    ] {
      // The provider is wrong at once, while all is as it was here.
      try await world.sandbox.play(#"[{"provider":"\#(provider)","status":\#(status),"reason":"\#(word)"}]"#)
      #expect(try await states(word) == ["accepted": 2 * each, "dead": each], "\(word)")
      try await gateway.until("\(word): all prunes held") {
        try await $0.client.get("/v1/prunes").json["items"]?.array?.contains { $0["held"]?.integer == Int64(each) }
          == true
      }
      #expect(try await living() == Int64(3 * each), "\(word)")
      try await world.sandbox.play("[]")
      let discarded = try await world.run(
        ["devices", "prunes", "discard", "--credential", credential], against: gateway)
      #expect(discarded.code == 0 && discarded.text.contains("the prune brake is off"), "\(discarded.text)")
      #expect(try await states("\(word), mended") == ["accepted": 3 * each], "\(word)")
      #expect(try await living() == Int64(3 * each), "\(word)")
    }
    #expect(try await gateway.metric("fanfare_pruned_total") == 0)
  }
}
