import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test("kill -9 in the middle: after a restart every delivery has been made, doubles within the bound")
  func killedInTheMiddle() async throws {
    let world = try await World()
    let first = try await world.gateway()
    let tokens = (0..<6_000).map(Tokens.apns)
    // After 2,000 answers the others never come, so that the kill cannot be too late, however slow the machine is.
    try await world.sandbox.play(
      #"[{"provider":"apns","delay_ms":500,"when":"after","times":2000},{"provider":"apns","delay_ms":3600000,"when":"after"}]"#
    )
    let id = try await first.send(
      #"{"to":{"tokens":[\#(Tokens.targets("apns", tokens))]},"kind":"alert","notification":{"body":"Survive"}}"#)
    _ = try await world.sandbox.accepted(atLeast: 1_000)
    await first.process.destroy()
    try await world.sandbox.play("[]")
    // What stood in the record at the kill: these are not sent again.
    let reader = try await world.gateway(["--api-only"])
    let recorded = try await reader.deliveries(id).count { $0["state"]?.string == "accepted" }
    await reader.process.destroy()
    // Read as late as can be: the sandbox may have found the last requests of the dead one only now.
    let before = try await world.sandbox.log().filter(\.accepted).count
    #expect(before < tokens.count, "the kill came too late to prove anything")

    let second = try await world.gateway()
    let report = try await second.completed(id)
    let accepted = try await world.sandbox.log().filter(\.accepted)
    #expect(difference(Set(accepted.map(\.token)), from: tokens) == nil, "\(report)")
    let doubles = accepted.count - tokens.count
    #expect(doubles <= before - recorded, "received \(before), recorded \(recorded) before the kill")
    let deliveries = try await second.deliveries(id)
    #expect(deliveries.count == tokens.count)
    #expect(deliveries.allSatisfy { $0["state"]?.string == "accepted" })
  }

  @Test("Redis restarts: sends are refused with Retry-After meanwhile, nothing accepted is lost")
  func redisRestart() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    try await world.sandbox.play(#"[{"provider":"apns","delay_ms":20,"when":"after"}]"#)
    let tokens = (0..<3_000).map(Tokens.apns)
    let id = try await gateway.send(
      #"{"to":{"tokens":[\#(Tokens.targets("apns", tokens))]},"kind":"alert","notification":{"body":"Hold on"}}"#)
    _ = try await world.sandbox.accepted(atLeast: 200)
    world.redis.stop()
    let refused = try await gateway.client.post(
      "/v1/messages",
      #"{"to":{"tokens":[{"provider":"apns","token":"\#(Tokens.apns(1))"}]},"kind":"alert","notification":{"body":"x"}}"#
    )
    #expect(refused.status == 503, "\(refused.text)")
    #expect(refused.header("retry-after") != nil)
    #expect(refused.json["retryable"]?.bool == true)
    #expect(try await gateway.client.get("/readyz").status == 503)
    #expect(try await gateway.client.get("/healthz").status == 200)
    world.redis.start()
    let report = try await gateway.completed(id)
    #expect(report["state"]?.string == "completed")
    let accepted = try await world.sandbox.log().filter(\.accepted)
    #expect(difference(Set(accepted.map(\.token)), from: tokens) == nil)
  }

  @Test("SIGTERM drains: what is at work is finished or stays queued, and the exit code is 0")
  func drain() async throws {
    let world = try await World()
    let first = try await world.gateway()
    try await world.sandbox.play(#"[{"provider":"apns","delay_ms":20,"when":"after"}]"#)
    let tokens = (0..<3_000).map(Tokens.apns)
    let id = try await first.send(
      #"{"to":{"tokens":[\#(Tokens.targets("apns", tokens))]},"kind":"alert","notification":{"body":"Drain"}}"#)
    _ = try await world.sandbox.accepted(atLeast: 300)
    first.process.signal(SIGTERM)
    #expect(await first.process.waitForExit() == 0, "\(first.process.text)")
    let second = try await world.gateway()
    _ = try await second.completed(id)
    let accepted = try await world.sandbox.log().filter(\.accepted)
    #expect(difference(Set(accepted.map(\.token)), from: tokens) == nil)
    #expect(accepted.count == tokens.count, "a drained gateway doubles nothing")
  }
}
