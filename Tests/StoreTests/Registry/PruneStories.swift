import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Prunes")
struct PruneStories {
  private static let ios = CredentialID(rawValue: "shop/ios")
  private static let message = MessageID(acceptedAt: WallTime(milliseconds: 5_000), partition: 0, random: 7)

  private static func prune(_ id: String, at: Int64 = 9_000, held: Bool = false) -> Flush.Prune {
    var prune = Flush.Prune(
      app: shop, device: DeviceID(rawValue: id), token: "t-\(id)", reason: "Unregistered", since: nil,
      at: WallTime(milliseconds: at))
    prune.credential = ios
    prune.message = message
    prune.isHeld = held
    return prune
  }

  private static func register(_ ids: [String], _ store: Store, at: Int64 = 1_000) async throws {
    _ = try await store.devices.put(ids.map { device($0, token: "t-\($0)", at: at) }, app: shop)
  }

  /// One flush for each partition that holds some of them.
  private static func flush(_ prunes: [Flush.Prune], _ leases: [Lease], number: UInt64, _ store: Store) async throws
    -> (pruned: Int, held: Int)
  {
    var sum = (pruned: 0, held: 0)
    for lease in leases {
      var flush = Flush(lease: lease, number: number)
      flush.prunes = prunes.filter { store.session.partition(of: $0.device, in: shop) == lease.partition }
      let result = try await store.outcomes.flush(flush)
      sum = (sum.pruned + result.pruned, sum.held + result.held)
    }
    return sum
  }

  private static func dead(_ ids: [String], _ store: Store) async throws -> Set<String> {
    let found = try await store.devices.devices(ids.map { DeviceID(rawValue: $0) }, app: shop)
    return Set(found.compactMap { $0?.tombstone == nil ? nil : $0?.device.id.rawValue })
  }

  @Test("who has lost the partition prunes nothing any more, and puts nothing aside")
  func lease() async throws {
    let server = RedisServer()
    var settings = quickSettings(partitions: 1)
    settings.leaseMilliseconds = 50
    try await withStore(settings, server: server) { store, loop in
      let ids = (0..<120).map { "d\($0)" }
      try await Self.register(ids, store)
      let old = try await store.take(0)
      var taken: Lease?
      try await until(loop) {
        taken = try await store.leases.take(0)
        return taken != nil
      }
      let new = try #require(taken)
      for held in [false, true] {
        var flush = Flush(lease: old, number: 1)
        flush.prunes = ids.map { Self.prune($0, held: held) }
        await #expect(throws: StoreError.leaseLost(partition: 0)) { try await store.outcomes.flush(flush) }
      }
      #expect(try await Self.dead(ids, store) == [])
      #expect(try await store.pruneBrakes.review(of: Self.ios, app: shop, sample: 1).held == 0)
      #expect(try await Self.flush(ids.map { Self.prune($0) }, [new], number: 1, store).pruned == ids.count)
      #expect(try await Self.dead(ids, store) == Set(ids))
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
    }
  }

