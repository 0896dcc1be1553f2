import Audience
import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Imports enter sets before records")
struct ImportStories {
  /// What becomes of an import that stood between its sets and its records.
  enum Ending: CaseIterable { case goesOn, isSwept, isRepeated }

  static func phones(_ numbers: Range<Int>) -> [Device] {
    numbers.map { number in
      var phone = device("", token: "t\(number)", at: 1_000 + Int64(number))
      phone.id = DeviceID.derived(of: phone.address, in: shop)
      phone.user = "u\(number % 70)"
      phone.platform = "ios"
      phone.tags = ["all", "some:\(number % 7)", "n:\(number)"]
      return phone
    }
  }
  /// By partition, entered for their users.
  private func writes(
    _ phones: [Device], _ store: Store, _ loop: EventLoop
  ) async throws -> (parts: [DevicePart], users: JoinedUsers) {
    let asked = phones.map { DeviceToPlace(id: $0.id, found: nil, users: [$0.user].compactMap { $0 }) }
    var (places, parts) = try await store.numbers.places(of: asked, shop, intends: true)
    let joins = zip(phones, places).compactMap { phone, place in phone.user.map { (user: $0, place: place) } }
    let users = try await store.users.enter(joins, shop).users
    for part in parts.indices {
      for (phone, place) in parts[part].devices.map({ (phones[$0], places[$0]) }) {
        var record = DeviceRecord(StoredDevice(device: phone, tombstone: nil), bornAt: loop.wallNow)
        if let entry = phone.user.flatMap(users.entry) { record.take(entry) }
        parts[part].writes.append(
          DeviceWrite(place: place, id: phone.id, before: nil, after: record, under: parts[part].intent))
      }
    }
    return (parts, users)
  }

