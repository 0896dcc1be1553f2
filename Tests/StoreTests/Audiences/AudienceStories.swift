import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

/// An audience of registered devices, as the tests need it.
struct Crowd {
  var devices: [DeviceID] = []

  /// Registers devices `d0…` of two providers and three platforms.
  static func register(_ count: Int, in store: Store) async throws -> Crowd {
    var crowd = Crowd()
    for number in 0..<count {
      let provider = number.isMultiple(of: 3) ? ProviderName.fcm : .apns
      var device = Device(
        id: DeviceID(rawValue: "d\(number)"), address: address("ab\(number)", provider),
        registeredAt: WallTime(milliseconds: 1_000))
      device.platform = [nil, "ios", "android"][number % 3]
      _ = try await store.devices.put(device, app: shop)
      crowd.devices.append(device.id)
    }
    return crowd
  }

  static func submission(_ store: Store, _ count: Int, at now: WallTime) async throws -> Submission {
    var submission = Submission(app: shop, body: Array("{}".utf8), kind: .alert, urgency: .bulk, acceptedAt: now)
    var counts: [Int: Int] = [:]
    for number in 0..<count {
      counts[store.session.partition(of: DeviceID(rawValue: "d\(number)"), in: shop), default: 0] += 1
    }
    submission.audience = SubmissionAudience(expression: "everyone", reach: .allDevices, counts: counts)
    return submission
  }

  /// All devices of a partition, by what is the same for them.
  static func groups(_ store: Store, _ partition: Int) async throws -> [AudienceGroup] {
    let last = 2_000
    let devices = try await store.records.devices(
      numbers: Array(0..<last), partition: partition, app: shop, bornBefore: nil)
    var groups: [AudienceGroup] = []
    for (number, stored) in devices.enumerated() {
      guard let stored, stored.tombstone == nil else { continue }
      let address = stored.device.address
      let route = RouteClass(
        provider: address.provider, environment: address.environment, tokenKind: address.tokenKind)
      if let place = groups.firstIndex(where: { $0.route == route && $0.platform == stored.device.platform }) {
        groups[place].numbers.append(UInt32(number))
      } else {
        groups.append(AudienceGroup(route: route, platform: stored.device.platform, numbers: [UInt32(number)]))
      }
    }
    return groups
  }

  static func route(_ address: Address) -> Route { .queue(address.provider == .apns ? apnsCredential : fcmCredential) }
}

extension Store {
  /// Starts what is due in a partition, for all its devices.
  func startAll(_ lease: Lease, now: WallTime, route: (Address) -> Route = Crowd.route) async throws {
    for case .part(let id) in try await audienceStarts.due(lease, now: now, limit: 10) {
      let message = try #require(try await queue.message(id))
      try await audienceStarts.start(
        lease, message, try await Crowd.groups(self, lease.partition), now: now, route: route)
    }
  }

  /// What an owner without limits does: claims all, ends all, and says so.
  func finishAll(_ lease: Lease, number: UInt64 = 0, targets: Int = 10_000, _ outcome: Outcome = .accepted)
    async throws -> [ClaimedTarget]
  {
    var all: [ClaimedTarget] = []
    for ready in try await queue.readyStreams(lease) {
      var after: ClaimPlace?
      while true {
        let jobs = try await queue.claim(lease, ready.stream, after: after, jobs: 10, targets: targets)
        guard let last = jobs.last else { break }
        after = last.place
        var flush = Flush(lease: lease, number: number)
        flush.finals = jobs.flatMap(\.targets).map { final($0, outcome) }
        flush.finishedJobs = jobs.filter(\.isWhole).map(\.id)
        _ = try await self.outcomes.flush(flush)
        all += jobs.flatMap(\.targets)
      }
    }
    return all
  }

  func completed(_ id: MessageID) async throws -> MessageReport {
    let deadline = session.loop.now + 120_000
    while true {
      let report = try #require(try await reports.report(id, app: shop))
      if report.state == .completed || report.state == .cancelled, report.completedAt != nil { return report }
      try #require(session.loop.now < deadline, "\(id) does not end: \(report)")
      await session.loop.sleep(milliseconds: 1)
    }
  }
}

