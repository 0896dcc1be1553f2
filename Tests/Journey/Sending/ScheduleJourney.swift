import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  @Test(
    "messages for later: at their time and not before, by each device's own clock, moved, cancelled, held by quiet hours and capped"
  )
  func scheduled() async throws {
    let world = try await World()
    let gateway = try await world.gateway()
    // `date`: the local time that it is now, a whole second, in zones an hour apart.
    func local(_ time: WallTime, hours: Int64) -> String {
      String((time + hours * 3_600_000).rfc3339.prefix(19))
    }
    let zones = ["Etc/GMT-1", "Etc/GMT", "Etc/GMT+1"]
    var lines = ""
    for number in 0..<30 {
      lines +=
        #"{"id":"d\#(number)","provider":"apns","token":"\#(Tokens.apns(number))","tz":"\#(zones[number % 3])"}"# + "\n"
    }
    let imported = try await gateway.client.call(
      "POST", "/v1/devices/bulk", lines, headers: [.init("content-type", "application/x-ndjson")])
    #expect(imported.status == 200)
    func tokens(_ zone: Int) -> Set<String> { Set((0..<30).filter { $0 % 3 == zone }.map { Tokens.apns($0) }) }
    func now() -> WallTime { WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }

    // A fixed time: a direct send and an audience.
    let at = now() + 2_000
    let direct = try await gateway.send(
      #"{"to":{"devices":["d1"]},"notification":{"title":"T"},"send_at":"\#(at.rfc3339)"}"#)
    let everybody = try await gateway.send(
      #"{"to":{"everyone":true},"notification":{"title":"E"},"send_at":"\#(at.rfc3339)"}"#)
    let moved = try await gateway.send(
      #"{"to":{"devices":["d2"]},"notification":{"title":"M"},"send_at":"\#((now() + 86_400_000).rfc3339)"}"#)
    let given = try await gateway.send(
      #"{"to":{"everyone":true},"notification":{"title":"G"},"send_at":"\#((now() + 86_400_000).rfc3339)"}"#)
    for id in [direct, everybody, moved, given] {
      let report = try await gateway.client.get("/v1/messages/\(id)").json
      #expect(report["state"] == .string("scheduled"), "\(report)")
      #expect(report["starts_at"] != nil && report["version"] == .integer(1))
    }
    let patched = try await gateway.client.call(
      "PATCH", "/v1/messages/\(moved)", #"{"send_at":"\#(at.rfc3339)","version":1}"#)
    #expect(patched.status == 200 && patched.json["version"] == .integer(2), "\(patched.text)")
    let stale = try await gateway.client.call(
      "PATCH", "/v1/messages/\(moved)", #"{"send_at":"\#(at.rfc3339)","version":1}"#)
    #expect(stale.status == 409 && stale.json["code"] == .string("message_changed"), "\(stale.text)")
    let cancelled = try await gateway.client.post("/v1/messages/\(given)/cancel", "")
    #expect(cancelled.json["state"] == .string("cancelled"), "\(cancelled.text)")
    for (id, count) in [(direct, 1), (everybody, 30), (moved, 1)] {
      let report = try await gateway.completed(id)
      #expect(report["outcomes"]?["accepted"] == .integer(Int64(count)), "\(report)")
      let first = try #require(report["first_attempt_at"]?.string ?? report["completed_at"]?.string)
      #expect(try #require(WallTime(rfc3339: first)) >= at, "\(report)")
    }
    let late = try await gateway.client.call("PATCH", "/v1/messages/\(moved)", #"{"send_at":"\#(at.rfc3339)"}"#)
    #expect(late.status == 409 && late.json["code"] == .string("message_completed"), "\(late.text)")
    let ended = try await gateway.completed(given)
    #expect(ended["outcomes"]?["cancelled"] == .integer(30))
    #expect(cancelled.json["starts_at"] != nil && ended["starts_at"] == cancelled.json["starts_at"], "\(ended)")

    // By each device's clock: an hour ago in the first zone, in two seconds in the second, in an hour in the third.
    let before = try await world.sandbox.log().count
    let soon = WallTime(seconds: now().seconds + 3)
    let byClock = try await gateway.send(
      #"{"to":{"everyone":true},"notification":{"title":"L"},"send_at_local":"\#(local(soon, hours: 0))"}"#)
    var report = try await gateway.until(byClock) { $0["outcomes"]?["accepted"] == .integer(20) }
    let entries = try await world.sandbox.log().dropFirst(before)
    #expect(Set(entries.map(\.token)) == tokens(0).union(tokens(1)) && entries.count == 20)
    #expect(now() >= soon && report["state"] == .string("sending"), "\(report)")
    _ = try await gateway.client.post("/v1/messages/\(byClock)/cancel", "")
    report = try await gateway.until(byClock) { $0["outcomes"]?["cancelled"] == .integer(10) }
    let replay = try await gateway.client.post("/v1/messages/\(byClock)/replay", #"{"outcomes":["cancelled"]}"#)
    #expect(replay.status == 202 && replay.json["targets"] == .integer(10), "\(replay.text)")

    // The first clock on earth shows the time in two seconds, but nobody is there: it waits, and can still be moved.
    let earliest = WallTime(seconds: now().seconds + 2)
    let ahead = try await gateway.send(
      #"{"to":{"everyone":true},"notification":{"title":"A"},"send_at_local":"\#(local(earliest, hours: 14))"}"#)
    report = try await gateway.until(ahead) { _ in now() > earliest + 2_000 }
    #expect(report["state"] == .string("scheduled") && report["starts_at_zone"] == .string("Etc/GMT-1"), "\(report)")
    #expect(report["starts_at"] == .string((earliest + 13 * 3_600_000).rfc3339), "\(report)")
    let nearer = try await gateway.client.call(
      "PATCH", "/v1/messages/\(ahead)", #"{"send_at":"\#((now() + 1_000).rfc3339)"}"#)
    #expect(nearer.status == 200, "\(nearer.text)")
    #expect(try await gateway.completed(ahead)["outcomes"]?["accepted"] == .integer(30))

    // Quiet for an hour around now at Greenwich: skipped there, sent elsewhere.
    func clock(_ minutes: Int64) -> String {
      String(local(now() + minutes * 60_000, hours: 0).dropFirst(11).prefix(5))
    }
    let quiet = try await gateway.send(
      #"{"to":{"everyone":true},"notification":{"title":"Q"},"quiet_hours":{"from":"\#(clock(-20))","to":"\#(clock(20))","else":"skip"}}"#
    )
    report = try await gateway.completed(quiet)
    #expect(
      report["outcomes"]?["accepted"] == .integer(20) && report["outcomes"]?["skipped"] == .integer(10), "\(report)")

    // Two a day: of three at once to the same devices one is too many for each, and another topic is another count.
    let offer = #"{"to":{"everyone":true},"notification":{"title":"C"},"topic":"offers","cap":{"max":2,"per":"day"}}"#
    var accepted: Int64 = 0
    for id in [try await gateway.send(offer), try await gateway.send(offer), try await gateway.send(offer)] {
      let report = try await gateway.completed(id)
      accepted += report["outcomes"]?["accepted"]?.integer ?? 0
      let sum = (report["outcomes"]?["accepted"]?.integer ?? 0) + (report["outcomes"]?["skipped"]?.integer ?? 0)
      #expect(sum == 30, "\(report)")
    }
    #expect(accepted == 60)
    let other = try await gateway.send(offer.replacing("offers", with: "news"))
    #expect(try await gateway.completed(other)["outcomes"]?["accepted"] == .integer(30))
    try await gateway.metricsAgreeWithReports()
  }
}

extension Gateway {
  /// The message as soon as it is so.
  func until(_ id: String, within seconds: Double = Gateway.patience, _ condition: (JSONValue) -> Bool) async throws
    -> JSONValue
  {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while true {
      let report = try await client.get("/v1/messages/\(id)").json
      if condition(report) { return report }
      guard ContinuousClock.now < deadline else {
        throw ChildFailure(reason: "it never was so: \(report)\n\(process.text.suffix(4_000))")
      }
      try await Task.sleep(for: .milliseconds(30))
    }
  }
}
