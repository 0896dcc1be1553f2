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
      _ = try await store.put(device, app: shop)
      crowd.devices.append(device.id)
    }
    return crowd
  }

  static func submission(_ store: Store, _ count: Int, at now: WallTime) async throws -> Submission {
    var submission = Submission(app: shop, body: Array("{}".utf8), kind: .alert, urgency: .bulk, acceptedAt: now)
    var counts: [Int: Int] = [:]
    for number in 0..<count {
      counts[store.partition(of: DeviceID(rawValue: "d\(number)"), in: shop), default: 0] += 1
    }
    submission.audience = SubmissionAudience(expression: "everyone", reach: .allDevices, counts: counts)
    return submission
  }

  /// All devices of a partition, by what is the same for them.
  static func groups(_ store: Store, _ partition: Int) async throws -> [Store.Group] {
    let last = 2_000
    let devices = try await store.devices(
      numbers: Array(0..<last), partition: partition, app: shop, bornBefore: nil)
    var groups: [Store.Group] = []
    for (number, stored) in devices.enumerated() {
      guard let stored, stored.tombstone == nil else { continue }
      let address = stored.device.address
      let route = RouteClass(
        provider: address.provider, environment: address.environment, tokenKind: address.tokenKind)
      if let place = groups.firstIndex(where: { $0.route == route && $0.platform == stored.device.platform }) {
        groups[place].numbers.append(UInt32(number))
      } else {
        groups.append(Store.Group(route: route, platform: stored.device.platform, numbers: [UInt32(number)]))
      }
    }
    return groups
  }

  static func fate(_ address: Address) -> Fate { .queue(address.provider == .apns ? apnsCredential : fcmCredential) }
}

extension Store {
  /// Starts what is due in a partition, for all its devices.
  func startAll(_ lease: Lease, now: WallTime, fate: (Address) -> Fate = Crowd.fate) async throws {
    for id in try await dueStarts(lease, now: now, limit: 10) {
      let message = try #require(try await message(id))
      try await start(lease, message, try await Crowd.groups(self, lease.partition), now: now, fate: fate)
    }
  }

  /// What an owner without limits does: claims all, ends all, and says so.
  func finishAll(_ lease: Lease, number: UInt64 = 0, targets: Int = 10_000, _ outcome: Outcome = .accepted)
    async throws -> [ClaimedTarget]
  {
    var all: [ClaimedTarget] = []
    for ready in try await readyStreams(lease) {
      var after: ClaimPlace?
      while true {
        let jobs = try await claim(lease, ready.stream, after: after, jobs: 10, targets: targets)
        guard let last = jobs.last else { break }
        after = last.place
        var flush = Flush(lease: lease, number: number)
        flush.finals = jobs.flatMap(\.targets).map { final($0, outcome) }
        flush.finishedJobs = jobs.filter(\.isWhole).map(\.id)
        _ = try await self.flush(flush)
        all += jobs.flatMap(\.targets)
      }
    }
    return all
  }

  func completed(_ id: MessageID) async throws -> MessageReport {
    while true {
      let report = try #require(try await report(id, app: shop))
      if report.state == .completed || report.state == .cancelled, report.completedAt != nil { return report }
      await loop.sleep(milliseconds: 1)
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
      let id = try #require(try await store.accept(Crowd.submission(store, 300, at: now)).id)
      var report = try #require(try await store.report(id, app: shop))
      #expect(report.total == 300 && report.state == .queued)
      #expect(try await store.message(id)?.audience == StoredAudience(expression: "everyone", reach: .allDevices))
      var devices: [DeviceID] = []
      for partition in 0..<4 {
        let lease = try await store.take(partition)
        #expect(try await store.dueStarts(lease, now: now, limit: 10) == [id])
        try await store.startAll(lease, now: now)
        #expect(try await store.dueStarts(lease, now: now, limit: 10).isEmpty)
        let targets = try await store.finishAll(lease, targets: 7)
        #expect(targets.allSatisfy { $0.address != nil && $0.facts != nil && $0.registered })
        #expect(Set(targets.map(\.delivery.index)).count == targets.count)
        devices += targets.map(\.device)
        #expect(try await store.readyStreams(lease).isEmpty)
      }
      #expect(devices.count == 300 && Set(devices.map(\.rawValue)) == Set((0..<300).map { "d\($0)" }))
      report = try await store.completed(id)
      #expect(report.total == 300 && report.ended == 300)
      let counts = Dictionary(
        uniqueKeysWithValues: report.counts.map { ("\($0.provider.rawValue) \($0.platform ?? "")", $1) })
      #expect(counts == ["fcm ": 100, "apns ios": 100, "apns android": 100])
    }
  }
}
