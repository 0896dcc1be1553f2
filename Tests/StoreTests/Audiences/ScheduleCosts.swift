import Audience
import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("What messages for later cost")
struct ScheduleCosts {
  @Test("held over 24 zones, an audience costs Redis at most two bytes a member; scheduled, its message alone")
  func bytes() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      // A partition's part of a million devices.
      let count = 62_500
      var submission = Submission(
        app: shop, body: Array("{}".utf8), kind: .alert, urgency: .bulk, acceptedAt: loop.wallNow)
      submission.audience = SubmissionAudience(expression: "everyone", reach: .allDevices, counts: [0: count])
      submission.schedule = Schedule(startAt: loop.wallNow + ScheduleStories.hour)
      let waiting = try #require(try await store.acceptance.accept(submission).id)
      func bytes(_ keys: [String]) async throws -> Int64 {
        var sum: Int64 = 0
        for key in keys { sum += try await store.session.ask(RedisCommand("MEMORY", "USAGE", key)).integer ?? 0 }
        return sum
      }
      let alone = try await bytes([store.session.keys.message(waiting), store.session.keys.scheduled(0)])
      #expect(alone > 0 && alone < 2_000)

      submission.schedule = nil
      let id = try #require(try await store.acceptance.accept(submission).id)
      let lease = try await store.take(0)
      let now = loop.wallNow
      var message = Message(to: .everyone, kind: .alert)
      message.sendAt = .local(LocalTime(seconds: now.seconds + 86_400))
      let plans = ZonePlans(
        try #require(Timing(message, AppClock(), ScheduleStories.book())), startedAt: now, life: 259_200_000, now: now)
      let zones = (0..<24).map { plans.zoneClass($0 < 12 ? "Etc/GMT+\($0)" : "Etc/GMT-\($0 - 11)") }
      #expect(Set(zones).count == 24)
      var groups: [AudienceGroup] = []
      var random = Seeded(seed: 7)
      var numbers = [[UInt32]](repeating: [], count: 48)
      for number in 0..<UInt32(count) { numbers[Int.random(in: 0..<48, using: &random)].append(number) }
      for (place, numbers) in numbers.enumerated() {
        var group = AudienceGroup(
          route: RouteClass(provider: .apns, environment: .production, tokenKind: .device),
          platform: place < 24 ? "ios" : "ipados", numbers: numbers)
        group.zoneClass = zones[place % 24]
        groups.append(group)
      }
      let stored = try #require(try await store.queue.message(id))
      try await store.audienceStarts.start(lease, stored, groups, now: now, plans: plans, route: Crowd.route)
      let held = try await bytes(
        [
          store.session.keys.work(0, id), store.session.keys.snapshot(0, id), store.session.keys.codes(0, id),
          store.session.keys.starts(0),
        ])
      #expect(held <= Int64(2 * count), "\(held) bytes for \(count) members")
      #expect(try await store.claimAll(lease).isEmpty)
    }
  }
}
