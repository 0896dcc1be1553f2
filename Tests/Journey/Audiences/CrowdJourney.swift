import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test("a list too large for a message is imported with a tag, and aimed at by it: as the refusal says")
  func largeList() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let tokens = (0..<10_001).map(Tokens.fcm)
    let refused = try await gateway.client.post(
      "/v1/messages", #"{"to":{"tokens":[\#(Tokens.targets("fcm", tokens))]},"notification":{"body":"All"}}"#)
    #expect(refused.status == 422, "\(refused.status)")
    #expect(
      refused.text.contains("fanfare devices import") && refused.text.contains("limits.targets"), "\(refused.text)")

    let file = world.directory.file("list.ndjson")
    let lines = tokens.map { #"{"provider":"fcm","token":"\#($0)","tags":["list-7"]}"# }
    try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    let key = try await world.key(scopes: "devices")
    let tool = try ChildProcess(
      World.program, ["devices", "import", file.path, "--url", gateway.client.base], environment: ["FANFARE_KEY": key])
    _ = try await tool.line { $0.contains("10,001 devices registered") }
    let id = try await gateway.send(#"{"to":{"audience":"list-7"},"notification":{"body":"All"}}"#)
    let report = try await gateway.completed(id)
    #expect(report["outcomes"]?["accepted"]?.integer == 10_001, "\(report)")
    let reached = try await world.sandbox.log().filter(\.accepted).map(\.token)
    #expect(difference(reached, from: tokens) == nil)
  }

  @Test("what one message cannot hold is replayed by one command, in several messages, and each device once")
  func largeReplay() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let tokens = (0..<66_000).map(Tokens.apns)
    let file = world.directory.file("crowd.ndjson")
    try tokens.map { #"{"provider":"apns","token":"\#($0)"}"# }.joined(separator: "\n").write(
      to: file, atomically: true, encoding: .utf8)
    let imported = try await world.run(["devices", "import", file.path], against: gateway)
    #expect(imported.code == 0, "\(imported.text)")
    try await world.sandbox.play(#"[{"provider":"apns","status":413,"reason":"PayloadTooLarge"}]"#)
    let id = try await gateway.send(
      #"{"to":{"everyone":true},"kind":"alert","notification":{"body":"All"},"error_brake":{"minimum":70000}}"#)
    #expect(try await gateway.completed(id)["outcomes"]?["failed"]?.integer == 66_000)
    try await world.sandbox.play("[]")
    try await world.sandbox.forget()
    let replay = try await world.run(["messages", "replay", id], against: gateway)
    let parts = replay.text.split(separator: "\n").filter { $0.hasPrefix("msg_") }
    #expect(replay.code == 0 && parts.count == 2, "\(replay.text)")
    var accepted: Int64 = 0
    for part in parts { accepted += try await gateway.completed(String(part))["outcomes"]?["accepted"]?.integer ?? 0 }
    #expect(accepted == 66_000)
    let reached = try await world.sandbox.log().filter(\.accepted)
    let difference = difference(reached.map(\.token), from: tokens)
    #expect(difference == nil, "\(difference ?? "") \(reached.count(where: \.duplicate)) are duplicates")
  }

  @Test("with a larger limits.devices_per_user a user has more than 500 devices, and a message reaches all of them")
  func manyDevices() async throws {
    let world = try await World(more: "limits: { devices_per_user: 600 },")
    let gateway = try await world.gateway()
    let tokens = (0..<601).map(Tokens.fcm)
    let lines = tokens.map { #"{"provider":"fcm","token":"\#($0)","user":"u1"}"# }
    func register(_ lines: some Collection<String>) async throws -> String {
      try await gateway.client.post(
        "/v1/devices/bulk", lines.joined(separator: "\n"), headers: [Header("content-type", "application/x-ndjson")]
      ).text
    }
    #expect(!(try await register(lines.dropLast())).contains("problem"))
    #expect(try await register(lines.suffix(1)).contains("limits.devices_per_user"))
    let id = try await gateway.send(#"{"to":{"users":["u1"]},"notification":{"body":"All"}}"#)
    #expect(try await gateway.completed(id)["outcomes"]?["accepted"]?.integer == 600)
    let reached = try await world.sandbox.log().filter(\.accepted).map(\.token)
    #expect(difference(reached, from: Array(tokens.dropLast())) == nil)
  }
}
