import Domain
import Foundation
import JSON
import Support
import Testing

extension Journeys {
  /// Two processes that only send, and one that only accepts, with what their provider saw and when.
  @Test(
    "a message's rate and an app's rate hold exactly over any ten seconds with two worker processes, and hardly less is sent"
  )
  func pace() async throws {
    let (rate, appRate, count, listed) = (100, 150, 2_000, 1_800)
    let world = try await World()
    // The app's rate is read when a process starts.
    let file = world.directory.file("fanfare.json5")
    let text = try String(contentsOf: file, encoding: .utf8)
    try text.replacing(#"id: "shop","#, with: #"id: "shop", rate_per_second: \#(appRate),"#).write(
      to: file, atomically: true, encoding: .utf8)
    let api = try await world.gateway(["--api-only"])
    let workers = [try await world.worker(), try await world.worker()]
    for worker in workers {
      try await worker.until("half of the partitions") { try await $0.metric("fanfare_partitions_owned") == 8 }
    }
    let devices = (0..<count).map { #"{"id":"d\#($0)","provider":"apns","token":"\#(Tokens.apns($0))"}"# }
    let imported = try await api.client.call(
      "POST", "/v1/devices/bulk", devices.joined(separator: "\n"),
      headers: [.init("content-type", "application/x-ndjson")])
    #expect(imported.status == 200)

    let campaign = try await api.send(
      #"{"to":{"everyone":true},"notification":{"title":"campaign"},"keep_receipts":true,"rate_per_second":\#(rate)}"#)
    let alone = try await world.sandbox.accepted(atLeast: rate * 12 + rate / 2).map(\.time)
    func lost() async throws -> Int {
      var sum = 0
      for worker in workers { sum += try await worker.metric("fanfare_rate_lost_total") }
      return sum
    }
    let lostAlone = try await lost()
    // A list that comes now waits for the app's rate alone, before members that still wait for the campaign's.
    let some = (0..<listed).map { #""d\#($0)""# }.joined(separator: ",")
    let list = try await api.send(
      #"{"to":{"devices":[\#(some)]},"notification":{"title":"list"},"keep_receipts":true}"#)
    for id in [campaign, list] { _ = try await api.completed(id) }
    for worker in workers { #expect(try await worker.metric("fanfare_attempts_total") > 300, "both have sent") }
    let log = try await world.sandbox.log().filter(\.accepted)
    #expect(log.count == count + listed)
    #expect(log[log.count - 1].time - log[0].time > 20_000)

    // When each request went, by its own record.
    var went: [String: [String: Int64]] = [:]
    for (title, id) in [("campaign", campaign), ("list", list)] {
      for delivery in try await api.deliveries(id) {
        let at = try #require(delivery["attempts"]?.array?.first?["attempted_at"]?.string, "\(delivery)")
        let number = Int((delivery["device"]?.string ?? "").dropFirst()) ?? 0
        went[title, default: [:]][Tokens.apns(number)] = WallTime(rfc3339: at)?.milliseconds
      }
    }
    func sorted(_ title: String?) -> [Int64] {
      went.filter { title == nil || $0.key == title }.flatMap(\.value.values).sorted()
    }
    #expect(sorted(nil).count == count + listed)
    #expect(Self.fullest(sorted("campaign")) <= rate * 10)
    #expect(Self.fullest(sorted(nil)) <= appRate * 10)
    // By the provider's clock as well, but for what the machine held up on the way for longer than the rate has room for.
    let prompt = log.filter { entry in
      let title = entry.body.contains("campaign") ? "campaign" : "list"
      return entry.time - (went[title]?[entry.token] ?? 0) <= 50
    }
    #expect(Self.fullest(prompt.filter { $0.body.contains("campaign") }.map(\.time).sorted()) <= rate * 10)
    #expect(Self.fullest(prompt.map(\.time).sorted()) <= appRate * 10)
    // From where all partitions have begun with it. What a slow machine takes from a rate, which may not be passed to make up
    // for that, is counted: the rest is all there.
    let begun = (alone.min() ?? 0) + 1_000
    #expect(Self.usual(alone.filter { $0 >= begun }.sorted()) + lostAlone >= rate * 10 * 95 / 100)
    let first = log.first { $0.body.contains("list") }?.time ?? 0
    let last = log.last { $0.body.contains("list") }?.time ?? 0
    let end = log.last { $0.body.contains("campaign") }?.time ?? 0
    let together = log.map(\.time).filter { $0 >= first + 1_000 && $0 <= min(last, end) }.sorted()
    #expect((together.last ?? 0) - (together.first ?? 0) > Self.window)
    #expect(Self.usual(together) + (try await lost()) >= appRate * 10 * 95 / 100)
  }

  private static let window: Int64 = 10_000

  /// The most of these times, in ascending order, in any ten seconds.
  private static func fullest(_ times: [Int64]) -> Int {
    var (first, most) = (0, 0)
    for place in times.indices {
      while times[place] - times[first] >= window { first += 1 }
      most = max(most, place - first + 1)
    }
    return most
  }

  /// How many in ten seconds, in the middle of all such windows: where one begins or ends while the machine holds things up,
  /// it has as many fewer as another has more.
  private static func usual(_ times: [Int64]) -> Int {
    var end = 0
    var counts: [Int] = []
    for place in times.indices {
      // Behind one and up to ten seconds behind it.
      while end < times.count, times[end] <= times[place] + window { end += 1 }
      guard end < times.count else { break }
      counts.append(end - place - 1)
    }
    return counts.isEmpty ? 0 : counts.sorted()[counts.count / 2]
  }
}
