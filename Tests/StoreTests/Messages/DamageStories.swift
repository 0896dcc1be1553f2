import Audience
import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

/// What stands in Redis is changed at random, by a slip or a fault of the disk, and everything that a worker and the
/// API do goes on over it: no byte ends the process.
@Suite("Damage in the store", .serialized)
struct DamageStories {
  private static let seeds = [UInt64.random(in: 0..<1 << 32), 3, 2_026]
  private static let rounds = 40
  private static let members = 40
  private static let partitions = 2

  @Test("numbers that are damaged are added up all the same, and a heartbeat of any time is one")
  func sums() async throws {
    try await withStore(quickSettings(partitions: 4)) { store, _ in
      let (redis, keys) = (store.session.redis, store.session.keys)
      for partition in 0..<4 {
        _ = try await redis.call(RedisCommand("SET", keys.corrupt(partition), String(Int64.max)))
      }
      #expect(try await store.queue.status().quarantined == 4 * Int(StoredNumber.bound))
      for (name, score) in [("1", "-9.2e18"), ("2", "9.2e18"), ("3", "-inf")] {
        _ = try await redis.call(RedisCommand("ZADD", keys.workers, score, name))
      }
      #expect(try await store.workers.owners().workers.map(\.name) == ["2"])
    }
  }

  @Test("whatever is damaged, nothing traps: each step does its work or says why not", arguments: seeds)
  func damaged(seed: UInt64) async throws {
    print("damage in the store, seed \(seed)")
    try await withStore(quickSettings(partitions: Self.partitions)) { store, loop in
      var random = Seeded(seed: seed)
      for round in 0..<Self.rounds {
        // Now and then all is made anew, or nothing readable would be left.
        if round.isMultiple(of: 5) {
          // The words that this process knows are gone with the store: the first write finds that out.
          do throws { try await Self.fill(store, loop) } catch is StoreError { try await Self.fill(store, loop) }
        }
        for _ in 0..<Int.random(in: 1...3, using: &random) { try await Self.damage(store, &random) }
        try await Self.work(store, loop)
        await Self.read(store, loop)
      }
    }
  }