@Suite("Audiences")
struct AudienceStories {
  @Test("an audience is started in each partition, claimed in pieces, and its counters add up by provider and platform")
  func whole() async throws {
    try await withStore { store, loop in
      let now = loop.wallNow
      _ = try await Crowd.register(300, in: store)
      let id = try #require(try await store.acceptance.accept(Crowd.submission(store, 300, at: now)).id)
      var report = try #require(try await store.reports.report(id, app: shop))
      #expect(report.total == 300 && report.state == .queued)
      #expect(try await store.queue.message(id)?.audience == StoredAudience(expression: "everyone", reach: .allDevices))
      var devices: [DeviceID] = []
      for partition in 0..<4 {
        let lease = try await store.take(partition)
        #expect(try await store.audienceStarts.due(lease, now: now, limit: 10) == [.part(id)])
        try await store.startAll(lease, now: now)
        #expect(try await store.audienceStarts.due(lease, now: now, limit: 10).isEmpty)
        let targets = try await store.finishAll(lease, targets: 7)
        #expect(targets.allSatisfy { $0.address != nil && $0.facts != nil && $0.registered })
        #expect(Set(targets.map(\.delivery.index)).count == targets.count)
        devices += targets.map(\.device)
        #expect(try await store.queue.readyStreams(lease).isEmpty)
      }
      #expect(devices.count == 300 && Set(devices.map(\.rawValue)) == Set((0..<300).map { "d\($0)" }))
      report = try await store.completed(id)
      #expect(report.total == 300 && report.ended == 300)
      let counts = Dictionary(
        uniqueKeysWithValues: report.counts.map { ("\($0.provider.rawValue) \($0.platform ?? "")", $1) })
      #expect(counts == ["fcm ": 100, "apns ios": 100, "apns android": 100])
    }
  }

  /// One partition with its owner, and an audience of `count` that is accepted.
  private func withAudience(
    _ count: Int, receipts: Bool = false, server: RedisServer = RedisServer(),
    _ body: @escaping @Sendable (Store, EventLoop, Lease, MessageID) async throws -> Void
  ) async throws {
    try await withStore(quickSettings(partitions: 1), server: server) { store, loop in
      _ = try await Crowd.register(count, in: store)
      var submission = try await Crowd.submission(store, count, at: loop.wallNow)
      submission.keepReceipts = receipts
      let id = try #require(try await store.acceptance.accept(submission).id)
      try await body(store, loop, try await store.take(0), id)
    }
  }

