import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "two capped campaigns at once, by local time, with variants and a holdout, and a worker killed in the middle: nobody is recorded with both, and every sum is exact"
  )
  func cappedWaves() async throws {
    let world = try await World(more: #"workers: { lease: "2s", drain: "2s" },"#)
    let gateway = try await world.gateway(["--api-only"])
    let worker = try await world.worker()
    let zones = ["Etc/GMT-1", "Etc/GMT", "Etc/GMT+1"]
    let count = 1_800
    let lines = (0..<count).map {
      #"{"id":"d\#($0)","provider":"apns","token":"\#(Tokens.apns($0))","tz":"\#(zones[$0 % 3])"}"#
    }
    let imported = try await gateway.client.call(
      "POST", "/v1/devices/bulk", lines.joined(separator: "\n"),
      headers: [.init("content-type", "application/x-ndjson")])
    #expect(imported.status == 200)
    try await world.sandbox.play(#"[{"provider":"apns","delay_ms":100,"when":"after"}]"#)

    // The first zone at once, the second in three seconds, the third in an hour.
    let now = Int64(Date().timeIntervalSince1970)
    let local = String(WallTime(seconds: now + 3).rfc3339.prefix(19))
    func message(_ title: String) -> String {
      #"""
      {"to":{"everyone":true},"notification":{"title":"\#(title)"},"topic":"offers","cap":{"max":1,"per":"week"},
       "variants":[{"name":"a","weight":45},{"name":"b","weight":45,"notification":{"title":"\#(title)!"}}],"holdout":10,
       "rate_per_second":300,"send_at_local":"\#(local)"}
      """#
    }
    let ids = [try await gateway.send(message("one")), try await gateway.send(message("two"))]
    _ = try await world.sandbox.accepted(atLeast: 250)
    await worker.process.destroy()
    let heir = try await world.worker()
    // The first two zones end now.
    for id in ids {
      try await gateway.until("the end of two zones") {
        try await $0.deliveries(id).allSatisfy {
          $0["state"]?.string != "pending" || (Int(($0["device"]?.string ?? "").dropFirst()) ?? 0) % 3 == 2
        }
      }
    }
    #expect(heir.process.isRunning)
    for id in ids { _ = try await gateway.client.post("/v1/messages/\(id)/cancel", "") }

    var ends: [String: [String]] = [:]
    var capped = 0
    for id in ids {
      let report = try await gateway.completed(id)
      let deliveries = try await gateway.deliveries(id)
      #expect(deliveries.count == count)
      var sums: [String: Int] = [:]
      for delivery in deliveries {
        let device = delivery["device"]?.string ?? ""
        let end = delivery["reason"]?.string ?? delivery["state"]?.string ?? ""
        sums[end, default: 0] += 1
        ends[device, default: []].append(end)
        #expect(delivery["variant"] == nil || end != "holdout", "\(delivery)")
        #expect((delivery["state"]?.string == "skipped") == (end == "capped" || end == "holdout"), "\(delivery)")
      }
      let outcomes = report["outcomes"]
      #expect(outcomes?["accepted"]?.integer == sums["accepted"].map { Int64($0) }, "\(report)")
      #expect(outcomes?["skipped"]?.integer == Int64(sums["capped", default: 0] + sums["holdout", default: 0]))
      #expect(outcomes?["cancelled"]?.integer == sums["cancelled"].map { Int64($0) }, "\(report)")
      // One in ten: 180, give or take five times its deviation.
      #expect((110...250).contains(sums["holdout", default: 0]), "\(sums)")
      capped += sums["capped", default: 0]
    }
    // Which of the two comes first to a device is chance; of two in three devices, all but the holdouts, one of them is capped.
    #expect((count / 2..<count * 2 / 3).contains(capped), "\(capped)")
    let allowed: Set<[String]> = [
      ["accepted", "capped"], ["accepted", "holdout"], ["holdout", "holdout"], ["cancelled", "cancelled"],
      ["cancelled", "holdout"],
    ]
    for number in 0..<count {
      let pair = ends["d\(number)", default: []].sorted()
      #expect(allowed.contains(pair) && (pair.contains("cancelled") ? number % 3 == 2 : true), "d\(number): \(pair)")
      if number % 3 == 2 { #expect(!pair.contains("accepted"), "it is not its time: d\(number)") }
    }
    let tokens = Set(try await world.sandbox.log().filter(\.accepted).map(\.token))
    #expect(tokens.isDisjoint(with: (0..<count).filter { $0 % 3 == 2 }.map(Tokens.apns)))
  }
}