  @Test("many prunes of one flush are a few scripts, not one each")
  func few() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let ids = (0..<200).map { "d\($0)" }
      try await Self.register(ids, store)
      let lease = try await store.take(0)
      _ = try await store.session.ask(RedisCommand("CONFIG", "RESETSTAT"))
      #expect(try await Self.flush(ids.map { Self.prune($0) }, [lease], number: 1, store).pruned == 200)
      let stats = InfoFields(try await store.session.ask(RedisCommand("INFO", "commandstats")).text ?? "")
      let calls = ["cmdstat_evalsha", "cmdstat_eval"].compactMap { stats[$0] }
        .compactMap { $0.split(separator: ",").first?.split(separator: "=").last.flatMap { Int($0) } }.reduce(0, +)
      #expect((1...10).contains(calls), "\(calls) scripts")
    }
  }

  @Test("held prunes are reviewed, and applied only where the token is the same and not registered since")
  func apply() async throws {
    try await withStore { store, loop in
      let ids = (0..<40).map { "d\($0)" }
      try await Self.register(ids, store)
      var leases: [Lease] = []
      for partition in 0..<4 { leases.append(try await store.take(partition)) }
      try await store.pruneBrakes.brake(
        Self.ios, Braked(since: WallTime(milliseconds: 8_000), seen: 30, dead: 20, norm: 0.01))
      let prunes = ids.map { Self.prune($0, held: true) }
      #expect(try await Self.flush(prunes, leases, number: 1, store) == (0, 40))
      // Its answer was lost; and the next send says the same.
      #expect(try await Self.flush(prunes, leases, number: 1, store) == (0, 0))
      #expect(try await Self.flush(prunes, leases, number: 2, store) == (0, 0))
      #expect(try await Self.dead(ids, store) == [])
      _ = try await store.pruneBrakes.learnNorms([(Self.ios, 20, 20)])

      let review = try await store.pruneBrakes.review(of: Self.ios, app: shop, sample: 3)
      #expect(review.held == 40 && review.reasons == ["Unregistered": 40] && review.sample.count == 3)
      #expect(review.earliest == WallTime(milliseconds: 9_000))
      #expect(review.brake?.seen == 50 && review.brake?.dead == 40)
      #expect(review.norm == PruneNorm(seen: 0, dead: 0))
      #expect(review.sample.allSatisfy { $0.message == Self.message && $0.token == "t-\($0.device.rawValue)" })

      // Meanwhile one registers again, one has another token, one is gone.
      try await Self.register(["d0"], store, at: 9_500)
      _ = try await store.devices.put(device("d1", token: "other", at: 8_500), app: shop)
      _ = try await store.devices.removeDevice(DeviceID(rawValue: "d2"), app: shop)
      let applied = try await store.pruneBrakes.applyHeld(of: Self.ios, app: shop)
      #expect(applied == (37, 3, true))
      #expect(try await Self.dead(ids, store) == Set(ids.dropFirst(3)))
      #expect(try await store.pruneBrakes.all() == [:])
      // What was seen is normal from now on.
      let norm = try await store.pruneBrakes.learnNorms([(Self.ios, 0, 0)])[0]
      #expect(abs(norm.dead / norm.seen - 0.8) < 0.001)
      #expect(try await store.pruneBrakes.applyHeld(of: Self.ios, app: shop) == (0, 0, false))
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
      // It was a mistake: neither the prunes nor the share that they made normal outlive it, whatever was seen since.
      _ = try await store.pruneBrakes.learnNorms([(Self.ios, 100, 1)])
      var filter = RevivalFilter()
      filter.credential = Self.ios
      #expect(try await store.prunes.undo(filter, app: shop) == (37, 0))
      #expect(try await store.pruneBrakes.learnNorms([(Self.ios, 0, 0)]) == [PruneNorm(seen: 0, dead: 0)])
      // Once later traffic has outweighed what was declared, an undo leaves the share alone.
      _ = try await store.pruneBrakes.learnNorms([(Self.ios, 20, 20)])
      try await store.pruneBrakes.brake(
        Self.ios, Braked(since: WallTime(milliseconds: 8_000), seen: 30, dead: 20, norm: 0.01))
      #expect(try await store.pruneBrakes.release(Self.ios, accepting: true))
      let later = try await store.pruneBrakes.learnNorms([(Self.ios, 100_000, 1_000)])
      try await store.pruneBrakes.restoreNorms(of: [Self.ios])
      #expect(try await store.pruneBrakes.learnNorms([(Self.ios, 0, 0)]) == later)
    }
  }

  @Test("discarded prunes leave every device alive, and the norm as it was")
  func discard() async throws {
    try await withStore { store, loop in
      try await Self.register(["a", "b"], store)
      var leases: [Lease] = []
      for partition in 0..<4 { leases.append(try await store.take(partition)) }
      _ = try await store.pruneBrakes.learnNorms([(Self.ios, 1_000, 10)])
      try await store.pruneBrakes.brake(
        Self.ios, Braked(since: WallTime(milliseconds: 1), seen: 20, dead: 20, norm: 0.01))
      #expect(try await Self.flush(["a", "b"].map { Self.prune($0, held: true) }, leases, number: 1, store).held == 2)
      #expect(try await store.pruneBrakes.held(of: [Self.ios]) == [Self.ios: 2])
      #expect(try await store.pruneBrakes.discardHeld(of: Self.ios) == (2, true))
      #expect(try await Self.dead(["a", "b"], store) == [])
      #expect(try await store.pruneBrakes.learnNorms([(Self.ios, 0, 0)]) == [PruneNorm(seen: 1_000, dead: 10)])
      #expect(try await store.pruneBrakes.review(of: Self.ios, app: shop, sample: 1).held == 0)
    }
  }

  @Test("prunes are taken back by message, credential and time; whoever moved or came back stays as he is")
  func undo() async throws {
    try await withStore { store, loop in
      let ids = (0..<30).map { "d\($0)" }
      try await Self.register(ids, store)
      var leases: [Lease] = []
      for partition in 0..<4 { leases.append(try await store.take(partition)) }
      let prunes = ids.enumerated().map { Self.prune($1, at: 9_000 + Int64($0)) }
      #expect(try await Self.flush(prunes, leases, number: 1, store).pruned == 30)
      // One comes back; another's token is registered under another id.
      try await Self.register(["d0"], store, at: 20_000)
      _ = try await store.devices.put(device("elsewhere", token: "t-d1", at: 20_000), app: shop)

      var filter = RevivalFilter()
      filter.message = MessageID(acceptedAt: WallTime(milliseconds: 5_000), partition: 0, random: 8)
      #expect(try await store.prunes.undo(filter, app: shop) == (0, 0))
      filter.message = Self.message
      filter.credential = CredentialID(rawValue: "shop/android")
      #expect(try await store.prunes.undo(filter, app: shop) == (0, 0))
      filter.credential = Self.ios
      filter.from = WallTime(milliseconds: 9_001)
      filter.to = WallTime(milliseconds: 9_010)
      #expect(try await store.prunes.undo(filter, app: shop) == (9, 1))
      #expect(try await Self.dead(ids, store) == Set(["d1"] + ids[11...]))
      #expect(try await store.prunes.undo(filter, app: AppID(rawValue: "other")) == (0, 0))
      filter.from = nil
      filter.to = nil
      #expect(try await store.prunes.undo(filter, app: shop) == (19, 1))
      #expect(try await Self.dead(ids, store) == ["d1"])
      #expect(try await store.audiences.deviceCounts(app: shop) == [.apns: 30])
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
    }
  }

  @Test("norms forget: older verdicts weigh half after a hundred thousand")
  func norms() async throws {
    try await withStore { store, _ in
      _ = try await store.pruneBrakes.learnNorms([(Self.ios, 90_000, 9_000)])
      let norm = try await store.pruneBrakes.learnNorms([
        (Self.ios, 30_000, 0), (CredentialID(rawValue: "shop/web"), 5, 5),
      ])
      #expect(norm == [PruneNorm(seen: 60_000, dead: 4_500), PruneNorm(seen: 5, dead: 5)])
    }
  }

  @Test("what cannot be read of a brake keeps it on, and prunes nothing")
  func corrupt() async throws {
    try await withStore { store, loop in
      try await Self.register(["a"], store)
      let partition = store.session.partition(of: DeviceID(rawValue: "a"), in: shop)
      let held = store.session.keys.held(partition, Self.ios)
      for command in [
        RedisCommand("HSET", store.session.keys.brakes, Self.ios.rawValue, "?? 1"),
        RedisCommand("HSET", store.session.keys.norms, Self.ios.rawValue, "inf 3"),
        RedisCommand("HSET", held, "a", "\u{1}"),
      ] { _ = try await store.session.ask(command) }
      #expect(try await store.pruneBrakes.all()[Self.ios] != nil)
      #expect(try await store.pruneBrakes.learnNorms([(Self.ios, 1, 1)]) == [PruneNorm(seen: 0, dead: 0)])
      let review = try await store.pruneBrakes.review(of: Self.ios, app: shop, sample: 9)
      #expect(review.held == 0 && review.unreadable == 1)
      #expect(try await store.pruneBrakes.applyHeld(of: Self.ios, app: shop) == (0, 0, true))
      #expect(try await store.pruneBrakes.review(of: Self.ios, app: shop, sample: 9).unreadable == 0)
      #expect(try await Self.dead(["a"], store) == [])
    }
  }
}
