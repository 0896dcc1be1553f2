import Audience
import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("The registry's sets are checked and repaired")
struct RepairStories {
  private static func phones() -> [Device] {
    (0..<80).map { number in
      var phone = device(number % 2 == 0 ? "" : "d\(number)", token: "t\(number)", at: 1_000 + Int64(number))
      phone.tags = ["vip", "n:\(number)"]
      phone.user = "u\(number % 30)"
      phone.platform = "ios"
      return phone
    }
  }

  @Test("each kind of damage is reported, repaired, and then gone", arguments: RegistryFault.allCases)
  func damage(fault: RegistryFault) async throws {
    try await withStore(quickSettings(partitions: 2)) { store, loop in
      _ = try await store.devices.put(Self.phones(), app: shop)
      var dead = device("dead", token: "dead")
      _ = try await store.devices.put(dead, app: shop)
      dead.id = DeviceID(rawValue: "heir")
      _ = try await store.devices.put(dead, app: shop)
      _ = try await store.users.changeTags(ofUser: "u1", TagChange(add: ["gold"]), app: shop)
      #expect(try await store.registryCheck.reindex(shop, repair: false).faults == [:])

      try await store.damage(fault)
      let found = try await store.registryCheck.reindex(shop, repair: false)
      #expect(found.faults[fault] == 1, "\(found)")
      #expect(!found.samples.isEmpty)
      #expect(
        try await store.registryCheck.reindex(shop, repair: false).faults == found.faults, "a report changes nothing")
      let repaired = try await store.registryCheck.reindex(shop, repair: true)
      #expect(repaired.faults[fault] == 1, "\(repaired)")
      let after = try await store.registryCheck.reindex(shop, repair: true)
      guard fault != .unreadableRecord else { return #expect(after.faults[fault] == 1) }
      #expect(after.isClean, "\(after)")
      try await store.expectTrueSets(app: shop)
    }
  }

