import Domain
import Foundation
import JSON
import Support
import Testing

/// What is kept of messages that have ended, and what goes.
extension Journeys {
  @Test(
    "retention.bytes: the oldest hours go, with what was accepted in them and has ended; the others stay, and by default all",
    .enabled(if: !Sanitizer.isOn, "a sanitizer and libfaketime both want to be the first library"))
  func retentionBytes() async throws {
    let clock = MovableClock()
    let world = try await World(redis: RedisServer(durable: true, clock: clock))
    var gateway = try await world.gateway(environment: clock.environment)
    func message(_ tokens: Range<Int>, _ more: String = "") -> String {
      // OneSignal's key has no time in it that a clock which jumps would make wrong.
      let targets = Tokens.targets("onesignal", tokens.map(Tokens.oneSignal))
      return #"{"to":{"tokens":[\#(targets)]},"kind":"alert","notification":{"body":"Hi"},"ttl":2419200\#(more)}"#
    }
    let soon = (Date.now + 86_400).ISO8601Format()
    let scheduled = try await gateway.send(message(0..<1, #","send_at":"\#(soon)""#))
    /// By the hour that they were sent in.
    var hours: [[String]] = []
    for hour in 0..<8 {
      clock.move(to: hour * 3_600)
      var ids: [String] = []
      for number in 0..<4 {
        let first = 1 + (hour * 4 + number) * 500
        ids.append(try await gateway.send(message(first..<first + 500)))
      }
      for id in ids { _ = try await gateway.completed(id) }
      hours.append(ids)
    }
    /// Whether the message and its deliveries are there; nil: one of the two is.
    func isKept(_ id: String) async throws -> Bool? {
      let report = try await gateway.client.get("/v1/messages/\(id)")
      let deliveries = try await gateway.client.get("/v1/messages/\(id)/deliveries?limit=1000")
      guard report.status == deliveries.status else { return nil }
      return report.status == 200
    }
    func listed() async throws -> Set<String> {
      let items = try await gateway.client.get("/v1/messages?limit=1000").json["items"]?.array ?? []
      return Set(items.compactMap { $0["id"]?.string })
    }
    for id in hours.joined() { #expect(try await isKept(id) == true) }
    #expect(try await listed() == Set(hours.joined() + [scheduled]))

    await gateway.process.destroy()
    try world.edit { $0.replacing("listen:", with: #"retention: { bytes: "1MiB" }, listen:"#) }
    gateway = try await world.gateway(environment: clock.environment)
    try await gateway.until("the oldest hour gone") { _ in try await listed().isDisjoint(with: hours[0]) }
    for id in hours[0] { #expect(try await isKept(id) == false) }
    for id in hours[7] {
      #expect(try await isKept(id) == true)
      #expect(try await gateway.deliveries(id).count == 500)
    }
    #expect(try await isKept(scheduled) == true)
  }
}
