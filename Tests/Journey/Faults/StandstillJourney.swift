import Domain
import Foundation
import JSON
import Support
import Testing

/// A peer whose connection stays open and says nothing more, with nothing about it in the configuration.
extension Journeys {
  /// Deliveries that were at work when it fell silent wait for its end, four seconds later, and then for what their vendor asks:
  /// APNs once more at once, FCM after ten to fifteen seconds.
  @Test(
    "a connection that falls silent as a whole is left in two seconds by new sends, and ends after four", .timed,
    arguments: [(provider: "apns", most: 6.0), (provider: "fcm", most: 20.0)])
  func standstill(_ provider: String, _ most: Double) async throws {
    let world = try await World(retries: .shipped)
    let gateway = try await world.gateway()
    func token(_ number: Int) -> String { provider == "apns" ? Tokens.apns(number) : Tokens.fcm(number) }
    var sent: [(token: String, id: String, at: Int64)] = []
    func send(_ number: Int) async throws {
      let token = token(number)
      let id = try await gateway.send(
        """
        {"to":{"tokens":[{"provider":"\(provider)","token":"\(token)"}]},"kind":"alert","ttl":86400,\
        "notification":{"body":"Hi"}}
        """)
      sent.append((token, id, Int64(Date().timeIntervalSince1970 * 1_000)))
    }
    try await send(0)
    _ = try await world.sandbox.accepted(atLeast: 1)
    // The next request's connection falls silent with it, for good, and the peer has taken none of what comes after.
    try await world.sandbox.play("[{\"provider\":\"\(provider)\",\"action\":\"stall\",\"times\":1}]")
    for number in 1...300 {
      try await send(number)
      try await Task.sleep(for: .milliseconds(30))
    }
    for message in sent { _ = try await gateway.completed(message.id) }
    var accepted: [String: [Int64]] = [:]
    for entry in try await world.sandbox.log() where entry.accepted {
      accepted[entry.token, default: []].append(entry.time)
    }
    // Nothing is lost, and nothing was processed twice.
    #expect(sent.allSatisfy { accepted[$0.token]?.count == 1 })
    #expect(try await world.sandbox.faults(provider)["stall"] == 1)
    var (caught, free): ([Double], [Double]) = ([], [])
    for message in sent {
      let wait = Double((accepted[message.token]?.first ?? .max) - message.at) / 1_000
      let delivery = try #require(try await gateway.deliveries(message.id).first)
      let attempts = delivery["attempts"]?.array ?? []
      #expect(delivery["state"]?.string == "accepted" && attempts.count <= 2, "\(delivery)")
      let reason = attempts.first?["reason"]?.string ?? ""
      if attempts.count > 1 {
        #expect(reason.hasPrefix("the connection ended while this request was at work"), "\(delivery)")
        #expect(reason.hasSuffix("no answer to a PING in 3000 ms"), "\(delivery)")
        caught.append(wait)
      } else {
        free.append(wait)
      }
    }
    #expect(!caught.isEmpty)
    let slowness = Double(Sanitizer.slowness)
    let (late, slow) = (caught.max() ?? 0, free.sorted()[free.count - 1 - free.count / 100])
    let told = [late, slow].map { String(format: "%.3f", $0) }
    print(
      "\(provider), a silent connection: \(caught.count) at work wait \(told[0]) s at most, p99 of others \(told[1]) s")
    #expect(late <= most * slowness && slow <= 2 * slowness, "\(told)\n\(gateway.process.text.suffix(2_000))")
  }
}