  @Test("buckets that nobody is in are asked for many at a time")
  func emptyBuckets() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, _ in
      _ = try await store.devices.put(device("d", token: "t"), app: shop)
      _ = try await store.session.ask(RedisCommand("CONFIG", "RESETSTAT"))
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
      let stats = InfoFields(try await store.session.ask(RedisCommand("INFO", "commandstats")).text ?? "")
      func calls(_ command: String) -> Int {
        stats["cmdstat_\(command)"]?.split(separator: ",").first?.split(separator: "=").last.flatMap { Int($0) } ?? 0
      }
      // Of index, aliases and users there are 4,096 buckets each, of scattered sets 2,048.
      let reads = ["get", "mget", "exists", "hgetall"].map(calls).reduce(0, +)
      #expect((96...130).contains(reads), "\(reads) reads of buckets")
      #expect((1...60).contains(calls("evalsha")), "\(calls("evalsha")) scripts")
    }
  }

  @Test("beside a busy registry nothing whole is called broken, and nothing is broken")
  func besideWork() async throws {
    try await withStore(quickSettings(partitions: 2)) { store, loop in
      _ = try await store.devices.put(Self.phones(), app: shop)
      let work = Work()
      loop.spawn {
        for round in 0..<6 {
          for number in 0..<80 {
            var phone = Self.phones()[number]
            phone.tags = ["round:\(round)"]
            phone.user = "u\((number + round) % 30)"
            _ = try? await store.devices.put(phone, app: shop)
            if number % 9 == 0 {
              _ = try? await store.devices.removeDevice(DeviceID(rawValue: "d\(number)"), app: shop)
            }
          }
        }
        work.isDone = true
      }
      var rounds = 0
      while !work.isDone || rounds == 0 {
        let report = try await store.registryCheck.reindex(shop, repair: true)
        // A registration on its way has its number and its user's place before its record.
        let early: Set<RegistryFault> = [
          .lostNumber, .foreignInUser, .missingInUser, .oldUserTags, .missingAlias, .foreignAlias,
        ]
        #expect(Set(report.faults.keys).isSubset(of: early), "\(report)")
        rounds += 1
      }
      _ = try await store.registryCheck.reindex(shop, repair: true)
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
      try await store.expectTrueSets(app: shop)
    }
  }
  private final class Work { var isDone = false }

  @Test("tags are listed in order, by prefix, page by page, with their living devices")
  func tagPages() async throws {
    try await withStore(quickSettings(partitions: 2)) { store, loop in
      var phones = Self.phones()
      phones[3].enabled = false
      _ = try await store.devices.put(phones, app: shop)
      #expect(
        try await store.tags.page(shop, prefix: "v", limit: 10, cursor: nil).items == [
          TagCount(tag: "vip", devices: 79)
        ])
      var seen: [TagCount] = []
      var cursor: String?
      repeat {
        let page = try await store.tags.page(shop, prefix: "", limit: 7, cursor: cursor)
        #expect(page.items.count <= 7)
        seen += page.items
        cursor = page.next
      } while cursor != nil
      #expect(seen.count == 80, "n:3 is only on a disabled device")
      #expect(seen.map(\.tag) == seen.map(\.tag).sorted())
      #expect(seen.filter { $0.tag != "vip" }.allSatisfy { $0.devices == 1 })
      #expect(try await store.tags.attributeNames(app: shop) == [])
      phones[0].attributes = [JSONMember("first_name", .string("Ann"))]
      _ = try await store.devices.put(phones[0], app: shop)
      #expect(try await store.tags.attributeNames(app: shop) == ["first_name"])
    }
  }

  @Test("where tags are very many each page looks through a part of them, and together they tell every tag once")
  func manyTags() async throws {
    try await withStore(quickSettings(partitions: 2)) { store, loop in
      var phones = (0..<60).map { number in
        var phone = device("d\(number)", token: "t\(number)")
        phone.tags = ["vip"] + (0..<50).map { "n:\(number):\($0)" }
        return phone
      }
      phones[3].enabled = false
      _ = try await store.devices.put(phones, app: shop)
      let tags = ["vip"] + phones.filter(\.enabled).flatMap { $0.tags.dropFirst() }
      // A sample of buckets tells how many there are: nearly 3,000, give or take a third.
      store.session.registry.tagListingLimit = 500
      for (prefix, limit) in [("", 900), ("", 70), ("n:7:", 100), ("none", 5)] {
        var seen: [TagCount] = []
        var cursor: String?
        var pages = 0
        repeat {
          let page = try await store.tags.page(shop, prefix: prefix, limit: limit, cursor: cursor)
          #expect(page.items.count <= limit && page.items.count < 1_000, "a page of all looks through all")
          seen += page.items
          cursor = page.next
          pages += 1
        } while cursor != nil && pages < 100
        #expect(seen.map(\.tag).sorted() == tags.filter { $0.hasPrefix(prefix) }.sorted(), "of \(prefix)")
        #expect(seen.allSatisfy { $0.devices == ($0.tag == "vip" ? 59 : 1) })
        #expect(pages >= 4, "of \(prefix): \(pages)")
      }
      #expect(store.session.registry.tagListing == nil)
    }
  }

  @Test("two spellings of one letter are two tags and two users, as they are to Redis")
  func spellings() async throws {
    let (composed, decomposed) = ("zo\u{e9}", "zoe\u{301}")
    try await withStore(quickSettings(partitions: 3)) { store, loop in
      var phone = device("d", token: "1")
      phone.tags = [composed]
      phone.user = composed
      _ = try await store.devices.put(phone, app: shop)
      _ = try await store.devices.changeTags(of: phone.id, TagChange(add: [decomposed], remove: [composed]), app: shop)
      let tags = try await store.devices.device(phone.id, app: shop)?.device.tags ?? []
      #expect(tags.map(ExactText.init) == [ExactText(decomposed)])
      try await store.expectTrueSets(app: shop)

      _ = try await store.users.changeTags(ofUser: composed, TagChange(add: ["gold"]), app: shop)
      phone.user = decomposed
      _ = try await store.devices.put(phone, app: shop)
      #expect(try await store.devices.device(phone.id, app: shop)?.userTags == [])
      #expect(try await store.users.devices(ofUser: composed, app: shop).isEmpty)
      #expect(try await store.users.devices(ofUser: decomposed, app: shop).count == 1)
      #expect(try await store.users.remove(composed, app: shop) == 0)
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
    }
  }

  @Test("tags of a user reach devices that come later, and leave those that go to another")
  func userTags() async throws {
    try await withStore(quickSettings(partitions: 3)) { store, loop in
      func members(_ tag: String) async throws -> Int {
        let selection = AudienceSelection(expression: .term(.tag(tag)))
        return try await store.audiences.count(selection, app: shop, now: loop.wallNow).total
      }
      var first = device("first", token: "1")
      first.user = "ann"
      first.tags = ["own"]
      _ = try await store.devices.put(first, app: shop)
      #expect(
        try await store.users.changeTags(ofUser: "ann", TagChange(add: ["gold"]), app: shop) == .changed(["gold"]))
      var later = device("later", token: "2")
      later.user = "ann"
      _ = try await store.devices.put(later, app: shop)
      #expect(try await members("gold") == 2)
      _ = try await store.devices.changeTags(of: first.id, TagChange(replace: []), app: shop)
      #expect(try await members("gold") == 2)
      #expect(try await members("own") == 0)
      later.user = "bob"
      _ = try await store.devices.put(later, app: shop)
      #expect(try await members("gold") == 1)
      #expect(try await store.users.changeTags(ofUser: "ann", TagChange(remove: ["gold"]), app: shop) == .changed([]))
      #expect(try await members("gold") == 0)
      let many = (0...Tag.maximumPerDevice).map { "t\($0)" }
      #expect(try await store.devices.changeTags(of: first.id, TagChange(add: many), app: shop) == .tooMany(251))
      #expect(
        try await store.devices.changeTags(of: first.id, TagChange(add: many.dropLast()), app: shop) != .tooMany(251))
      try await store.expectTrueSets(app: shop)
      #expect(try await store.users.remove("ann", app: shop) == 1)
      #expect(try await store.users.user("ann", app: shop) == nil)
    }
  }

  @Test("a user that is none is refused at its limit, and nothing is left behind")
  func fullUser() async throws {
    var few = quickSettings(partitions: 1)
    few.devicesPerUser = 100
    let settings = few
    try await withStore(settings) { store, loop in
      let guests = (0...settings.devicesPerUser).map { number in
        var guest = device("g\(number)", token: "t\(number)")
        guest.user = "guest"
        return guest
      }
      let results = try await store.devices.put(guests, app: shop)
      #expect(results.count { $0 == .userIsFull } == 1)
      #expect(try await store.devices.device(guests[100].id, app: shop) == nil)
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
    }
  }

  @Test("of two changes of named audiences at once the later one is told that it was crossed")
  func crossedAudiences() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let edition = try await store.namedAudiences.edition(app: shop)
      let (a, b) = (
        NamedAudience(name: "a", expression: "audience:b"), NamedAudience(name: "b", expression: "audience:a")
      )
      #expect(try await store.namedAudiences.keep(a, app: shop, edition: edition) == .added)
      #expect(try await store.namedAudiences.keep(b, app: shop, edition: edition) == .crossed)
      #expect(try await store.namedAudiences.remove("a", app: shop, edition: edition) == .crossed)
      #expect(try await store.namedAudiences.all(app: shop) == [a])
      let next = try await store.namedAudiences.edition(app: shop)
      #expect(try await store.namedAudiences.remove("b", app: shop, edition: next) == .missing)
      #expect(try await store.namedAudiences.keep(a, app: shop, edition: next) == .replaced)
      #expect(try await store.namedAudiences.remove("a", app: shop, edition: next + 1) == .removed)
      #expect(try await store.namedAudiences.all(app: shop) == [])
    }
  }

  @Test("registrations and tags of one user at the same moment end true")
  func races() async throws {
    try await withStore(quickSettings(partitions: 3)) { store, loop in
      let left = Count()
      for number in 0..<24 {
        left.value += 1
        loop.spawn {
          var phone = device("d\(number)", token: "t\(number)")
          phone.user = "ann"
          if number % 3 == 0 {
            _ = try? await store.users.changeTags(ofUser: "ann", TagChange(replace: ["v\(number)"]), app: shop)
          }
          _ = try? await store.devices.put(phone, app: shop)
          // The same token by several at once ends as one living device.
          _ = try? await store.devices.put(device("x\(number)", token: "shared"), app: shop)
          left.value -= 1
        }
      }
      while left.value > 0 { await loop.sleep(milliseconds: 1) }
      let tags = try #require(try await store.users.user("ann", app: shop)).tags
      let devices = try await store.users.devices(ofUser: "ann", app: shop)
      #expect(devices.count == 24)
      #expect(devices.allSatisfy { $0.userTags == tags })
      let everyone = try await store.audiences.count(
        AudienceSelection(expression: .everyone), app: shop, now: loop.wallNow)
      #expect(everyone.total == 25)
      let latest = AudienceSelection(expression: .everyone, reach: .latestDevicePerUser)
      #expect(try await store.audiences.count(latest, app: shop, now: loop.wallNow).total == 2)
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
      try await store.expectTrueSets(app: shop)
    }
  }
  private final class Count { var value = 0 }

  @Test("registrations of one token that add to what is known lose nothing of each other")
  func mergingRaces() async throws {
    try await withStore(quickSettings(partitions: 2)) { store, loop in
      let left = Count()
      for number in 0..<10 {
        left.value += 1
        loop.spawn {
          var phone = device("", token: "one")
          phone.tags = ["t\(number)"]
          let given = phone
          _ = try? await store.devices.put(phone, app: shop) { known in
            var merged = given
            merged.tags = known.tags + given.tags
            return merged
          }
          left.value -= 1
        }
      }
      while left.value > 0 { await loop.sleep(milliseconds: 1) }
      let stored = try #require(try await store.tokens.owners(of: [address("one")], app: shop)[0])
      #expect(Set(stored.device.tags).count == 10)
      try await store.expectTrueSets(app: shop)
    }
  }
}

