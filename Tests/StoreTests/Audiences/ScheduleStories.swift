import Audience
import Domain
import Foundation
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Messages for later")
struct ScheduleStories {
  static let hour: Int64 = 3_600_000

  private func scheduled(_ tokens: [String], in hours: Int64, at now: WallTime) -> Submission {
    var submission = submission(tokens: tokens, at: now)
    submission.schedule = Schedule(startAt: now + hours * Self.hour)
    return submission
  }

  private func begin(_ store: Store, at now: WallTime) async throws {
    for partition in 0..<store.session.settings.partitions {
      _ = try await store.schedule.beginDue(try await store.take(partition), now: now, limit: 10)
    }
  }

  @Test("until its time has come a message stands at home alone; then it spreads once, whatever is repeated")
  func waits() async throws {
    try await withStore { store, loop in
      let now = loop.wallNow
      for tokens in [["a1"], (0..<60).map { "b\($0)" }] {
        let id = try #require(try await store.acceptance.accept(scheduled(tokens, in: 2, at: now)).id)
        var report = try #require(try await store.reports.report(id, app: shop))
        #expect(report.state == .scheduled && report.startsAt == now + 2 * Self.hour && report.version == 1)
        #expect(report.total == tokens.count && report.ended == 0)
        #expect(try await store.queue.status().jobs.isEmpty)
        for partition in 0..<4 {
          let lease = try await store.take(partition)
          #expect(try await store.schedule.beginDue(lease, now: now + Self.hour, limit: 10) == 0)
          // Orphans of the moment are not those of later.
          try await store.sweep.run(lease, now: now + Self.hour)
          try await store.leases.release(lease)
        }
        #expect(try await store.queue.status().jobs.isEmpty)
        var targets: [ClaimedTarget] = []
        for partition in 0..<4 {
          let lease = try await store.take(partition)
          for _ in 0..<2 { _ = try await store.schedule.beginDue(lease, now: now + 2 * Self.hour, limit: 10) }
          try await store.leases.release(lease)
        }
        try await store.spread.finishSpreading(id)
        #expect(try await store.queue.message(id)?.startedAt == now + 2 * Self.hour)
        for partition in 0..<4 {
          let lease = try await store.take(partition)
          targets += try await store.finishAll(lease, number: 0)
          try await store.leases.release(lease)
        }
        #expect(targets.count == tokens.count && Set(targets.map(\.device)).count == tokens.count)
        report = try await store.completed(id)
        #expect(report.count(.accepted) == tokens.count && report.startsAt == now + 2 * Self.hour)
        // Known there still: spreading it once more sends nothing.
        try await store.spread.finishSpreading(id)
        #expect(try await store.queue.status().jobs.isEmpty)
      }
    }
  }

  @Test(
    "of two who move a message at once one comes first, and the other learns of it; what has started cannot be moved")
  func changed() async throws {
    try await withStore { store, loop in
      let now = loop.wallNow
      let id = try #require(try await store.acceptance.accept(scheduled(["a1", "a2", "a3"], in: 2, at: now)).id)
      guard case .waiting(let read) = try await store.schedule.scheduled(id, app: shop) else {
        Issue.record("it waits")
        return
      }
      func move(_ hours: Int64, _ version: Int, app: AppID = shop) async throws -> Rescheduling {
        try await store.schedule.reschedule(
          id, app: app, Schedule(startAt: now + hours * Self.hour, local: LocalTime("2026-12-01T09:00:00")),
          body: Array("{\"n\":2}".utf8), ttl: 60, version: version)
      }
      #expect(try await move(5, read.version) == .done)
      #expect(try await move(9, read.version) == .changed)
      let report = try #require(try await store.reports.report(id, app: shop))
      #expect(report.startsAt == now + 5 * Self.hour && report.version == 2)
      #expect(report.startsAtLocal?.text == "2026-12-01T09:00:00")
      #expect(try await store.archive.body(of: id, app: shop) == Array("{\"n\":2}".utf8))
      // Its first time passes without effect.
      try await begin(store, at: now + 3 * Self.hour)
      #expect(try await store.reports.report(id, app: shop)?.state == .scheduled)
      #expect(try await move(1, 2) == .done)
    }
    try await withStore { store, loop in
      let now = loop.wallNow
      let id = try #require(try await store.acceptance.accept(scheduled(["a1"], in: 1, at: now)).id)
      try await begin(store, at: now + Self.hour)
      guard case .started = try await store.schedule.scheduled(id, app: shop) else {
        Issue.record("it has started")
        return
      }
      let late = try await store.schedule.reschedule(
        id, app: shop, Schedule(startAt: now + 9 * Self.hour), body: [], ttl: 60, version: 1)
      #expect(late == .started)
      guard case .unknown = try await store.schedule.scheduled(id, app: AppID(rawValue: "other")) else {
        Issue.record("another app's")
        return
      }
    }
  }

