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
      World.program, ["devices", "import", file.path, "--url", gateway.client.base, "--key", key])
    _ = try await tool.line { $0.contains("10,001 devices registered") }
    let id = try await gateway.send(#"{"to":{"audience":"list-7"},"notification":{"body":"All"}}"#)
    let report = try await gateway.completed(id)
    #expect(report["outcomes"]?["accepted"]?.integer == 10_001, "\(report)")
    let reached = try await world.sandbox.log().filter(\.accepted).map(\.token)
    #expect(difference(reached, from: tokens) == nil)
  }
}
