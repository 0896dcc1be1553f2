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
    let (rate, appRate, count) = (300, 400, 6_000)
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
    func devices(_ numbers: Range<Int>) -> String {
      numbers.map { #"{"id":"d\#($0)","provider":"apns","token":"\#(Tokens.apns($0))"}"# + "\n" }.joined()
    }
    let imported = try await api.client.call(
      "POST", "/v1/devices/bulk", devices(0..<count), headers: [.init("content-type", "application/x-ndjson")])
    #expect(imported.status == 200)

    let campaign = try await api.send(
      #"{"to":{"everyone":true},"notification":{"title":"campaign"},"rate_per_second":\#(rate)}"#)
    let alone = try await world.sandbox.accepted(atLeast: rate * 12).map(\.time)
    // Lists that come now take what the app's rate leaves.
    let tokens = (0..<3_000).map { Tokens.apns(20_000 + $0) }
    let lists = try await api.send(
      #"{"to":{"tokens":[\#(Tokens.targets("apns", tokens))]},"notification":{"title":"list"}}"#)
    for id in [campaign, lists] { _ = try await api.completed(id) }
    let log = try await world.sandbox.log().filter(\.accepted)
    #expect(log.count == count + 3_000 && Set(log.map(\.token)).count == log.count)
    for worker in workers { #expect(try await worker.metric("fanfare_attempts_total") > 1_000, "both have sent") }

    let ofCampaign = log.filter { $0.body.contains("campaign") }.map(\.time).sorted()
    let ofLists = log.filter { $0.body.contains("list") }.map(\.time).sorted()
    let all = log.map(\.time).sorted()
    #expect(all[all.count - 1] - all[0] > 20_000)
    #expect(Self.fullest(ofCampaign) <= rate * 10)
    #expect(Self.fullest(all) <= appRate * 10)
    #expect(Self.emptiest(alone.sorted()) >= rate * 10 * 95 / 100)
    let together = all.filter { $0 >= ofLists[0] && $0 <= min(ofLists[2_999], ofCampaign[count - 1]) }
    #expect(Self.emptiest(together) >= appRate * 10 * 95 / 100)
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

  /// The fewest in any ten seconds between the first and the last.
  private static func emptiest(_ times: [Int64]) -> Int {
    var (end, least) = (0, Int.max)
    for place in times.indices {
      // Behind one and up to ten seconds behind it.
      while end < times.count, times[end] <= times[place] + window { end += 1 }
      guard end < times.count else { break }
      least = min(least, end - place - 1)
    }
    return least
  }
}