  @Test(
    "cancelled before its time, a message ends at once and sends nothing; a worker that dies half-way changes nothing")
  func cancelledAndOrphaned() async throws {
    try await withStore { store, loop in
      let now = loop.wallNow
      let id = try #require(try await store.acceptance.accept(scheduled(["a1", "a2", "a3", "a4"], in: 48, at: now)).id)
      #expect(try await store.control.cancel(id, app: shop) == .changed)
      #expect(try await store.reports.report(id, app: shop)?.state == .cancelled)
      var leases: [Lease] = []
      for partition in 0..<4 { leases.append(try await store.take(partition)) }
      for lease in leases { _ = try await store.schedule.beginDue(lease, now: now, limit: 10) }
      #expect(try await store.queue.message(id)?.control?.word == .cancelled)
      #expect(
        try await store.reports.report(id, app: shop)?.startsAt == now + 48 * Self.hour, "not when it was cancelled")
      for lease in leases { _ = try await store.finishAll(lease, .cancelled) }
      let ended = try await store.completed(id)
      #expect(ended.count(.cancelled) == 4 && ended.startsAt == now + 48 * Self.hour)
      #expect(
        try await store.schedule.reschedule(id, app: shop, Schedule(startAt: now), body: [], ttl: 1, version: 1)
          == .unknown)

