import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Messages that wait at home longer than planned")
struct LaterStartStories {
  @Test(
    "paused before its time it waits at home, and can be moved; resumed it begins, and its ttl counts from that time"
  )
  func paused() async throws {
    try await withStore { store, loop in
      let now = loop.wallNow
      var leases: [Lease] = []
      for partition in 0..<4 { leases.append(try await store.take(partition)) }
      func begin(at hours: Int64) async throws {
        for lease in leases {
          _ = try await store.schedule.beginDue(lease, now: now + hours * ScheduleStories.hour, limit: 10)
        }
      }
      func accept() async throws -> MessageID {
        var message = submission(tokens: ["a1", "a2", "a3"], at: now)
        message.schedule = Schedule(startAt: now + ScheduleStories.hour)
        message.ttl = 3_600
        return try #require(try await store.acceptance.accept(message).id)
      }
      let (moved, left) = (try await accept(), try await accept())
      for id in [moved, left] { #expect(try await store.control.change(id, app: shop, .paused) == .changed) }
      try await begin(at: 1)
      var report = try #require(try await store.reports.report(moved, app: shop))
      #expect(report.state == .paused && report.version == 1 && report.startsAt == now + ScheduleStories.hour)
      #expect(
        try await store.schedule.reschedule(
          moved, app: shop, Schedule(startAt: now + 3 * ScheduleStories.hour), body: Array("{}".utf8), ttl: 3_600,
          version: 1)
          == .done)
      #expect(
        try await store.schedule.nextStart(leases[store.session.keys.home(left)]) == now + 2 * ScheduleStories.hour)
      // The ttl of the one that nobody moved is over, and so it cannot be moved any more.
      try await begin(at: 2)
      #expect(try await store.reports.report(left, app: shop)?.version == nil)
      #expect(try await store.queue.message(left)?.startedAt == now + ScheduleStories.hour)

      try await begin(at: 3)
      report = try #require(try await store.reports.report(moved, app: shop))
      #expect(report.state == .paused && report.version == 2 && report.startsAt == now + 3 * ScheduleStories.hour)
      // Who resumes it dies before its home knows.
      let home = store.session.keys.home(moved)
      _ = try await store.session.ask(
        Scripts.control, keys: [store.session.keys.message(moved), store.session.keys.controlled(home)],
        ["r", .bytes(moved.raw), "", ""])
      #expect(try await store.schedule.nextStart(leases[home]) == now + 4 * ScheduleStories.hour)
      try await store.sweep.run(leases[home], now: now)
      #expect(try await store.schedule.nextStart(leases[home]) == now + 3 * ScheduleStories.hour)
      try await begin(at: 3)
      #expect(try await store.reports.report(moved, app: shop)?.state == .queued)
      #expect(try await store.queue.message(moved)?.startedAt == now + 3 * ScheduleStories.hour)
      // One that is resumed before its time waits for it.
      let early = try await accept()
      for word in [Control.Word.paused, .running] { _ = try await store.control.change(early, app: shop, word) }
      try await begin(at: 0)
      #expect(try await store.reports.report(early, app: shop)?.state == .scheduled)
      #expect(try await store.schedule.nextStart(leases[store.session.keys.home(early)]) == now + ScheduleStories.hour)
    }
  }

  @Test("for local times it waits at home until the first of its devices has the time, and can be moved until then")
  func firstDevice() async throws {
    try await withStore { store, loop in
      let now = loop.wallNow
      for (name, zone) in [("a", "Etc/GMT-2"), ("b", "Etc/GMT+3"), ("c", nil), ("d", "Etc/GMT-9")] {
        var device = device(name, token: "0\(name)")
        device.timeZone = zone
        device.tags = name == "d" ? [] : ["in"]
        _ = try await store.devices.put(device, app: shop)
      }
      var message = submission(tokens: [], at: now)
      message.targets = []
      message.schedule = Schedule(
        startAt: now + ScheduleStories.hour, local: LocalTime(seconds: now.seconds + 15 * 3_600),
        first: FirstStart(time: now + 9 * ScheduleStories.hour, zone: "Etc/GMT-5"))
      message.audience = SubmissionAudience(
        expression: "in", reach: .allDevices, counts: Dictionary(uniqueKeysWithValues: (0..<4).map { ($0, 0) }))
      var list = submission(tokens: [], at: now)
      list.targets = ["a", "b"].map { name in
        SubmissionTarget(
          device: DeviceID(rawValue: name), registered: true, address: Address(provider: .apns, token: "0\(name)"),
          route: .queue(CredentialID(rawValue: "shop/apns")))
      }
      list.schedule = message.schedule
      let zones: Set<String?> = ["Etc/GMT-2", "Etc/GMT+3"]
      // One after the other, as they may be at home in one partition.
      let cases: [(Submission, zones: Set<String?>, unreached: Set<String?>)] = [
        (message, zones.union([nil]), []), (list, zones, zones),
      ]
      for (message, zones, unreached) in cases {
        let id = try #require(try await store.acceptance.accept(message).id)
        #expect(try await store.schedule.zones(of: id, now: now) { _ in true } == zones)
        #expect(try await store.schedule.zones(of: id, now: now) { _ in false } == unreached, "a list has its devices")
        var report = try #require(try await store.reports.report(id, app: shop))
        #expect(report.startsAt == now + 9 * ScheduleStories.hour && report.startsAtZone == "Etc/GMT-5")
        let lease = try await store.take(store.session.keys.home(id))
        let first = FirstStart(time: now + 12 * ScheduleStories.hour, zone: "Etc/GMT-2")
        func begin(at hours: Int64) async throws {
          _ = try await store.schedule.beginDue(lease, now: now + hours * ScheduleStories.hour, limit: 10) {
            (_: MessageID) async throws(StoreError) -> FirstStart? in first
          }
        }
        try await begin(at: 1)
        report = try #require(try await store.reports.report(id, app: shop))
        #expect(report.state == .scheduled && report.version == 1, "\(report)")
        #expect(report.startsAt == first.time && report.startsAtZone == first.zone)
        try await begin(at: 11)
        guard case .waiting = try await store.schedule.scheduled(id, app: shop) else {
          Issue.record("it waits")
          return
        }
        try await begin(at: 12)
        #expect(try await store.queue.message(id)?.startedAt == first.time)
        guard case .started = try await store.schedule.scheduled(id, app: shop) else {
          Issue.record("it has started")
          return
        }
        try await store.leases.release(lease)
      }
    }
  }
}
