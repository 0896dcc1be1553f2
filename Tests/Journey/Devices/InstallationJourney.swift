import Domain
import JSON
import Support
import Testing

extension Journeys {
  @Test("an activity is updated by its name, also after its token changed, and by small and large audiences alike")
  func activityByName() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let key = try await world.key(scopes: "register")
    let app = try await Client(base: gateway.client.base, key: key, loop: world.loop)
    func register(_ members: String) async throws {
      let answer = try await app.post("/v1/devices", "{\(members)}")
      #expect(answer.status == 201 || answer.status == 200, "\(answer.text)")
    }
    func phone(_ number: Int) -> String { "installation-of-phone-\(number)-5c1b2a" }
    for number in 0..<3 {
      try await register(
        #""provider":"apns","token":"\#(Tokens.apns(number))","token_kind":"activity","activity_id":"match-7","installation":"\#(phone(number))""#
      )
    }
    try await register(
      #""provider":"apns","token":"\#(Tokens.apns(8))","token_kind":"activity","activity_id":"match-8","installation":"\#(phone(1))""#
    )
    try await register(
      #""provider":"fcm","token":"\#(Tokens.fcm(1))","live_activity_token":"80a1f0","activity_id":"match-7","installation":"\#(phone(4))""#
    )
    // The system gave this activity another token.
    try await register(
      #""provider":"apns","token":"\#(Tokens.apns(20))","token_kind":"activity","activity_id":"match-7","installation":"\#(phone(2))""#
    )
    func update(_ activity: String, _ event: String) async throws -> Set<String> {
      try await world.sandbox.forget()
      let id = try await gateway.send(
        #"{"to":{"activity":"\#(activity)"},"kind":"live_activity","live_activity":{"event":"\#(event)","timestamp":1767220000,"content_state":{"home":1}}}"#
      )
      let report = try await gateway.completed(id)
      let accepted = try await world.sandbox.log().filter(\.accepted).map(\.token)
      #expect(report["outcomes"]?["accepted"]?.integer == Int64(accepted.count), "\(report)")
      return Set(accepted)
    }
    let seven: Set<String> = [Tokens.apns(0), Tokens.apns(1), Tokens.apns(20), Tokens.fcm(1)]
    #expect(try await update("match-7", "update") == seven)
    #expect(try await update("match-8", "update") == [Tokens.apns(8)])
    #expect(try await update("match-7", "end") == seven)
    #expect(try await update("match-9", "end").isEmpty)

    // A crowd, too large for a list.
    let lines = (100..<1_100).map {
      #"{"provider":"apns","token":"\#(Tokens.apns($0))","token_kind":"activity","activity_id":"final"}"#
    }
    let answer = try await gateway.client.call(
      "POST", "/v1/devices/bulk", lines.joined(separator: "\n"),
      headers: [.init("content-type", "application/x-ndjson")])
    #expect(answer.status == 200, "\(answer.text)")
    #expect(try await difference(update("final", "update"), from: (100..<1_100).map(Tokens.apns)) == nil)
  }

  @Test("devices are aimed at, counted, exported and imported by what their notifications may do")
  func permissions() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    for (name, number, words) in [
      ("silent", 1, #""provisional""#), ("loud", 2, #"["authorized","time-sensitive"]"#), ("mute", 3, #"["denied"]"#),
    ] {
      let answer = try await gateway.client.put(
        "/v1/devices/\(name)", #"{"provider":"apns","token":"\#(Tokens.apns(number))","authorization":\#(words)}"#)
      #expect(answer.status == 201, "\(answer.text)")
    }
    _ = try await gateway.client.put("/v1/devices/old", #"{"provider":"apns","token":"\#(Tokens.apns(4))"}"#)
    func count(_ audience: String) async throws -> Int64? {
      let answer = try await gateway.client.post("/v1/audiences/count", #"{"audience":"\#(audience)"}"#)
      #expect(answer.status == 200, "\(answer.text)")
      return answer.json["total"]?.integer
    }
    #expect(try await count("auth:provisional") == 1)
    #expect(try await count("auth:time-sensitive && auth:authorized") == 1)
    #expect(try await count("auth:*") == 3)
    #expect(try await count("!auth:denied") == 3)
    let refused = try await gateway.client.post("/v1/audiences/count", #"{"audience":"auth:provisionl"}"#)
    #expect(refused.status == 422 && refused.text.contains("auth:provisional"), "\(refused.text)")
    let id = try await gateway.send(#"{"to":{"audience":"auth:* && !auth:denied"},"notification":{"title":"T"}}"#)
    _ = try await gateway.completed(id)
    let tokens = try await world.sandbox.log().filter(\.accepted).map(\.token)
    #expect(Set(tokens) == [Tokens.apns(1), Tokens.apns(2)])

    let export = try await gateway.client.get("/v1/devices/export").text
    #expect(export.contains(#""authorization":["authorized","time-sensitive"]"#), "\(export)")
    for name in ["silent", "loud", "mute", "old"] {
      _ = try await gateway.client.call("DELETE", "/v1/devices/\(name)")
    }
    #expect(try await count("auth:*") == 0)
    let back = try await gateway.client.call(
      "POST", "/v1/devices/bulk", export, headers: [.init("content-type", "application/x-ndjson")])
    #expect(back.status == 200, "\(back.text)")
    #expect(try await count("auth:provisional") == 1)
    #expect(try await count("auth:*") == 3)
    let device = try await gateway.client.get("/v1/devices/silent").json
    #expect(device["authorization"]?.array?.compactMap(\.string) == ["provisional"])
  }
}