      // Begun, and the worker dies before anything was spread.
      let orphan = try #require(
        try await store.acceptance.accept(scheduled(["c1", "c2", "c3", "c4", "c5"], in: 1, at: now)).id)
      let home = store.session.keys.home(orphan)
      _ = try await store.session.ask(
        Scripts.begin,
        keys: [
          store.session.keys.lease(home), store.session.keys.message(orphan), store.session.keys.scheduled(home),
          store.session.keys.spreading(home),
        ], [.bytes(orphan.raw), .number((now + Self.hour).milliseconds)], under: leases[home])
      #expect(try await store.queue.status().jobs.isEmpty)
      try await store.sweep.run(leases[home], now: now + Self.hour + 11_000)
      var sent = 0
      for lease in leases { sent += try await store.finishAll(lease).count }
      #expect(sent == 5)
      #expect(try await store.completed(orphan).count(.accepted) == 5)
    }
  }

  // MARK: Each device's own time

  static let book: @Sendable () -> ZoneBook = {
    ZoneBook { name in
      (try? Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/\(name)"))).map { Array($0) }
    }
  }
  private static let zones = ["Etc/GMT-2", "Etc/GMT-1", "Etc/GMT", "Etc/GMT+1"]

  /// 40 devices in one partition, over zones of which the message's time comes an hour after the other, and a message
  /// to all of them.
  private func withZones(
    quiet: MessageQuietHours = .none, ttl: Int = 259_200,
    _ body: @escaping @Sendable (Store, EventLoop, Lease, MessageID, Timing, WallTime) async throws -> Void
  ) async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      for number in 0..<40 {
        var device = device("d\(number)", token: "ab\(number)")
        device.timeZone = number < 36 ? Self.zones[number % 4] : nil
        _ = try await store.devices.put(device, app: shop)
      }
      // On the hour in the first of the zones.
      let first = WallTime(milliseconds: (loop.wallNow.milliseconds / Self.hour + 30) * Self.hour)
      let local = LocalTime(seconds: first.seconds + 7_200)
      var message = Message(to: .everyone, kind: .alert)
      message.sendAt = .local(local)
      message.quietHours = quiet
      let timing = try #require(Timing(message, AppClock(fallbackZone: "Etc/GMT"), Self.book()))
      #expect(timing.start("Etc/GMT-2") == first)
      var submission = Submission(
        app: shop, body: Array("{}".utf8), kind: .alert, urgency: .bulk, acceptedAt: loop.wallNow)
      submission.ttl = ttl
      submission.schedule = Schedule(startAt: local.earliest, local: local)
      submission.audience = SubmissionAudience(expression: "everyone", reach: .allDevices, counts: [0: 40])
      let id = try #require(try await store.acceptance.accept(submission).id)
      let lease = try await store.take(0)
      _ = try await store.schedule.beginDue(lease, now: local.earliest, limit: 10)
      try await body(store, loop, lease, id, timing, first)
    }
  }

  /// What the worker does when something is due.
  private func start(_ store: Store, _ lease: Lease, _ timing: Timing, at now: WallTime) async throws {
    for due in try await store.audienceStarts.due(lease, now: now, limit: 20) {
      switch due {
      case .part(let id):
        let message = try #require(try await store.queue.message(id))
        try await store.audienceStarts.start(
          lease, message, selection: AudienceSelection(expression: .everyone), now: now, timing: timing,
          route: Crowd.route)
      case .members(let id, let first):
        try await store.members.release(lease, id, first: first)
        try await store.members.sendMovers(lease, id, timing, now: now)
      }
    }
  }

  @Test(
    "who is in it is decided when it is time for the first of them; each zone's members are claimed at theirs, once")
  func localTimes() async throws {
    try await withZones { store, loop, lease, id, timing, first in
      try await start(store, lease, timing, at: first + -11 * Self.hour)
      #expect(try await store.schedule.nextStart(lease) == first)
      let report = try #require(try await store.reports.report(id, app: shop))
      #expect(report.ended == 0 && report.delay?.count == 40, "\(report)")
      #expect(report.delay?.first == first && report.delay?.last == nil, "who is the last is not decided: \(report)")
      // Registered between: in it, and at its time.
      var late = device("late", token: "cd")
      late.timeZone = "Etc/GMT+1"
      _ = try await store.devices.put(late, app: shop)
      var seen: [String] = []
      for hours in 0..<4 as Range<Int64> {
        try await start(store, lease, timing, at: first + hours * Self.hour)
        for _ in 0..<2 { try await start(store, lease, timing, at: first + hours * Self.hour) }
        let targets = try await store.finishAll(lease)
        #expect(targets.count == [9, 9, 13, 10][Int(hours)], "hour \(hours)")
        #expect(targets.allSatisfy { $0.facts?.timeZone ?? "Etc/GMT" == Self.zones[Int(hours)] })
        seen += targets.map(\.device.rawValue)
      }
      #expect(Set(seen).count == 41 && seen.count == 41 && seen.contains("late"))
      #expect(try await store.completed(id).count(.accepted) == 41)
      #expect(try await store.schedule.nextStart(lease) == nil)
    }
  }

  @Test("who moves to a zone where the time has passed goes at once, and not again with the zone they left")
  func movers() async throws {
    try await withZones { store, loop, lease, id, timing, first in
      try await start(store, lease, timing, at: first)
      #expect(try await store.finishAll(lease).count == 9)
      // From the last zone to the first, whose time has passed.
      var moved = device("d3", token: "ab3")
      moved.timeZone = "Etc/GMT-2"
      _ = try await store.devices.put(moved, app: shop)
      try await start(store, lease, timing, at: first + Self.hour)
      let due = try await store.queue.dueRetries(lease, now: first + Self.hour, limit: 10)
      #expect(due.map(\.device.rawValue) == ["d3"])
      var flush = Flush(lease: lease, number: 0)
      flush.finals = due.map { final($0) }
      _ = try await store.outcomes.flush(flush)
      var rest = try await store.finishAll(lease)
      for hours in 2...3 as ClosedRange<Int64> {
        try await start(store, lease, timing, at: first + hours * Self.hour)
        rest += try await store.finishAll(lease)
      }
      #expect(rest.count == 30 && !rest.contains { $0.device.rawValue == "d3" })
      #expect(try await store.completed(id).count(.accepted) == 40)
    }
  }

  @Test("a worker that dies between the waves changes nothing; cancelled between them, the rest ends without its time")
  func crashAndCancel() async throws {
    try await withZones { store, loop, lease, id, timing, first in
      try await start(store, lease, timing, at: first)
      try await start(store, lease, timing, at: first + Self.hour)
      let claimed = try await store.claimAll(lease).flatMap(\.targets)
      #expect(claimed.count == 18)
      try await store.leases.release(lease)
      let next = try await store.take(0)
      #expect(try await store.finishAll(next).count == 18)
      try await start(store, next, timing, at: first + 2 * Self.hour)
      #expect(try await store.finishAll(next).count == 13)
      #expect(try await store.control.cancel(id, app: shop) == .changed)
      try await store.queue.cancelWaiting(next, message: id)
      let report = try await store.completed(id)
      #expect(report.count(.accepted) == 31 && report.count(.cancelled) == 9)
      try await start(store, next, timing, at: first + 3 * Self.hour)
      #expect(try await store.claimAll(next).isEmpty)
      #expect(try await store.schedule.nextStart(next) == nil)
    }
  }

  @Test("in quiet hours members wait until they end, are skipped, or expire if that is too late")
  func quietHours() async throws {
    // The message's local time is some full hour h; quiet until an hour behind it.
    for (action, ttl) in [(QuietHours.Action.hold, 259_200), (.skip, 259_200), (.hold, 600)] {
      try await withStore(quickSettings(partitions: 1)) { store, loop in
        for number in 0..<12 {
          var device = device("d\(number)", token: "ab\(number)")
          device.timeZone = number % 3 == 0 ? "Etc/GMT-3" : "Etc/GMT"
          _ = try await store.devices.put(device, app: shop)
        }
        let now = WallTime(milliseconds: (loop.wallNow.milliseconds / 60_000) * 60_000)
        let minute = Int(now.seconds / 60 % 1_440)
        var message = Message(to: .everyone, kind: .alert)
        // At Greenwich they began half an hour ago and end in half an hour; three hours east they are over.
        message.quietHours = .own(
          QuietHours(from: (minute + 1_410) % 1_440, to: (minute + 30) % 1_440, action: action))
        let timing = try #require(Timing(message, AppClock(), Self.book()))
        var submission = Submission(app: shop, body: [1], kind: .alert, urgency: .bulk, acceptedAt: now)
        submission.ttl = ttl
        submission.audience = SubmissionAudience(expression: "everyone", reach: .allDevices, counts: [0: 12])
        let id = try #require(try await store.acceptance.accept(submission).id)
        let lease = try await store.take(0)
        try await start(store, lease, timing, at: now)
        #expect(try await store.finishAll(lease).count == 4)
        let report = try #require(try await store.reports.report(id, app: shop))
        switch (action, ttl) {
        case (.skip, _):
          #expect(
            report.counts.filter { $0.key.reason == "quiet_hours" && $0.key.outcome == .skipped }.values.reduce(0, +)
              == 8)
        case (_, 600):
          #expect(
            report.counts.filter { $0.key.reason == "quiet_hours" && $0.key.outcome == .expired }.values.reduce(0, +)
              == 8)
        default:
          #expect(report.ended == 4)
          #expect(try await store.schedule.nextStart(lease) == now + 30 * 60_000)
          try await start(store, lease, timing, at: now + 30 * 60_000)
          #expect(try await store.finishAll(lease).count == 8)
        }
        #expect(try await store.completed(id).ended == 12)
      }
    }
  }

  @Test("a campaign that runs into quiet hours leaves the stream as a whole and goes on behind them, where it stood")
  func adjourned() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      for number in 0..<30 { _ = try await store.devices.put(device("d\(number)", token: "ab\(number)"), app: shop) }
      let id = try #require(try await store.acceptance.accept(Crowd.submission(store, 30, at: loop.wallNow)).id)
      let lease = try await store.take(0)
      let message = try #require(try await store.queue.message(id))
      var quiet = Message(to: .everyone, kind: .alert)
      let now = loop.wallNow
      quiet.quietHours = .own(QuietHours(from: 0, to: 1))
      let timing = try #require(Timing(quiet, AppClock(), Self.book()))
      let plans = ZonePlans(
        .send(Snapshot.Wave(due: nil, pause: QuietPause(from: now + 2_000, to: now + 2_500))), timing,
        until: now + 259_200_000, now: now)
      let groups = try await Crowd.groups(store, 0)
      try await store.audienceStarts.start(lease, message, groups, now: now, plans: plans, route: Crowd.route)
      let stream = try #require(try await store.queue.readyStreams(lease).first?.stream)
      let piece = try #require(try await store.queue.claim(lease, stream, after: nil, jobs: 1, targets: 10).first)
      #expect(piece.targets.count == 10 && !piece.isWhole)
      while loop.wallNow < now + 2_010 { await loop.sleep(milliseconds: 5) }
      let none = try await store.queue.claim(lease, stream, after: piece.place, jobs: 1, targets: 10)
      #expect(none.flatMap(\.targets).isEmpty)
      #expect(try await store.queue.readyStreams(lease).isEmpty)
      #expect(try await store.schedule.nextStart(lease) == now + 2_500)
      var flush = Flush(lease: lease, number: 1)
      // Five are still at work when it goes on.
      flush.finals = piece.targets.prefix(5).map { final($0) }
      _ = try await store.outcomes.flush(flush)
      while loop.wallNow < now + 2_510 { await loop.sleep(milliseconds: 5) }
      try await start(store, lease, timing, at: loop.wallNow)
      let rest = try await store.finishAll(lease)
      #expect(rest.count == 20 && Set(rest.map(\.delivery.index)).isDisjoint(with: piece.targets.map(\.delivery.index)))
      flush = Flush(lease: lease, number: 2)
      flush.finals = piece.targets.suffix(5).map { final($0) }
      flush.finishedJobs = [piece.id]
      _ = try await store.outcomes.flush(flush)
      #expect(try await store.completed(id).count(.accepted) == 30)
      #expect(try await store.queue.readyStreams(lease).isEmpty)
    }
  }
}
