import Audience
import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Sets and counts stay exact")
struct ExactSets {
  private static let tags = [
    "vip", "plan:pro", "plan:free", "plan:team:big", "city:wien", "e\u{301}", "\u{e9}", ":odd",
  ]
  private static let users = ["ann", "zoe\u{301}", "zo\u{e9}"]

  @Test("a random history leaves what a naive registry would hold", arguments: [0, 1, 2])
  func randomHistory(round: Int) async throws {
    let seed = UInt64.random(in: 0..<1_000_000)
    try await withStore(quickSettings(partitions: 3)) { store, loop in
      var random = Seeded(seed: seed)
      var model = RegistryModel()
      let leases = [try await store.take(0), try await store.take(1), try await store.take(2)]
      var flushes: UInt64 = 0
      var clock: Int64 = 1_700_000_000_000

      func some<T>(_ values: [T]) -> T { values.randomElement(using: &random)! }
      func maybe<T>(_ values: [T]) -> T? { Bool.random(using: &random) ? some(values) : nil }
      func anyDevice() -> Device {
        clock += Int64.random(in: 1...20_000_000, using: &random)
        let id = Int.random(in: 0..<3, using: &random) == 0 ? "" : "d\(Int.random(in: 0..<8, using: &random))"
        var new = device(id, token: "0\(Int.random(in: 10..<22, using: &random))", at: clock)
        if Int.random(in: 0..<4, using: &random) == 0 { new.address.provider = .fcm }
        new.address.bundleID = maybe(["com.example"])
        new.user = maybe(Self.users)
        new.tags = Self.tags.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
        new.platform = maybe(["ios", "android"])
        new.language = maybe(["de", "de-AT", "fr", "den"])
        new.timeZone = maybe(["Europe/Vienna", "UTC"])
        new.appVersion = maybe(["1.2", "2.0", "v10"])
        for permission in Permission.allCases where Int.random(in: 0..<4, using: &random) == 0 {
          new.permissions.insert(permission)
        }
        new.activityID = maybe(["match-7", "match-8", "zo\u{e9}"])
        new.attributes = [JSONMember(some(["first_name", "age"]), .integer(3))]
        new.enabled = Int.random(in: 0..<5, using: &random) != 0
        new.lastSeen = maybe([WallTime(milliseconds: clock - Int64.random(in: 0...400_000_000, using: &random))])
        return new
      }
      func change() -> TagChange {
        Bool.random(using: &random)
          ? TagChange(add: [some(Self.tags)], remove: [some(Self.tags)])
          : TagChange(replace: Self.tags.filter { _ in Bool.random(using: &random) })
      }
      func prune() async throws {
        guard
          let victim = model.devices.values.filter({ $0.tombstone == nil })
            .min(by: { $0.device.id.rawValue < $1.device.id.rawValue })
        else { return }
        let id = victim.device.id
        flushes += 1
        var flush = Flush(lease: leases[store.session.partition(of: id, in: shop)], number: flushes)
        let tombstone = Tombstone(reason: "Unregistered", at: WallTime(milliseconds: clock))
        flush.prunes = [
          Flush.Prune(
            app: shop, device: id, token: victim.device.address.token, reason: tombstone.reason, since: nil,
            at: tombstone.at)
        ]
        _ = try await store.outcomes.flush(flush)
        model.devices[id]?.tombstone = tombstone
      }
      func expressions() -> [AudienceExpression] {
        let terms: [AudienceTerm] = [
          .tag("vip"), .tag("\u{e9}"), .tagPrefix("plan:"), .tagPrefix("plan:team:"), .provider("apns"),
          .platform("ios"),
          .language("de"), .language("de-at"), .zone("UTC"), .appVersion(.greaterOrEqual, Version("2")),
          .appVersion(.exact, Version("1.2")), .seen(.within, days: 3), .seen(.olderThan, days: 3),
          .present(.language), .present(.appVersion), .tag("nobody"), .permission("provisional"), .activity("match-7"),
          .activity("zoe\u{301}"), .present(.permission), .activity("none"),
        ]
        let (a, b) = (AudienceExpression.term(some(terms)), AudienceExpression.term(some(terms)))
        return [.everyone, a, .not(a), .all([a, .not(b)]), .any([.not(a), b])]
      }
      func check() async throws {
        for (id, wanted) in model.devices {
          let held = try await store.devices.device(id, app: shop)
          #expect(held?.device == wanted.device, "seed \(seed)")
          #expect(held?.tombstone?.reason == wanted.tombstone?.reason, "seed \(seed)")
          #expect(
            Set(((held?.device.tags ?? []) + (held?.userTags ?? [])).map(ExactText.init)) == model.tags(of: wanted),
            "seed \(seed)")
        }
        #expect(try await store.allRecords(app: shop).count == model.devices.count, "seed \(seed)")
        try await store.expectTrueSets(app: shop, "seed \(seed)")
        let now = WallTime(milliseconds: clock)
        for expression in expressions() {
          let selection = AudienceSelection(
            expression: expression, reach: some(Reach.allCases), providers: maybe([[.apns], [.fcm, .apns]]))
          let carries: ((Address) -> Bool)? = maybe([{ $0.provider == .fcm }, { $0.provider != .fcm }])
          let wanted = model.members(selection, now: now, carries)
          let count = try await store.audiences.count(selection, app: shop, now: now, carries: carries)
          #expect(count.total == wanted.count, "\(selection), seed \(seed)")
          #expect(count.byProvider.values.reduce(0, +) == wanted.count, "seed \(seed)")
          #expect(count.byPlatform.values.reduce(0, +) == wanted.count, "seed \(seed)")
          var found: Set<DeviceID> = []
          for partition in 0..<3 {
            let groups = try await store.audiences.members(
              selection, app: shop, partition: partition, now: now, carries: carries)
            for group in groups {
              #expect(group.numbers == group.numbers.sorted())
              let devices = try await store.records.devices(
                numbers: group.numbers.map { Int($0) }, partition: partition, app: shop, bornBefore: nil)
              for stored in devices {
                let stored = try #require(stored)
                #expect(RouteClass(of: stored.device.address) == group.route)
                #expect(stored.device.platform == group.platform)
                found.insert(stored.device.id)
              }
            }
          }
          #expect(found == wanted, "\(selection), seed \(seed)")
        }
        for user in Self.users {
          let held = try await store.users.user(user, app: shop)
          let wanted = model.devices.values.filter { $0.device.isOf(user) }.map(\.device.id.rawValue).sorted()
          #expect((held?.devices ?? []).map(\.device.id.rawValue) == wanted, "seed \(seed)")
          #expect(
            (held?.tags ?? []).map(ExactText.init) == (model.userTags[ExactText(user)] ?? []).map(ExactText.init),
            "seed \(seed)")
        }
      }