  @Test("until the records are there nobody sees it; then all is true, however it ends", arguments: Ending.allCases)
  func cutOff(ending: Ending) async throws {
    try await withStore(quickSettings(partitions: 2)) { store, loop in
      let (before, phones) = (Self.phones(0..<40), Self.phones(40..<240))
      _ = try await store.devices.put(before, app: shop)
      let parts = try await self.writes(phones, store, loop).parts
      try await store.intents.foresee(parts, shop)
      let intents = parts.compactMap(\.intent)
      for (part, intent) in zip(parts, intents) { try await store.intents.intend(part.writes, under: intent, shop) }
      let writes = parts.flatMap(\.writes)
      #expect(writes.count == 200 && writes.allSatisfy(\.isInSets))
      let held = try await store.setsInRedis(app: shop)
      #expect(held[SetName(.tag, "all")]?.count == 240, "all are in their sets")
      for tag in ["all", "n:100"] {
        let selection = AudienceSelection(expression: .term(.tag(tag)))
        #expect(
          try await store.audiences.count(selection, app: shop, now: loop.wallNow).total == (tag == "all" ? 40 : 0))
      }
      #expect(try await store.tags.page(shop, prefix: "n:", limit: 500, cursor: nil).items.count == 40)
      // Beside an import that is at work no repair takes out what it has entered, nor its numbers.
      let faults = try await store.registryCheck.reindex(shop, repair: false).faults
      #expect(Set(faults.keys).isSubset(of: [.foreignInUser, .oldUserTags]), "users are entered first: \(faults)")
      for partition in 0..<2 { try await store.intents.undoOrphans(partition, now: loop.wallNow) }

      switch ending {
      case .goesOn:
        let written = try await store.records.write(writes, app: shop)
        #expect(written.allSatisfy { $0.isDone })
        for (intent, part) in zip(intents, parts) {
          try await store.intents.end(intent, stored: Set(part.writes.map(\.place.number)))
        }
      case .isSwept:
        for partition in 0..<2 {
          try await store.sweep.run(try await store.take(partition), now: loop.wallNow + 120_000)
        }
        let none = AudienceSelection(expression: .term(.tag("all")))
        #expect(try await store.audiences.count(none, app: shop, now: loop.wallNow).total == 40)
        #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
      case .isRepeated:
        #expect(try await store.devices.put(phones, app: shop).allSatisfy { $0.registration == .created })
      }
      try await store.expectTrueSets(app: shop)
      let sizes = try await lastNumbers(store)
      if ending != .goesOn {
        // Whoever wakes up too late writes nothing.
        for result in try await store.records.write(writes, app: shop) {
          guard case .overtaken = result else { return #expect(Bool(false), "\(result)") }
        }
        for intent in intents { try await store.intents.end(intent, stored: []) }
        try await store.expectTrueSets(app: shop)
        _ = try await store.devices.put(phones + Self.phones(240..<280), app: shop)
        #expect(try await lastNumbers(store) == sizes + (ending == .isSwept ? 240 : 40), "numbers rest first")
      }
      _ = try await store.devices.put(before + phones, app: shop)
      for partition in 0..<2 {
        #expect(
          try await store.session.redis.call(RedisCommand("EXISTS", store.session.keys.intents(partition)))
            == .integer(0))
      }
      try await store.expectTrueSets(app: shop)
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
    }
  }
  private func lastNumbers(_ store: Store) async throws -> Int {
    var sum = 0
    for partition in 0..<2 {
      sum += Int(
        try await store.session.redis.call(RedisCommand("GET", store.session.keys.lastNumber(partition, shop))).integer
          ?? 0)
    }
    return sum
  }

  /// What becomes of an import whose process was killed.
  enum Aftermath: CaseIterable { case isSwept, isRepeated }

  @Test(
    "killed after any command it leaves nothing behind once it is swept or repeated", arguments: [20, 120],
    Aftermath.allCases)
  func killed(count: Int, aftermath: Aftermath) async throws {
    let server = RedisServer()
    var narrow = quickSettings(partitions: 1)
    // No user has room for devices that were left behind.
    narrow.devicesPerUser = 2
    let settings = narrow
    let (before, total) = (Self.phones(0..<10), 10 + count)
    var changed = Self.phones(5..<total)
    // Some change their user. A repetition does not know whom they left; that is for the sweep.
    if aftermath == .isSwept { for at in 0..<5 { changed[at].user = "heir\(at)" } }
    let phones = changed
    try await withStore(settings, server: server) { store, loop in
      let everyone = AudienceSelection(expression: .everyone)
      var (steps, isWhole) = (0, false)
      while !isWhole {
        _ = try await store.session.redis.call(RedisCommand("FLUSHALL"))
        store.session.registry.shelf.books = [:]
        try await store.open(timeout: 60_000)
        _ = try await store.devices.put(before, app: shop)
        let relay = RedisRelay(to: server.socketPath)
        defer { relay.stop() }
        let victim = Store(loop: loop, redis: relay.endpoint, settings: settings)
        try await victim.open()
        defer { victim.close() }
        await relay.pass(steps, then: .dies)
        do {
          _ = try await victim.devices.put(phones, app: shop)
          isWhole = true
        } catch {}
        let what = "\(count) devices, killed after \(steps) commands, then \(aftermath)"
        switch aftermath {
        case .isSwept:
          try await store.intents.undoOrphans(0, now: loop.wallNow + 120_000)
          try await store.arrivals.settleArrivals(0, now: loop.wallNow + 120_000)
        case .isRepeated:
          #expect(try await store.devices.put(phones, app: shop).count == phones.count)
          #expect(try await store.audiences.count(everyone, app: shop, now: loop.wallNow).total == total, "\(what)")
        }
        let report = try await store.registryCheck.reindex(shop, repair: false)
        #expect(report.isClean, "\(what): \(report.faults)")
        try await store.expectTrueSets(app: shop, "\(what)")
        _ = try await store.devices.put(phones, app: shop)
        #expect(try await store.audiences.count(everyone, app: shop, now: loop.wallNow).total == total, "\(what)")
        let last =
          try await store.session.redis.call(RedisCommand("GET", store.session.keys.lastNumber(0, shop))).integer ?? 0
        #expect(last <= total * 2, "\(what)")
        try await store.intents.undoOrphans(0, now: loop.wallNow + 120_000)
        #expect(
          try await store.session.redis.call(RedisCommand("EXISTS", store.session.keys.intents(0))) == .integer(0),
          "\(what)")
        steps += 1
        try #require(steps < 300)
      }
      #expect(steps > 6)
    }
  }

  @Test("an import of few devices, too, writes nothing once its numbers are another's")
  func fewTakenOver() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let parts = try await self.writes(Self.phones(0..<10), store, loop).parts
      let part = try #require(parts.first)
      let intent = try #require(part.intent)
      try await store.intents.intend(part.writes, under: intent, shop)
      #expect(part.writes.allSatisfy { !$0.isInSets })
      try await store.intents.undoOrphans(0, now: loop.wallNow + 120_000)
      _ = try await store.devices.put(Self.phones(10..<20), app: shop)
      let last = try await store.session.redis.call(RedisCommand("GET", store.session.keys.lastNumber(0, shop)))
      #expect(last.integer == 20, "numbers rest first")
      for result in try await store.records.write(part.writes, app: shop) {
        guard case .overtaken = result else { return #expect(Bool(false), "\(result)") }
      }
      try await store.intents.end(intent, stored: [])
      try await store.expectTrueSets(app: shop)
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
      let everyone = AudienceSelection(expression: .everyone)
      #expect(try await store.audiences.count(everyone, app: shop, now: loop.wallNow).total == 10)
    }
  }

  @Test("records are sent behind the sets, and refused where a set was not filled; repeated, all is true")
  func setRefused() async throws {
    try await withStore(quickSettings(partitions: 2)) { store, loop in
      let phones = Self.phones(0..<200)
      // Damage in the middle of the sets of one partition.
      let broken = store.session.keys.setBucket(0, shop, SetName(.platform, "ios"), block: 0)
      _ = try await store.session.redis.call(RedisCommand("SET", broken, "no hash"))
      await #expect(throws: StoreError.self) { try await store.devices.put(phones, app: shop) }
      let written = try await store.allRecords(app: shop).map(\.place.partition)
      #expect(!written.contains(0), "no record without its sets")
      _ = try await store.session.redis.call(RedisCommand("DEL", broken))
      #expect(try await store.devices.put(phones, app: shop).count == 200)
      // Scripts that Redis forgets in between are sent again, and may come behind what they should come before.
      for start in stride(from: 200, to: 600, by: 100) {
        _ = try await store.session.redis.call(RedisCommand("SCRIPT", "FLUSH"))
        #expect(
          try await store.devices.put(Self.phones(start..<start + 100), app: shop).allSatisfy {
            $0.registration == .created
          })
      }
      let everyone = AudienceSelection(expression: .everyone)
      #expect(try await store.audiences.count(everyone, app: shop, now: loop.wallNow).total == 600)
      #expect(try await lastNumbers(store) <= 900, "refused numbers are used again")
      for partition in 0..<2 {
        #expect(
          try await store.session.redis.call(RedisCommand("EXISTS", store.session.keys.intents(partition)))
            == .integer(0))
      }
      try await store.expectTrueSets(app: shop)
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
    }
  }

  @Test("new devices take numbers that are free no more, beside others whose ids have their hashes")
  func numbersAndHashes() async throws {
    try await withStore(quickSettings(partitions: 2)) { store, _ in
      _ = try await store.devices.put(Self.phones(0..<20), app: shop)
      let old = try await store.allRecords(app: shop).map(\.place)
      let phones = Self.phones(20..<220)
      for partition in 0..<2 {
        let next = Int(
          try await store.session.redis.call(RedisCommand("GET", store.session.keys.lastNumber(partition, shop)))
            .integer ?? 0)
        // Freed in days to come: none is taken from here, and those that are counted up are the same.
        for number in next..<next + 200 {
          _ = try await store.session.redis.call(
            RedisCommand("ZADD", store.session.keys.freeNumbers(partition, shop), "9999999999999", String(number)))
        }
        // Every third new one shares its hash with an old one.
        let shared = try #require(old.first { $0.partition == partition })
        for phone in phones where Int(phone.address.token.dropFirst()).map({ $0 % 3 == 0 }) ?? false {
          let place = IndexPlace(phone.id, shop, store.session.keys)
          guard place.partition == partition else { continue }
          var command = RedisCommand("APPEND", store.session.keys.index(partition, shop, place.bucket))
          command.append(raw32(Int(place.hash)) + raw32(shared.number))
          _ = try await store.session.redis.call(command)
        }
      }
      #expect(try await store.devices.put(phones, app: shop).allSatisfy { $0.registration == .created })
      #expect(try await store.devices.put(phones, app: shop).allSatisfy { $0.registration == .updated })
      let records = try await store.allRecords(app: shop)
      #expect(records.count == 220)
      for partition in 0..<2 {
        let free = try await store.session.redis.call(
          RedisCommand("ZRANGE", store.session.keys.freeNumbers(partition, shop), "0", "-1"))
        let numbers = Set((free.array ?? []).compactMap { $0.text.flatMap { Int($0) } })
        let given = Set(records.filter { $0.place.partition == partition }.map(\.place.number))
        #expect(numbers.isDisjoint(with: given), "a number is free, and a device's")
        #expect(!numbers.isEmpty)
      }
      try await store.expectTrueSets(app: shop)
    }
  }

  /// Of few ids and tokens, so that most are registered several times, with and without ids.
  private static func crowd(_ count: Int, _ random: inout Seeded) -> [Device] {
    (0..<count).map { number in
      let name = random.next() % 3 == 0 ? "" : "d\(random.next() % 120)"
      var phone = device(name, token: "t\(random.next() % 120)", at: Int64(1_000 + number))
      if random.next() % 2 == 0 { phone.user = "u\(random.next() % 30)" }
      phone.tags = ["all", "n:\(number)", "m:\(random.next() % 5)"]
      return phone
    }
  }

  @Test("an import ends as if one device had come behind the other, in one step or in many", arguments: [40, 500])
  func inOrder(devicesPerStep: Int) async throws {
    var random = Seeded()
    let phones = Self.crowd(500, &random)
    /// By id what a client sees, and the ids that were answered.
    func outcome(_ register: @escaping @Sendable (Store) async throws -> [PutResult]) async throws
      -> (devices: [String: String], ids: [String])
    {
      try await withStore(quickSettings(partitions: 2)) { store, loop in
        let ids = try await register(store).map { result in
          guard case .stored(let id, _) = result else { return "full" }
          return id.rawValue
        }
        try await store.expectTrueSets(app: shop)
        let report = try await store.registryCheck.reindex(shop, repair: false)
        #expect(report.isClean, "\(report)")
        let all = try await store.export.page(shop, after: nil, limit: 10_000, tombstones: true).devices
        return (
          Dictionary(
            uniqueKeysWithValues: all.map { ($0.device.id.rawValue, "\($0.device) \($0.tombstone?.reason ?? "")") }),
          ids
        )
      }
    }
    let inline = try await outcome { store in
      var results: [PutResult] = []
      for phone in phones { results.append(try await store.devices.put(phone, app: shop)) }
      return results
    }
    let steps = try await outcome { store in
      store.session.registry.devicesPerStep = devicesPerStep
      return try await store.devices.put(phones, app: shop)
    }
    #expect(steps.ids == inline.ids, "seed \(random.seed)")
    #expect(steps.devices.count == inline.devices.count, "seed \(random.seed)")
    for (id, device) in inline.devices { #expect(steps.devices[id] == device, "seed \(random.seed)") }
  }

  @Test("tags that a user gets between the entry and the record reach the device; so do its other devices")
  func crossed() async throws {
    try await withStore(quickSettings(partitions: 2)) { store, loop in
      let phones = Self.phones(0..<60)
      let (parts, users) = try await self.writes(phones, store, loop)
      // Nobody has changed anything since, and nothing is settled.
      try await store.users.settle(users, shop)
      // There is no record yet that this could change.
      _ = try await store.users.changeTags(ofUser: "u7", TagChange(add: ["vip"]), app: shop)
      var second = device("second", token: "second")
      second.user = "u8"
      _ = try await store.devices.put(second, app: shop)
      for part in parts {
        let written = try await store.records.write(part.writes, app: shop)
        #expect(written.allSatisfy { $0.isDone })
      }
      func first(_ number: Int) async throws -> DeviceRecord {
        try #require(try await store.records.find([phones[number].id], app: shop)[0]).record
      }
      #expect(try await first(7).stored.userTags.isEmpty)
      try await store.users.settle(users, shop)
      #expect(try await first(7).stored.userTags == ["vip"])
      #expect(try await first(8).isOneOfSeveral, "its user has another device since")
      #expect(try await !first(9).isOneOfSeveral)
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
      try await store.expectTrueSets(app: shop)
    }
  }

  @Test("imports of the same devices at the same time, and single registrations beside them, end as one of each")
  func atOnce() async throws {
    try await withStore(quickSettings(partitions: 2)) { store, loop in
      let left = Count()
      for round in 0..<4 {
        left.value += 1
        loop.spawn {
          var phones = Self.phones(0..<150)
          for place in phones.indices { phones[place].tags.append("round:\(round)") }
          if round == 3 {
            for phone in phones where phone.registeredAt.milliseconds % 3 == 0 {
              _ = try? await store.devices.put(phone, app: shop)
            }
          } else {
            _ = try? await store.devices.put(phones, app: shop)
          }
          left.value -= 1
        }
      }
      while left.value > 0 {
        // A repair beside them breaks nothing.
        _ = try await store.registryCheck.reindex(shop, repair: true)
      }
      let everyone = AudienceSelection(expression: .everyone)
      #expect(try await store.audiences.count(everyone, app: shop, now: loop.wallNow).total == 150)
      let rounds = AudienceSelection(expression: .term(.tagPrefix("round:")))
      #expect(try await store.audiences.count(rounds, app: shop, now: loop.wallNow).total == 150)
      _ = try await store.registryCheck.reindex(shop, repair: true)
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
      try await store.expectTrueSets(app: shop)
    }
  }
  private final class Count { var value = 0 }
}