  @Test("started twice by owners that follow each other, an audience keeps its first members and is sent once")
  func startedTwice() async throws {
    try await withAudience(40) { store, loop, lease, id in
      let message = try #require(try await store.queue.message(id))
      let groups = try await Crowd.groups(store, 0)
      try await store.audienceStarts.start(lease, message, groups, now: loop.wallNow, route: Crowd.route)
      try await store.leases.release(lease)
      let next = try await store.take(0)
      await #expect(throws: StoreError.leaseLost(partition: 0)) {
        try await store.audienceStarts.start(lease, message, groups, now: loop.wallNow, route: Crowd.route)
      }
      var late = Device(id: DeviceID(rawValue: "late"), address: address("ff"), registeredAt: loop.wallNow)
      late.platform = "ios"
      _ = try await store.devices.put(late, app: shop)
      try await store.audienceStarts.start(
        next, message, try await Crowd.groups(store, 0), now: loop.wallNow, route: Crowd.route)
      let targets = try await store.finishAll(next)
      #expect(targets.count == 40 && !targets.contains { $0.device == late.id })
      #expect(try await store.completed(id).ended == 40)
    }
  }

  @Test("what ended before it began is counted and listed; who is not to be sent to costs no codes")
  func endedRoutes() async throws {
    try await withAudience(30) { store, loop, lease, id in
      try await store.startAll(lease, now: loop.wallNow) { _ in .ended(.skipped, reason: "kind_unsupported") }
      #expect(try await store.queue.readyStreams(lease).isEmpty)
      let report = try await store.completed(id)
      #expect(report.total == 30 && report.count(.skipped) == 30)
      var filter = DeliveryFilter()
      filter.platform = "ios"
      let page = try #require(try await store.deliveries.page(id, app: shop, filter: filter, cursor: nil, limit: 50))
      #expect(
        page.items.count == 10 && page.items.allSatisfy { $0.reason == "kind_unsupported" && $0.platform == "ios" })
      filter.states = ["accepted"]
      #expect(
        try await store.deliveries.page(id, app: shop, filter: filter, cursor: nil, limit: 50)?.items.isEmpty == true)
    }
  }

  @Test("cancelled before its start or in the middle: what was not handed out ends at once, what is at work finishes")
  func cancelled() async throws {
    try await withAudience(60) { store, loop, lease, id in
      let unstarted = try #require(try await store.acceptance.accept(Crowd.submission(store, 60, at: loop.wallNow)).id)
      #expect(try await store.control.cancel(unstarted, app: shop) == .changed)
      try await store.startAll(lease, now: loop.wallNow)
      let first = try await store.completed(unstarted)
      #expect(first.count(.cancelled) == 60 && first.state == .cancelled)

      let stream = try #require(
        try await store.queue.readyStreams(lease).first { $0.stream.credential == apnsCredential }
      )
      .stream
      let job = try #require(try await store.queue.claim(lease, stream, after: nil, jobs: 1, targets: 5).first)
      #expect(job.targets.count == 5 && !job.isWhole)
      var flush = Flush(lease: lease, number: 1)
      flush.retries = [Flush.RetryEntry(target: job.targets[4], due: loop.wallNow, reason: "busy", attempts: [])]
      _ = try await store.outcomes.flush(flush)
      #expect(try await store.control.cancel(id, app: shop) == .changed)
      try await store.queue.cancelWaiting(lease, message: id)
      var report = try #require(try await store.reports.report(id, app: shop))
      #expect(report.count(.cancelled) == 56 && report.retrying == 0)
      let rest = try await store.queue.claim(lease, stream, after: job.place, jobs: 1, targets: 5)
      #expect(rest.allSatisfy { $0.targets.isEmpty && $0.isWhole })
      flush = Flush(lease: lease, number: 2)
      flush.finals = job.targets.prefix(4).map { final($0) }
      flush.finishedJobs = [job.id]
      #expect(try await store.outcomes.flush(flush).controls[id]?.word == .cancelled)
      report = try await store.completed(id)
      #expect(report.count(.accepted) == 4 && report.count(.cancelled) == 56)
      #expect(try await store.queue.readyStreams(lease).isEmpty)
    }
  }

  @Test("a member that is tried for weeks keeps its first and its last attempts, and their number")
  func triedForWeeks() async throws {
    try await withAudience(3) { store, loop, lease, id in
      let now = loop.wallNow
      try await store.startAll(lease, now: now)
      let stream = try #require(try await store.queue.readyStreams(lease).first?.stream)
      let job = try #require(try await store.queue.claim(lease, stream, after: nil, jobs: 1, targets: 5).first)
      try await Weeks.tryForWeeks(store, lease, job.targets[0], of: nil, from: now)
      let items = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 5)).items
      let item = try #require(items.first { $0.attempts.count > 0 })
      Weeks.expectBounded(item.attempts, from: now)
    }
  }

  @Test("what of a started audience nobody has claimed when its time is over expires")
  func expired() async throws {
    try await withAudience(50) { store, loop, lease, id in
      try await store.startAll(lease, now: loop.wallNow)
      try await store.sweep.run(lease, now: loop.wallNow)
      #expect(try await store.reports.report(id, app: shop)?.ended == 0)
      try await store.sweep.run(lease, now: loop.wallNow + Int64(Message.defaultTTL) * 1000 + 1)
      #expect(try await store.completed(id).count(.expired) == 50)
      #expect(try await store.queue.readyStreams(lease).isEmpty)
    }
  }

  @Test("an audience that nobody can aim any more, and one whose snapshot is damaged, fail as a whole and complete")
  func unreadable() async throws {
    let server = RedisServer()
    try await withAudience(20, server: server) { store, loop, lease, id in
      for _ in 0..<2 { try await store.audienceStarts.abandon(lease, id, reason: "unreadable_audience") }
      var report = try await store.completed(id)
      #expect(report.total == 20 && report.counts.first { $0.key.reason == "unreadable_audience" }?.value == 20)
      let damaged = try #require(try await store.acceptance.accept(Crowd.submission(store, 20, at: loop.wallNow)).id)
      try await store.startAll(lease, now: loop.wallNow)
      let redis = Redis(loop: loop, endpoint: server.endpoint)
      while !redis.isReady { await loop.sleep(milliseconds: 1) }
      _ = try await redis.call(RedisCommand("SETRANGE", store.session.keys.snapshot(0, damaged), "3", "garbage"))
      redis.close()
      #expect(try await store.claimAll(lease).isEmpty)
      report = try await store.completed(damaged)
      #expect(report.count(.failed) == 20)
      let status = try await store.queue.status()
      #expect(status.jobs.isEmpty && status.quarantined == 1)
    }
  }

  @Test(
    "receipts of successes are kept where they were asked for only; members of a slice show its id",
    arguments: [true, false])
  func receipts(kept: Bool) async throws {
    try await withAudience(9, receipts: kept) { store, loop, lease, id in
      try await store.startAll(lease, now: loop.wallNow)
      let targets = try await store.claimAll(lease).flatMap(\.targets)
      let slice = StoredSlice(message: id, partition: 0, number: 0, revision: 0, members: [0, 1, 2])
      try await store.queue.storeSlice(lease, slice)
      #expect(try await store.queue.unfinishedMembers(of: slice) == [0, 1, 2])
      var flush = Flush(lease: lease, number: 1)
      let attempt = Attempt(at: loop.wallNow, verdict: "accepted", reason: nil, status: 200)
      for target in targets {
        var final = final(target, attempts: [attempt])
        final.providerID = target.delivery.index < 3 ? "os-1" : "name-\(target.delivery.index)"
        flush.finals.append(final)
      }
      _ = try await store.outcomes.flush(flush)
      #expect(try await store.queue.unfinishedMembers(of: slice).isEmpty)
      #expect(try await store.completed(id).firstAttemptAt == attempt.at)
      let items = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 20)).items
      #expect(items.count == 9 && items.allSatisfy { $0.attempts.count == (kept ? 1 : 0) })
      #expect(items.map(\.providerID) == (0..<9).map { $0 < 3 ? "os-1" : kept ? "name-\($0)" : nil })
      #expect(items[0].requestID == slice.key && items[2].requestID == slice.key)
      #expect(items[5].requestID == DeliveryID(message: id, partition: 0, index: 5).requestID)
    }
  }

  @Test("the timeline has every message aimed at a device, newest first, finished or at work, direct or to an audience")
  func timeline() async throws {
    try await withAudience(30) { store, loop, lease, id in
      let now = loop.wallNow
      let device = DeviceID(rawValue: "d7")
      func direct(_ device: DeviceID, hoursAgo: Int64) async throws -> MessageID {
        var submission = Submission(
          app: shop, body: [], kind: .alert, urgency: .urgent, acceptedAt: now + -hoursAgo * 3_600_000)
        submission.targets = [
          SubmissionTarget(device: device, registered: true, address: address("ab7"), route: .queue(apnsCredential))
        ]
        return try #require(try await store.acceptance.accept(submission).id)
      }
      var aimed: [MessageID] = []
      for hours in [9, 5, 5, 2] as [Int64] {
        aimed.append(try await direct(device, hoursAgo: hours))
        _ = try await direct(DeviceID(rawValue: "d8"), hoursAgo: hours)
      }
      try await store.startAll(lease, now: now)
      _ = try await store.finishAll(lease)
      aimed.append(id)
      let open = try await direct(device, hoursAgo: 0)
      aimed.append(open)
      var found: [TimelineEntry] = []
      var cursor: TimelinePlace?
      repeat {
        let page = try await store.timelines.page(device, app: shop, cursor: cursor, limit: 2)
        #expect(page.items.count <= 2)
        found += page.items
        cursor = page.next
      } while cursor != nil
      #expect(found.map(\.message) == aimed.sorted(by: >))
      #expect(found.allSatisfy { $0.delivery.state == ($0.message == open ? "pending" : "accepted") })
      #expect(found.filter(\.toAudience).map(\.message) == [id])
      #expect(
        try await store.timelines.page(device, app: AppID(rawValue: "other"), cursor: nil, limit: 5).items.isEmpty)
    }
  }

  @Test(
    "a list that is too long to be moved ends where it stands, in a message of one part or several, and falls to the bound"
  )
  func longList() async throws {
    for partitions in [1, 2] {
      var settings = quickSettings(partitions: partitions)
      settings.retentionBytes = 100_000
      try await withStore(settings) { store, loop in
        let message = submission(tokens: (0..<3_000).map { "t\($0)" }, at: loop.wallNow)
        let id = try #require(try await store.acceptance.accept(message).id)
        var leases: [Lease] = []
        for partition in 0..<partitions {
          leases.append(try await store.take(partition))
          _ = try await store.finishAll(leases[partition])
        }
        let report = try await store.completed(id)
        #expect(report.count(.accepted) == 3_000)
        let page = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 5_000))
        #expect(page.items.count == 3_000 && page.items.allSatisfy { $0.state == "accepted" })
        for lease in leases { try await store.sweep.run(lease, now: loop.wallNow) }
        #expect(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 10)?.items.isEmpty ?? true)
      }
    }
  }
}