      for step in 0..<160 {
        switch Int.random(in: 0..<16, using: &random) {
        case 0...4:
          let device = anyDevice()
          let id = model.put(device, at: WallTime(milliseconds: clock))
          #expect(try await store.devices.put(device, app: shop).id == id, "seed \(seed)")
        case 5...7:
          // Duplicates of id and token within one import are as if they came one after the other.
          let batch = (0..<Int.random(in: 2...20, using: &random)).map { _ in anyDevice() }
          let ids = batch.map { model.put($0, at: WallTime(milliseconds: clock)) }
          #expect(try await store.devices.put(batch, app: shop).map(\.id) == ids, "seed \(seed)")
        case 8...9:
          let id = DeviceID(rawValue: "d\(Int.random(in: 0..<8, using: &random))")
          let change = change()
          let result = try await store.devices.changeTags(of: id, change, app: shop)
          if let known = model.devices[id] {
            model.devices[id]?.device.tags = change.applied(to: known.device.tags)
          } else {
            #expect(result == .noDevice, "seed \(seed)")
          }
        case 10...11:
          let user = some(Self.users)
          let change = change()
          let tags = change.applied(to: model.userTags[ExactText(user)] ?? [])
          #expect(try await store.users.changeTags(ofUser: user, change, app: shop) == .changed(tags), "seed \(seed)")
          model.userTags[ExactText(user)] = tags.isEmpty ? nil : tags
        case 12...13: try await prune()
        case 14:
          let id = model.devices.keys.map(\.rawValue).sorted().first.map { DeviceID(rawValue: $0) }
          if let id { #expect(try await store.devices.removeDevice(id, app: shop) == model.remove(id), "seed \(seed)") }
        default:
          let user = some(Self.users)
          let theirs = model.devices.values.filter { $0.device.isOf(user) }.map(\.device.id)
          #expect(try await store.users.remove(user, app: shop) == theirs.count, "seed \(seed)")
          for id in theirs { _ = model.remove(id) }
          model.userTags[ExactText(user)] = nil
        }
        if step % 40 == 39 { try await check() }
      }
    }
  }

  @Test("sets of one bucket change together, each in its own form")
  func neighbours() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      var random = Seeded()
      // Names of attributes share a bucket; of these tags some do.
      let shares = [1, 2, 7, 30, 100, 400]
      for round in 0..<6 {
        let phones = (0..<1_200).filter { _ in round == 0 || random.next() % 3 > 0 }.map { number in
          var phone = device("d\(number)", token: "t\(number)")
          phone.attributes = shares.filter { random.next() % UInt64($0 * (round % 3 + 1)) == 0 }
            .map { JSONMember("in-\($0)", .integer(1)) }
          phone.tags = (0..<3).map { _ in "tag-\(random.next() % 2_500)" } + ["own-\(number)-\(round)"]
          return phone
        }
        _ = try await store.devices.put(phones, app: shop)
        try await store.expectTrueSets(app: shop, "seed \(random.seed), round \(round)")
      }
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean, "seed \(random.seed)")
    }
  }

  @Test("a block's set changes its form as it grows and as it shrinks, and stays the same set")
  func forms() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      func form(_ tag: String) async throws -> Int? {
        let name = SetName(.tag, tag)
        let held = try await store.session.redis.call(
          RedisCommand("HGET", store.session.keys.setBucket(0, shop, name, block: 0), name.text))
        return held.bytes?.count == 1 ? held.bytes?.first.map(Int.init) : held.bytes.map { _ in 0 }
      }
      let (list, bitmap) = (Int(UInt8(ascii: "s")), Int(UInt8(ascii: "b")))
      var phones = (0..<2_400).map { number in
        var phone = device("d\(number)", token: "t\(number)")
        phone.tags = ["all"] + (number % 40 == 0 ? ["some"] : []) + (number % 100 == 0 ? ["few"] : [])
        return phone
      }
      let results = try await store.devices.put(phones, app: shop)
      #expect(results.allSatisfy { $0.registration == .created })
      #expect(try await form("all") == bitmap)
      #expect(try await form("some") == list)
      #expect(try await form("few") == 0)
      try await store.expectTrueSets(app: shop)
      // Some leave: not yet enough to change back; then enough.
      for number in 0..<1_000 { phones[number].tags = [] }
      _ = try await store.devices.put(phones, app: shop)
      #expect(try await form("all") == bitmap)
      for number in 1_000..<2_330 { phones[number].tags = [] }
      _ = try await store.devices.put(phones, app: shop)
      #expect(try await form("all") == list)
      try await store.expectTrueSets(app: shop)
      for number in 2_330..<2_395 { phones[number].tags = [] }
      _ = try await store.devices.put(phones, app: shop)
      #expect(try await form("all") == 0)
      #expect(try await form("some") == nil)
      try await store.expectTrueSets(app: shop)
      for number in phones.indices { phones[number].tags = ["all"] }
      _ = try await store.devices.put(phones, app: shop)
      #expect(try await form("all") == bitmap)
      try await store.expectTrueSets(app: shop)
    }
  }

  @Test("an import that is cut off and repeated ends as if it had run once", arguments: [0, 3, 8, 20])
  func cutOff(milliseconds: Int64) async throws {
    let server = RedisServer()
    let phones = (0..<600).map { number in
      var phone = device(number % 3 == 0 ? "" : "d\(number)", token: "t\(number / 2)", at: 1_000 + Int64(number))
      phone.user = "u\(number % 40)"
      phone.tags = ["a:\(number % 7)", "n:\(number)"]
      return phone
    }
    try await withStore(quickSettings(partitions: 2), server: server) { store, loop in
      let cut = Store(loop: loop, redis: server.endpoint, settings: quickSettings(partitions: 2))
      try await cut.open()
      loop.after(milliseconds: milliseconds) { cut.close() }
      await #expect(throws: StoreError.self) {
        while true { _ = try await cut.devices.put(phones, app: shop) }
      }
      _ = try await store.devices.put(phones, app: shop)
      try await store.expectTrueSets(app: shop)
      let owners = try await store.tokens.owners(of: phones.map(\.address), app: shop)
      #expect(owners.allSatisfy { $0?.tombstone == nil })
      let count = try await store.audiences.count(
        AudienceSelection(expression: .everyone), app: shop, now: loop.wallNow)
      #expect(count.total == 300, "a token is one device")
    }
  }
}
