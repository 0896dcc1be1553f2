import Domain
import Foundation
import JSON
import Support
import Testing

/// What keys and apps may use, as the built program bounds and shows it.
extension Journeys {
  @Test(
    "requests, deliveries, registrations and bytes of keys and apps are bounded, over processes and restarts, and status shows it"
  )
  func rateLimits() async throws {
    let world = try await World(
      more: """
        limits: { keys: { requests: "60/1h" }, apps: { deliveries: "40/1h", registrations: "6/1h", bytes: "1MiB/1h" } },
        """)
    let first = try await world.gateway()
    let second = try await world.gateway()
    let other = try await Client(base: second.client.base, key: first.client.key, loop: world.loop)
    func message(_ numbers: Range<Int>) -> String {
      #"{"to":{"tokens":[\#(Tokens.targets("fcm", numbers.map(Tokens.fcm)))]},"notification":{"body":"Hi"}}"#
    }

    for (place, client) in [first.client, other, first.client].enumerated() {
      let answer = try await client.post("/v1/messages", message(place * 10..<place * 10 + 10))
      #expect(answer.status == 202, "\(answer.text)")
    }
    let refused = try await other.post("/v1/messages", message(0..<11))
    #expect(refused.status == 429 && refused.json["code"]?.string == "rate_limited", "\(refused.text)")
    #expect(refused.header("ratelimit-policy") == #""app-deliveries";q=40;w=3600;fanfare-unit="deliveries""#)
    #expect(try await other.post("/v1/messages", message(0..<41)).json["code"]?.string == "beyond_rate_limit")
    for number in 0..<6 {
      let device = #"{"provider":"fcm","token":"\#(Tokens.fcm(number))"}"#
      let client = number.isMultiple(of: 2) ? first.client : other
      #expect(try await client.put("/v1/devices/d\(number)", device).status == 201)
    }
    let seventh = try await first.client.put("/v1/devices/d7", #"{"provider":"fcm","token":"\#(Tokens.fcm(7))"}"#)
    #expect(seventh.status == 429 && seventh.text.contains("limits.apps.registrations"), "\(seventh.text)")
    let large = String(repeating: " ", count: 800_000)
    #expect(try await first.client.post("/v1/messages", large).status == 400)
    #expect(try await other.post("/v1/messages", large).status == 429)

    // What a process had leased lapses with it, the rest stays spent.
    await second.process.destroy()
    let third = try await world.gateway()
    let again = try await Client(base: third.client.base, key: first.client.key, loop: world.loop)
    #expect(try await again.post("/v1/messages", message(0..<11)).status == 429)
    var statuses: [Int] = []
    for _ in 0..<60 { statuses.append(try await again.get("/v1/messages").status) }
    let passed = statuses.count { $0 == 200 }
    // Of sixty the key has used fifteen; three at a time lie in each process.
    #expect((34...46).contains(passed) && Set(statuses) == [200, 429], "\(passed)")

    let status = try ChildProcess(
      World.program, ["status", "--json", "--config", world.directory.file("fanfare.json5").path])
    _ = await status.waitForExit()
    let shown = try JSON.parse(Array(status.text.utf8))["limits"]?.array ?? []
    let left = Dictionary(
      shown.compactMap { row in row["policy"]?.string.map { ($0, Int(row["left"]?.integer ?? -1)) } }
    ) { first, _ in first }
    #expect(left["app-registrations"] == 0 && left["key-requests"] == 0, "\(status.text)")
    #expect((5...10).contains(left["app-deliveries"] ?? -1), "\(left)")
    let page = try ChildProcess(World.program, ["status", "--config", world.directory.file("fanfare.json5").path])
    _ = await page.waitForExit()
    #expect(page.text.contains("6 in 3600 s"), "\(page.text)")
  }
}
