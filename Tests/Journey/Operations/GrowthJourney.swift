import Domain
import Foundation
import JSON
import Support
import Testing

/// What is kept has an end.
extension Journeys {
  @Test(
    "direct sends of a credential taken out of the configuration expire when their time is over, queued, in memory or between attempts"
  )
  func withoutCredential() async throws {
    let world = try await World()
    func message(_ numbers: Range<Int>, ttl: Int) -> String {
      let tokens = Tokens.targets("apns", numbers.map(Tokens.apns))
      return #"{"to":{"tokens":[\#(tokens)]},"kind":"alert","ttl":\#(ttl),"notification":{"body":"Late"}}"#
    }
    // Accepted while nobody sends.
    let front = try await world.gateway(["--api-only"])
    let queued = [
      try await front.send(message(100..<101, ttl: 30)), try await front.send(message(110..<140, ttl: 30)),
    ]
    let lasting = try await front.send(message(150..<151, ttl: 86_400))
    front.process.signal(SIGTERM)
    #expect(await front.process.waitForExit() == 0)

    // Tried in vain, and then between its attempts.
    try await world.sandbox.play(#"[{"provider":"apns","status":503,"reason":"ServiceUnavailable"}]"#)
    let gateway = try await world.gateway()
    let ids =
      queued + [try await gateway.send(message(1..<2, ttl: 20)), try await gateway.send(message(10..<40, ttl: 20))]
    try await gateway.until("a first attempt") {
      try await $0.deliveries(queued[0]).first?["attempts"]?.array?.isEmpty == false
    }
    try world.edit { text in
      guard let start = text.range(of: #"{ name: "ios""#), let end = text.range(of: #"{ name: "android""#) else {
        return text
      }
      return text.replacingCharacters(in: start.lowerBound..<end.lowerBound, with: "")
    }
    gateway.process.signal(SIGHUP)
    _ = try await gateway.process.line { $0.contains("credential_removed") }
    // What another process accepted before it heard of that is in the streams, and nobody claims it.
    gateway.process.signal(SIGKILL)
    _ = await gateway.process.waitForExit()
    let stranger = try await world.gateway()
    for id in ids {
      let report = try await stranger.completed(id)
      #expect(report["completed_at"] != nil)
      let deliveries = try await stranger.deliveries(id)
      #expect(deliveries.allSatisfy { $0["state"]?.string == "expired" }, "\(deliveries)")
      #expect(deliveries.allSatisfy { $0["reason"]?.string != nil }, "\(deliveries)")
    }
    #expect(try await stranger.client.get("/v1/messages/\(lasting)").json["completed_at"] == nil)
    stranger.process.signal(SIGTERM)
    #expect(await stranger.process.waitForExit() == 0)
  }

  @Test("what a removed credential holds ends with its time, in the process that was told by SIGHUP")
  func removedCredential() async throws {
    let world = try await World()
    func message(_ numbers: Range<Int>, ttl: Int) -> String {
      let tokens = Tokens.targets("apns", numbers.map(Tokens.apns))
      return #"{"to":{"tokens":[\#(tokens)]},"kind":"alert","ttl":\#(ttl),"notification":{"body":"Late"}}"#
    }
    try await world.sandbox.play(#"[{"provider":"apns","status":503,"reason":"ServiceUnavailable"}]"#)
    let gateway = try await world.gateway()
    let first = try await gateway.send(message(1..<2, ttl: 10))
    try await gateway.until("a first attempt") {
      try await $0.deliveries(first).first?["attempts"]?.array?.isEmpty == false
    }
    // More than a credential takes into memory: the rest stands in its streams.
    var ids = [first]
    for part in 0..<12 {
      ids.append(try await gateway.send(message(1_000 + part * 1_000..<1_900 + part * 1_000, ttl: 10)))
    }
    try world.edit { text in
      guard let start = text.range(of: #"{ name: "ios""#), let end = text.range(of: #"{ name: "android""#) else {
        return text
      }
      return text.replacingCharacters(in: start.lowerBound..<end.lowerBound, with: "")
    }
    gateway.process.signal(SIGHUP)
    _ = try await gateway.process.line { $0.contains("credential_removed") }
    for id in ids {
      let report = try await gateway.completed(id)
      let deliveries = try await gateway.deliveries(id)
      #expect(deliveries.allSatisfy { $0["state"]?.string == "expired" }, "\(report)")
    }
    gateway.process.signal(SIGTERM)
    #expect(await gateway.process.waitForExit() == 0)
  }
}
