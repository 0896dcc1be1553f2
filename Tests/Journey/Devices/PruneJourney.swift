import Domain
import JSON
import Support
import Testing

extension Journeys {
  @Test("410 prunes a device that registered before it, and keeps one that registered after it")
  func timestampRule() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    for (name, number) in [("old", 1), ("fresh", 2)] {
      _ = try await gateway.client.put(
        "/v1/devices/\(name)", #"{"provider":"apns","token":"\#(Tokens.apns(number))"}"#)
    }
    try await world.sandbox.play(
      """
      [{"provider":"apns","token":"*1","status":410,"reason":"Unregistered","timestamp":4102444800000},
       {"provider":"apns","token":"*2","status":410,"reason":"Unregistered","timestamp":1262304000000}]
      """)
    let id = try await gateway.send(
      #"{"to":{"devices":["old","fresh"]},"kind":"alert","notification":{"body":"Still there?"}}"#)
    _ = try await gateway.completed(id)
    let old = try await gateway.client.get("/v1/devices/old").json
    let fresh = try await gateway.client.get("/v1/devices/fresh").json
    #expect(old["tombstone"]?["reason"]?.string == "Unregistered", "\(old)")
    #expect(fresh["tombstone"] == nil || fresh["tombstone"] == .null, "\(fresh)")

    // The dead one is not tried again …
    try await world.sandbox.play("[]")
    let second = try await gateway.send(
      #"{"to":{"devices":["old","fresh"]},"kind":"alert","notification":{"body":"Again"}}"#)
    _ = try await gateway.completed(second)
    var states = Dictionary(
      uniqueKeysWithValues: try await gateway.deliveries(second).map {
        ($0["device"]?.string ?? "", $0["state"]?.string ?? "")
      })
    #expect(states == ["old": "dead", "fresh": "accepted"])

    // … until it registers again.
    _ = try await gateway.client.put("/v1/devices/old", #"{"provider":"apns","token":"\#(Tokens.apns(1))"}"#)
    let third = try await gateway.send(
      #"{"to":{"devices":["old"]},"kind":"alert","notification":{"body":"Back"}}"#)
    _ = try await gateway.completed(third)
    states = Dictionary(
      uniqueKeysWithValues: try await gateway.deliveries(third).map {
        ($0["device"]?.string ?? "", $0["state"]?.string ?? "")
      })
    #expect(states == ["old": "accepted"])
    try await gateway.metricsAgreeWithReports()
  }

  @Test("37 dead tokens of 2,777 put no brake on a first campaign: they are pruned, and the others are reached")
  func fewDead() async throws {
    let world = try await World()
    try world.installAsShipped()
    let gateway = try await world.gateway()
    let lines = (0..<2_777).map { #"{"provider":"apns","token":"\#(Tokens.apns($0))"}"# }.joined(separator: "\n")
    let imported = try await gateway.client.post(
      "/v1/devices/bulk", lines, headers: [Header("content-type", "application/x-ndjson")])
    #expect(imported.status == 200, "\(imported.text.prefix(500))")
    // One after the other, in the middle of the campaign.
    try await world.sandbox.play(
      #"[{"provider":"apns","after":1000,"times":37,"status":410,"reason":"Unregistered","timestamp":4102444800000}]"#)
    let id = try await gateway.send(#"{"to":{"everyone":true},"kind":"alert","notification":{"body":"All"}}"#)
    let outcomes = try await gateway.completed(id)["outcomes"]
    #expect(outcomes?["accepted"]?.integer == 2_740 && outcomes?["dead"]?.integer == 37, "\(outcomes ?? .null)")
    try await gateway.until("the prunes") { try await $0.metric("fanfare_pruned_total") == 37 }
    let prunes = try await gateway.client.get("/v1/prunes")
    #expect(prunes.json["items"]?.array?.allSatisfy { $0["held"]?.integer == 0 } == true, "\(prunes.text)")
    #expect(try await gateway.metric("fanfare_prune_brakes_total") == 0)
    let left = try await gateway.client.post("/v1/audiences/count", #"{"everyone":true}"#)
    #expect(left.json["total"]?.integer == 2_740, "\(left.text)")
  }

  @Test("one token in five is called malformed: all are pruned when the send has ended, without another one")
  func doubtfulAtTheEnd() async throws {
    let world = try await World()
    try world.installAsShipped(more: "quotas: { fcm: { per_minute: 0 } },")
    let gateway = try await world.gateway()
    let count = 3_000
    let lines = (0..<count).map { number in
      #"{"id":"f\#(number)","provider":"fcm","token":"\#(number % 5 == 0 ? "old-" : "")\#(Tokens.fcm(number))"}"#
    }
    let imported = try await gateway.client.post(
      "/v1/devices/bulk", lines.joined(separator: "\n"), headers: [Header("content-type", "application/x-ndjson")])
    #expect(imported.status == 200, "\(imported.text.prefix(500))")
    let warm = try await gateway.send(#"{"to":{"everyone":true},"kind":"alert","notification":{"body":"Warm"}}"#)
    #expect(try await gateway.completed(warm)["outcomes"]?["accepted"]?.integer == Int64(count))
    try await world.sandbox.play(
      #"[{"provider":"fcm","token":"old-*","status":400,"reason":"INVALID_ARGUMENT"}]"#)
    let id = try await gateway.send(#"{"to":{"everyone":true},"kind":"alert","notification":{"body":"All"}}"#)
    #expect(try await gateway.completed(id)["outcomes"]?["dead"]?.integer == Int64(count / 5))
    try await gateway.until("the prunes") { try await $0.metric("fanfare_pruned_total") == count / 5 }
    #expect(try await gateway.metric("fanfare_prunes_waiting") == 0)
    #expect(try await gateway.metric("fanfare_prune_brakes_total") == 0)
    let left = try await gateway.client.post("/v1/audiences/count", #"{"everyone":true}"#)
    #expect(left.json["total"]?.integer == Int64(count * 4 / 5), "\(left.text)")
  }

  @Test("a wrong key suspends the credential, prunes nothing, and the deliveries go out once it is mended")
  func blockedCredential() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    _ = try await gateway.client.put("/v1/devices/phone", #"{"provider":"apns","token":"\#(Tokens.apns(1))"}"#)
    try await world.sandbox.play(#"[{"provider":"apns","status":403,"reason":"InvalidProviderToken"}]"#)
    let id = try await gateway.send(
      #"{"to":{"devices":["phone"]},"kind":"alert","ttl":86400,"notification":{"body":"Wait"}}"#)
    while true {
      let delivery = try await gateway.deliveries(id).first
      if delivery?["state"]?.string == "blocked" {
        #expect(delivery?["reason"]?.string == "InvalidProviderToken")
        break
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    let phone = try await gateway.client.get("/v1/devices/phone").json
    #expect(phone["tombstone"] == nil || phone["tombstone"] == .null)
    #expect(try await gateway.client.get("/readyz").text.contains("InvalidProviderToken"))
    try await world.sandbox.play("[]")
    let report = try await gateway.completed(id)
    #expect(report["state"]?.string == "completed")
    #expect(try await gateway.deliveries(id).first?["state"]?.string == "accepted")
    try await gateway.metricsAgreeWithReports()
  }
}