extension Store {
  /// One fault of this kind, made by hand.
  fileprivate func damage(_ fault: RegistryFault) async throws {
    let found = try #require(try await records.find([DeviceID(rawValue: "d1")], app: shop)[0])
    let place = found.place
    let vip = session.keys.setBucket(place.partition, shop, SetName(.tag, "n:1"), block: 0)
    let index = IndexPlace(found.device.id, shop, session.keys)
    let indexKey = session.keys.index(place.partition, shop, index.bucket)
    let nobody = DevicePlace(partition: place.partition, number: 60_000)
    func call(_ words: String..., bytes: [UInt8]? = nil) async throws {
      var command = RedisCommand(words: words)
      if let bytes { command.append(bytes) }
      _ = try await session.redis.call(command)
    }
    switch fault {
    case .missingInSet: try await call("HDEL", vip, SetName(.tag, "n:1").text)
    case .foreignInSet:
      let name = SetName(.tag, "ghost")
      try await call("HSET", session.keys.setBucket(0, shop, name, block: 0), name.text, bytes: SetBlock.packed([5]))
    case .missingInIndex: try await call("DEL", indexKey)
    case .foreignInIndex: try await call("APPEND", indexKey, bytes: index.rawHash + raw32(60_000))
    case .missingAlias: try await unname(found)
    case .foreignAlias:
      let pointer = Pointer(derived: DeviceID(rawValue: "nobody"), entry: AliasEntry(place: nobody, tag: 7))
      _ = try await tokens.point([pointer], app: shop)
    case .missingInUser: try await users.leave([("u1", place)], app: shop)
    case .foreignInUser: _ = try await users.join([("u29", nobody)], app: shop)
    case .oldUserTags:
      var old = found.record
      old.userVersion = 0
      old.stored.userTags = []
      let write = DeviceWrite(place: place, id: found.device.id, before: found, after: old)
      #expect(try await self.records.write([write], app: shop)[0].isDone)
    case .sharedToken:
      let other = try #require(try await records.find([DeviceID(rawValue: "d3")], app: shop)[0])
      var thief = other.record
      thief.stored.device.address.token = found.device.address.token
      let write = DeviceWrite(place: other.place, id: other.device.id, before: other, after: thief)
      #expect(try await self.records.write([write], app: shop)[0].isDone)
      try await unname(other)
    case .unlistedTombstone: for partition in 0..<2 { try await call("DEL", session.keys.buried(partition)) }
    case .lostNumber: try await call("INCR", session.keys.lastNumber(1, shop))
    case .unreadableRecord:
      let partition = place.partition
      let last =
        try await session.redis.call(RedisCommand("INCR", session.keys.lastNumber(partition, shop))).integer ?? 0
      let broken = DevicePlace(partition: partition, number: Int(last) - 1)
      try await call(
        "APPEND", session.keys.record(partition, shop, broken.number),
        bytes: raw32(RecordBucket.head(broken.number, length: 3)) + [1, 2, 3])
    }
  }

  /// The alias of its token forgets it.
  private func unname(_ found: FoundDevice) async throws {
    let derived = DeviceID.derived(of: found.device.address, in: shop)
    let entries = try await tokens.entries(of: [(derived, found.place)], app: shop)[0]
    try await tokens.unpoint(entries.map { (derived, $0) }, app: shop)
  }
}
