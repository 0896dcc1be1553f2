import Domain
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "an audience is counted, sent, and the vendors saw exactly its devices: a small one, a large one, OneSignal's own")
  func audience() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    var lines = ""
    for number in 0..<900 {
      let tags = (number < 700 ? #""plan:pro""# : #""plan:free""#) + (number % 7 == 0 ? #","churned""# : "")
      let language = number % 3 == 0 ? "de-AT" : "fr"
      let token =
        number % 2 == 0
        ? #""provider":"apns","token":"\#(Tokens.apns(number))""#
        : #""provider":"fcm","token":"\#(Tokens.fcm(number))""#
      lines += #"{"id":"d\#(number)",\#(token),"language":"\#(language)","tags":[\#(tags)]}"# + "\n"
    }
    let imported = try await gateway.client.call(
      "POST", "/v1/devices/bulk", lines, headers: [.init("content-type", "application/x-ndjson")])
    #expect(imported.status == 200, "\(imported.text.prefix(500))")
    func tokens(_ fits: (Int) -> Bool) -> Set<String> {
      Set((0..<900).filter(fits).map { $0 % 2 == 0 ? Tokens.apns($0) : Tokens.fcm($0) })
    }

    var seen = Set<String>()
    var batched = 0
    for (expression, members) in [
      ("plan:pro && lang:de && !churned", tokens { $0 < 700 && $0 % 3 == 0 && $0 % 7 != 0 }),
      ("plan:pro && !churned", tokens { $0 < 700 && $0 % 7 != 0 }),
    ] {
      let count = try await gateway.client.post("/v1/audiences/count", #"{"audience":"\#(expression)"}"#)
      #expect(count.json["total"]?.integer == Int64(members.count), "\(count.text)")
      let before = try await world.sandbox.log().count
      let id = try await gateway.send(
        #"{"to":{"audience":"\#(expression)"},"notification":{"body":"For you"}}"#)
      let report = try await gateway.completed(id)
      #expect(report["outcomes"]?["accepted"]?.integer == Int64(members.count), "\(report)")
      // Where no record is kept of a success, it tells when its batch went.
      let accepted = try #require(report["accepted_at"]?.string)
      #expect(report["first_attempt_at"]?.string.map { accepted <= $0 } == true, "\(report)")
      let earlier = batched
      for delivery in try await gateway.deliveries(id) {
        guard let earliest = delivery["earliest_attempt_at"]?.string else {
          #expect(delivery["attempts"]?.array?.isEmpty == false, "\(delivery)")
          continue
        }
        let latest = try #require(delivery["latest_attempt_at"]?.string, "\(delivery)")
        #expect(accepted <= earliest && earliest <= latest, "\(delivery)")
        #expect(delivery["attempts"]?.array?.isEmpty == true)
        batched += 1
      }
      let tool = Tool(gateway: gateway, world: world)
      let table = try await tool.run("messages", "deliveries", id, "--limit", "1000").split(separator: "\n")
      let ranges = table.filter { $0.contains(/\taccepted\t\t\t\t\S+Z(–\S+Z)?$/) }
      #expect(ranges.count == batched - earlier, "\(table.prefix(5))")
      #expect(!table.contains { $0.contains("\taccepted\t\t0\t") }, "\(table.prefix(5))")
      let entries = try await world.sandbox.log().dropFirst(before)
      #expect(difference(entries.map(\.token), from: members) == nil, "\(expression): each once, and nobody else")
      seen.formUnion(members)
    }
    #expect(seen.count < 700)
    #expect(batched > 0)
    let kept = try await gateway.send(
      #"{"to":{"audience":"plan:free"},"notification":{"body":"For the record"},"keep_receipts":true}"#)
    _ = try await gateway.completed(kept)
    for delivery in try await gateway.deliveries(kept) {
      #expect(delivery["attempts"]?.array?.count == 1 && delivery["earliest_attempt_at"] == nil, "\(delivery)")
    }

    let before = try await world.sandbox.log().count
    let id = try await gateway.send(
      #"{"to":{"audience":"plan:pro && !churned"},"notification":{"body":"Hello"},"providers":["onesignal"],"onesignal_targeting":"provider"}"#
    )
    let report = try await gateway.completed(id)
    #expect(report["outcomes"]?["accepted"]?.integer == 1, "\(report)")
    let entries = try await world.sandbox.log().dropFirst(before)
    #expect(entries.map(\.token) == ["filters"])
    let body = try JSON.parse(Array((entries.first?.body ?? "").utf8))
    let filters =
      #"[{"field":"tag","key":"plan","relation":"=","value":"pro"},{"field":"tag","key":"churned","relation":"not_exists"}]"#
    #expect(body["filters"] == (try JSON.parse(Array(filters.utf8))), "\(body)")
    try await gateway.metricsAgreeWithReports()
  }
}
