import Domain
import JSON
import Support
import Testing

/// Where a delivery is when it has no time left. A first attempt may begin within ten seconds, however short the `ttl`.
extension Journeys {
  private static func alert(_ tokens: [String], ttl: Int) -> String {
    #"""
    {"to":{"tokens":[\#(Tokens.targets("apns", tokens))]},"kind":"alert","notification":{"body":"Hi"},"ttl":\#(ttl),
     "ordered":true}
    """#
  }

  private func expectExpired(_ id: String, _ count: Int, by gateway: Gateway) async throws {
    let message = try await gateway.completed(id)
    #expect(message["outcomes"]?["expired"]?.integer.map(Int.init) == count, "\(message)")
  }

  @Test("what no worker was there for expires unsent once one comes, in a small message and in a large one")
  func expiredUnclaimed() async throws {
    let world = try await World()
    let api = try await world.gateway(["--api-only"])
    let small = try await api.send(Self.alert([Tokens.apns(1)], ttl: 1))
    let large = try await api.send(Self.alert((100..<900).map(Tokens.apns), ttl: 1))
    let lasting = try await api.send(Self.alert([Tokens.apns(2)], ttl: 3_600))
    try await Task.sleep(for: .seconds(11))
    let worker = try await world.worker()
    try await expectExpired(small, 1, by: api)
    try await expectExpired(large, 800, by: api)
    _ = try await api.completed(lasting)
    #expect(try await world.sandbox.log().map(\.token) == [Tokens.apns(2)])
    #expect(worker.process.isRunning)
  }

  @Test("what waits in its token's lane, or for its retry, expires with its last reason and is not sent afterwards")
  func expiredClaimed() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    let (slow, failing) = (Tokens.apns(1), Tokens.apns(2))
    try await world.sandbox.play(
      #"""
      [{"provider":"apns","token":"\#(slow)","times":1,"delay_ms":15000,"when":"after"},
       {"provider":"apns","token":"\#(failing)","status":503,"reason":"ServiceUnavailable"}]
      """#)
    // A new connection to APNs has one stream until its first answer.
    _ = try await gateway.completed(try await gateway.send(Self.alert([Tokens.apns(3)], ttl: 3_600)))
    let first = try await gateway.send(Self.alert([slow], ttl: 3_600))
    try await gateway.until("a request at work") { try await $0.metric("fanfare_requests_at_work") == 1 }
    let behind = try await gateway.send(Self.alert([slow], ttl: 1))
    let retried = try await gateway.send(Self.alert([failing], ttl: 1))
    try await gateway.until("both claimed") { try await $0.metric("fanfare_claimed_jobs_total") >= 4 }
    try await expectExpired(retried, 1, by: gateway)
    let retry = try #require(try await gateway.deliveries(retried).first)
    #expect(retry["reason"]?.string == "ServiceUnavailable", "\(retry)")
    try await expectExpired(behind, 1, by: gateway)
    _ = try await gateway.completed(first)
    #expect(try await world.sandbox.log().count { $0.token == slow } == 1)
  }

  @Test(
    "what waits for a refused credential expires with its reason: what memory holds, what it has no room for, and members of an audience"
  )
  func expiredSuspended() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    try await world.sandbox.play(#"[{"provider":"apns","status":403,"reason":"InvalidProviderToken"}]"#)
    _ = try await gateway.send(Self.alert([Tokens.apns(1)], ttl: 3_600))
    try await gateway.until("the suspension") {
      try await $0.client.get("/readyz").text.contains("InvalidProviderToken")
    }
    let members = (20_000..<20_600).map(Tokens.apns)
    let lines = members.map { #"{"provider":"apns","token":"\#($0)","tags":["crowd"]}"# }.joined(separator: "\n")
    let imported = try await gateway.client.post(
      "/v1/devices/bulk", lines, headers: [Header("content-type", "application/x-ndjson")])
    #expect(imported.status == 200, "\(imported.text)")
    let before = try await gateway.metric("fanfare_claimed_jobs_total")
    let crowd = try await gateway.send(
      #"{"to":{"audience":"crowd"},"kind":"alert","notification":{"body":"Hi"},"ttl":20}"#)
    try await gateway.until("members in memory") { try await $0.metric("fanfare_claimed_jobs_total") > before }
    var ids: [String] = []
    for part in 0..<12 {
      let from = 1_000 + part * 1_000
      ids.append(try await gateway.send(Self.alert((from..<from + 1_000).map(Tokens.apns), ttl: 3)))
    }
    for id in ids { try await expectExpired(id, 1_000, by: gateway) }
    try await expectExpired(crowd, members.count, by: gateway)
    for id in ids + [crowd] {
      let reasons = Set(try await gateway.deliveries(id).map { $0["reason"]?.string ?? "" })
      #expect(reasons == ["InvalidProviderToken"], "\(id == crowd): \(reasons)")
    }
    #expect(try await world.sandbox.log().allSatisfy { !$0.accepted })
  }
}