  @Test("a lease that cannot be read is nobody's, and one far in the future too: the partition finds an owner")
  func leases() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      for fields in [
        ["o", "x", "u", "soon"], ["o", "x", "u", "1e300"], ["o", "x", "u", "nan", "e", "nan"], ["o", "x", "e", "inf"],
        ["o", "x", "u", "-1", "e", "99999999999999999999"],
      ] {
        _ = try await store.session.ask(RedisCommand("DEL", store.session.keys.lease(0)))
        _ = try await store.session.ask(RedisCommand(words: ["HSET", store.session.keys.lease(0)] + fields))
        let lease = try await store.leases.take(0)
        #expect(lease != nil, "\(fields)")
        if let lease { try await store.leases.release(lease) }
      }
    }
  }

  @Test("numbers as large as can be overflow no sum of a report, of lists and audiences", arguments: [Int64.max, .min])
  func largeNumbers(number: Int64) async throws {
    try await withStore(quickSettings(partitions: Self.partitions)) { store, loop in
      try await Self.fill(store, loop)
      let reports = try await store.reports.messages(app: shop, before: nil, limit: 10).reports
      #expect(reports.count == 4, "three lists and an audience")
      for report in reports {
        for partition in 0..<Self.partitions {
          let key = store.session.keys.work(partition, report.id)
          let fields = pairs(try await store.session.ask(RedisCommand("HGETALL", key)).array ?? [])
          // All but what the list of targets and the audience are packed in.
          for name in fields.map(\.name) + ["r", "h", "n", "x", "fa", "lo"].map({ Array($0.utf8) })
          where name.first != UInt8(ascii: "t") {
            var set = RedisCommand("HSET", key)
            set.append(name)
            set.append(number)
            _ = try await store.session.ask(set)
          }
        }
        let message = store.session.keys.message(report.id)
        for name in ["tot", "at", "don", "pat", "rps", "v", "sl"] {
          _ = try await store.session.ask(RedisCommand("HSET", message, name, String(number)))
        }
        let damaged = try #require(try await store.reports.report(report.id, app: shop))
        let ended = damaged.counts.values.reduce(0, +)
        #expect(abs(damaged.total - ended - damaged.retrying) < 1 << 60)
      }
    }
  }

  // MARK: What stands there

  private static func fill(_ store: Store, _ loop: EventLoop) async throws {
    _ = try await store.session.ask(RedisCommand("FLUSHALL"))
    try await store.open(timeout: 60_000)
    let crowd = try await Crowd.register(members, in: store)
    for number in 0..<8 {
      var device = device("user\(number)", token: "u\(number)")
      device.user = "ann"
      device.tags = ["vip"]
      _ = try await store.devices.put(device, app: shop)
    }
    _ = try await store.users.changeTags(ofUser: "ann", TagChange(add: ["gold"]), app: shop)
    _ = try await store.namedAudiences.keep(
      NamedAudience(name: "all", expression: "vip"), app: shop,
      edition: try await store.namedAudiences.edition(app: shop))
    _ = try await store.keyring.create(NewKey(name: "", scopes: [.send]), app: shop, now: loop.wallNow)
    _ = try await store.workers.beat(WorkerReport(serial: 1, host: "h", process: 1, startedAt: loop.wallNow))
    for _ in 0..<3 {
      var direct = submission(tokens: (0..<30).map { "t\($0)" }, at: loop.wallNow)
      for device in crowd.devices.prefix(10) {
        direct.targets.append(
          SubmissionTarget(
            device: device, registered: true, address: address("ab"), route: .queue(apnsCredential)))
      }
      _ = try await store.acceptance.accept(direct)
    }
    _ = try await store.acceptance.accept(try await Crowd.submission(store, members, at: loop.wallNow))
    try await work(store, loop, endingAll: false)
    let braked = Braked(since: loop.wallNow, seen: 20, dead: 20, norm: 0.01)
    try await store.pruneBrakes.brake(apnsCredential, braked)
    _ = try await store.pruneBrakes.learnNorms([(apnsCredential, 9, 1)])
  }

  // MARK: What breaks it

  private static func damage(_ store: Store, _ random: inout Seeded) async throws {
    let keys = (try await store.session.ask(RedisCommand("KEYS", "*")).array ?? []).compactMap(\.text).sorted()
    // The layout says which store it is; without it nothing is opened.
    guard let key = keys.filter({ $0 != store.session.keys.layout }).randomElement(using: &random) else { return }
    switch try await store.session.ask(RedisCommand("TYPE", key)).text {
    case "string":
      let held = try await store.session.ask(RedisCommand("GET", key)).bytes ?? []
      var set = RedisCommand("SET", key)
      set.append(random.broken(held))
      _ = try await store.session.ask(set)
    case "hash":
      let fields = pairs(try await store.session.ask(RedisCommand("HGETALL", key)).array ?? [])
      guard let (name, value) = fields.randomElement(using: &random) else { return }
      var set = RedisCommand("HSET", key)
      set.append(Int.random(in: 0..<5, using: &random) == 0 ? random.broken(name) : name)
      set.append(random.broken(value))
      _ = try await store.session.ask(set)
    case "set":
      var add = RedisCommand("SADD", key)
      add.append(random.broken(Array("u:shop/ios".utf8)))
      _ = try await store.session.ask(add)
    case "zset":
      let members = (try await store.session.ask(RedisCommand("ZRANGE", key, "0", "-1")).array ?? []).compactMap(
        \.bytes)
      let scores = ["-inf", "+inf", "1e300", "-1e300", "0", "9007199254740993", "1.5"]
      var add = RedisCommand("ZADD", key, scores.randomElement(using: &random)!)
      let member = members.randomElement(using: &random) ?? []
      add.append(Bool.random(using: &random) ? member : random.broken(member))
      _ = try await store.session.ask(add)
    case "stream":
      let entries = try await store.session.ask(RedisCommand("XRANGE", key, "-", "+", "COUNT", "1")).array ?? []
      let fields = entries.first?.array?.last?.array?.compactMap(\.bytes) ?? []
      var add = RedisCommand("XADD", key, Bool.random(using: &random) ? "*" : "18446744073709551614-1")
      for (place, field) in fields.enumerated() {
        add.append(place % 2 == 1 && Bool.random(using: &random) ? random.broken(field) : field)
      }
      if fields.isEmpty { for word in ["a", "b"] { add.append(word) } }
      // An id that is not above the last one is refused: then another damage comes.
      _ = try? await store.session.ask(add)
    default: break
    }
  }

  // MARK: What goes on

  /// A worker's pass over all partitions.
  private static func work(_ store: Store, _ loop: EventLoop, endingAll: Bool = true) async throws {
    for partition in 0..<partitions {
      guard let lease = await attempt({ () throws(StoreError) in try await store.leases.take(partition) }) ?? nil else {
        continue
      }
      var flush = Flush(lease: lease, number: 1)
      await start(store, lease, loop)
      let streams = await attempt { () throws(StoreError) in try await store.queue.readyStreams(lease) } ?? []
      for (stream, _) in streams {
        let jobs =
          await attempt { () throws(StoreError) in
            try await store.queue.claim(lease, stream, after: nil, jobs: 50, targets: 500)
          } ?? []
        for job in jobs {
          _ = await attempt { () throws(StoreError) in try await store.queue.message(job.message) }
          for (place, target) in job.targets.enumerated() {
            switch place % 4 {
            case 0: flush.finals.append(final(target))
            case 1 where endingAll: flush.finals.append(final(target, .failed, reason: "odd"))
            case 2:
              flush.retries.append(
                .init(target: target, due: loop.wallNow, reason: "later", attempts: []))
            default: break
            }
          }
          if endingAll, job.isWhole { flush.finishedJobs.append(job.id) }
          let slice = StoredSlice(
            message: job.message, partition: partition, number: 0, revision: 0,
            members: job.targets.map(\.delivery.index))
          await attempt { () throws(StoreError) in try await store.queue.storeSlice(lease, slice) }
          _ = await attempt { () throws(StoreError) in try await store.queue.unfinishedMembers(of: slice) }
        }
      }
      let due = await attempt { () throws(StoreError) in
        try await store.queue.dueRetries(lease, now: loop.wallNow + 1, limit: 100)
      }
      for target in (due ?? []).prefix(endingAll ? 100 : 0) {
        flush.finals.append(final(target, .dead, reason: "gone"))
      }
      for (number, target) in flush.finals.enumerated() where number.isMultiple(of: 3) {
        var prune = Flush.Prune(
          app: shop, device: target.device, token: "ab\(number)", reason: "Unregistered", since: nil, at: loop.wallNow)
        prune.credential = apnsCredential
        prune.isHeld = number.isMultiple(of: 2)
        flush.prunes.append(prune)
      }
      let whole = flush
      _ = await attempt { () throws(StoreError) in try await store.outcomes.flush(whole) }
      _ = await attempt { () throws(StoreError) in try await store.queue.waitingRetries(lease, limit: 100) }
      _ = await attempt { () throws(StoreError) in try await store.queue.nextRetry(lease) }
      await attempt { () throws(StoreError) in try await store.sweep.run(lease, now: loop.wallNow + 20_000) }
      await attempt { () throws(StoreError) in try await store.leases.release(lease) }
    }
  }

  private static func start(_ store: Store, _ lease: Lease, _ loop: EventLoop) async {
    let due =
      await attempt { () throws(StoreError) in try await store.audienceStarts.due(lease, now: loop.wallNow, limit: 10) }
      ?? []
    guard let everyone = try? AudienceExpression(parsing: "everyone") else { return }
    for start in due {
      guard case .part(let id) = start else {
        if case .members(let id, let first) = start {
          await attempt { () throws(StoreError) in try await store.members.release(lease, id, first: first) }
        }
        continue
      }
      guard let message = await attempt({ () throws(StoreError) in try await store.queue.message(id) }) ?? nil else {
        continue
      }
      let selection = AudienceSelection(expression: everyone, reach: .allDevices, providers: nil)
      await attempt { () throws(StoreError) in
        try await store.audienceStarts.start(
          lease, message, selection: selection, now: loop.wallNow, route: Crowd.route)
      }
    }
  }

  /// All that the API reads.
  private static func read(_ store: Store, _ loop: EventLoop) async {
    let messages = await attempt { () throws(StoreError) in
      try await store.reports.messages(app: shop, before: nil, limit: 20).reports
    }
    for report in messages ?? [] {
      _ = await attempt { () throws(StoreError) in try await store.reports.report(report.id, app: shop) }
      _ = await attempt { () throws(StoreError) in
        try await store.deliveries.page(report.id, app: shop, cursor: nil, limit: 1_000)
      }
    }
    let ids = (0..<members).map { DeviceID(rawValue: "d\($0)") }
    _ = await attempt { () throws(StoreError) in try await store.devices.devices(ids, app: shop) }
    _ = await attempt { () throws(StoreError) in try await store.users.user("ann", app: shop) }
    _ = await attempt { () throws(StoreError) in try await store.tokens.owners(of: [address("u1")], app: shop) }
    _ = await attempt { () throws(StoreError) in try await store.workers.owners() }
    _ = await attempt { () throws(StoreError) in try await store.queue.status() }
    _ = await attempt { () throws(StoreError) in try await store.pruneBrakes.all() }
    _ = await attempt { () throws(StoreError) in try await store.pruneBrakes.learnNorms([(apnsCredential, 1, 0)]) }
    _ = await attempt { () throws(StoreError) in
      try await store.pruneBrakes.review(of: apnsCredential, app: shop, sample: 5)
    }
    _ = await attempt { () throws(StoreError) in try await store.prunes.undo(RevivalFilter(), app: shop) }
    _ = await attempt { () throws(StoreError) in try await store.tags.page(shop, prefix: "", limit: 50, cursor: nil) }
    _ = await attempt { () throws(StoreError) in try await store.registryCheck.reindex(shop, repair: true) }
    _ = await attempt { () throws(StoreError) in
      try await store.devices.put(device("d1", token: "ab1", at: loop.wallNow.milliseconds), app: shop)
    }
  }

  /// What the store refuses is an answer, whatever it says.
  @discardableResult
  private static func attempt<Value>(_ body: () async throws(StoreError) -> Value) async -> Value? {
    do throws(StoreError) { return try await body() } catch { return nil }
  }
}

extension Seeded {
  /// Other bytes of about that length, or what looks like a number and is none.
  fileprivate mutating func broken(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    switch Int.random(in: 0..<6, using: &self) {
    case 0: return (0..<Int.random(in: 0..<60, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
    case 1: return []
    case 2:
      let corrupt = [
        "-1", "0", "9223372036854775807", "-9223372036854775808", "99999999999999999999", "1e9", "nan", "inf",
      ]
      return Array(corrupt.randomElement(using: &self)!.utf8)
    case 3 where !bytes.isEmpty: bytes.removeLast(Int.random(in: 1...bytes.count, using: &self))
    case 4: bytes += bytes
    default:
      guard !bytes.isEmpty else { return [255] }
      for _ in 0..<Int.random(in: 1...4, using: &self) {
        bytes[Int.random(in: 0..<bytes.count, using: &self)] = UInt8.random(in: 0...255, using: &self)
      }
    }
    return bytes
  }
}
