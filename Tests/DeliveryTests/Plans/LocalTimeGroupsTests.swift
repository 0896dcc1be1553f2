import Audience
import Domain
import Foundation
import Loop
import Store
import Testing

@testable import Delivery

@Suite("Members of an audience by their own clocks")
struct LocalTimeGroupsTests {
  @Test("members whose time is the same go together; who is early, late or in quiet hours is told apart")
  func apart() async throws {
    var settings = Post.quick()
    settings.partitions = 1
    try await withPost(settings: settings) { post in
      // Two hours ahead, at the fallback zone, one that tells none, one that means nothing, two hours behind.
      let zones = ["Etc/GMT-2", "Etc/GMT", nil, "Mars/Olympus", "Etc/GMT+2"]
      let count = 50
      try await post.register(count) { device, number in device.timeZone = zones[number % zones.count] }
      let id = try await post.sendToAll(PlainMessage(title: "x"), count)
      let lease = try #require(try await post.store.leases.take(0))
      let stored = try #require(try await post.store.queue.message(id))
      try await post.store.audienceStarts.start(
        lease, stored,
        selection: AudienceSelection(
          expression: try AudienceExpression(parsing: "everyone"), reach: .allDevices, providers: nil),
        now: post.loop.wallNow, timing: nil, capped: nil, route: Post.route)
      let stream = try #require(try await post.store.queue.readyStreams(lease).first?.stream)
      let job = try #require(
        try await post.store.queue.claim(lease, stream, after: nil, jobs: 1, targets: count, packed: true).first)
      let members = try #require(job.members)
      #expect(members.count == count)

      let day = WallTime(seconds: 1_800_000_000 / 86_400 * 86_400)
      func clock(_ hours: Int64) -> WallTime { day + hours * 3_600_000 }
      var message = Message(to: .everyone, kind: .alert)
      message.sendAt = .local(LocalTime(seconds: clock(9).seconds))
      message.quietHours = .own(QuietHours(from: 22 * 60, to: 8 * 60))
      let book = ZoneBook { name in
        (try? Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/\(name)"))).map { Array($0) }
      }
      let timing = try #require(Timing(message, AppClock(fallbackZone: "Etc/GMT"), book))
      let loaded = LoadedMessage(stored, content: message, timing: timing)
      #expect(loaded.takesFastPath)

      func zone(_ place: Int) throws -> String? { try #require(members.member(at: place).facts).timeZone }
      func at(_ hours: Int64) throws -> [WallTime: (count: Int, until: WallTime?)] {
        let (groups, others) = LocalTimeGroups.of(members, loaded, now: clock(hours))
        let places = groups.flatMap(\.places) + others
        #expect(places.sorted() == Array(0..<count))
        for group in groups {
          for place in group.places { #expect(timing.start(try zone(place)) == group.message.startedAt) }
          #expect(group.message.id == id && group.places == group.places.sorted())
          let picked = members.picked(group.places)
          #expect(picked.count == group.places.count)
          #expect((0..<picked.count).map { picked.id(at: $0) } == group.places.map { members.id(at: $0) })
        }
        for place in others { #expect(timing.decide(try zone(place), now: clock(hours)) != .go) }
        return Dictionary(uniqueKeysWithValues: groups.map { ($0.message.startedAt, ($0.places.count, $0.until)) })
      }
      #expect(try at(6).isEmpty)
      let early = try at(8)
      #expect(early.count == 1 && early[clock(7)]?.count == 10 && early[clock(7)]?.until == clock(20))
      let noon = try at(12)
      #expect(noon.mapValues(\.count) == [clock(7): 10, clock(9): 30, clock(11): 10])
      #expect(noon.mapValues(\.until) == [clock(7): clock(20), clock(9): clock(22), clock(11): clock(24)])
      #expect(try at(20).mapValues(\.count) == [clock(9): 30, clock(11): 10])
      #expect(try at(24).isEmpty)
      post.store.close()
    }
  }
}
