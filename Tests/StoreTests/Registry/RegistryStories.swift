import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("The registry")
struct RegistryStories {
  @Test("a device comes back as it was put, and is gone when removed")
  func roundTrip() async throws {
    try await withStore { store, loop in
      var phone = device("phone-1", token: "00ff8a")
      phone.user = "ann"
      phone.tags = ["vip", "lang"]
      phone.language = "de-AT"
      phone.timeZone = "Europe/Vienna"
      phone.attributes = [
        JSONMember("n", .integer(-3)), JSONMember("d", .double(1.5)), JSONMember("s", .string("ö")),
        JSONMember("b", .bool(true)),
      ]
      phone.lastSeen = WallTime(milliseconds: 5)
      #expect(try await store.devices.put(phone, app: shop).registration == .created)
      #expect(try await store.devices.put(phone, app: shop).registration == .updated)
      #expect(try await store.devices.device(phone.id, app: shop) == StoredDevice(device: phone, tombstone: nil))
      #expect(try await store.devices.device(phone.id, app: AppID(rawValue: "other")) == nil)
      #expect(try await store.users.devices(ofUser: "ann", app: shop).map(\.device.id) == [phone.id])
      #expect(try await store.audiences.deviceCounts(app: shop) == [.apns: 1])
      phone.user = "bob"
      phone.enabled = false
      _ = try await store.devices.put(phone, app: shop)
      #expect(try await store.users.devices(ofUser: "ann", app: shop).isEmpty)
      #expect(try await store.audiences.deviceCounts(app: shop) == [:])
      #expect(try await store.users.remove("bob", app: shop) == 1)
      #expect(try await store.devices.device(phone.id, app: shop) == nil)
      #expect(try await store.devices.removeDevice(phone.id, app: shop) == false)
    }
  }

  @Test("of users with more devices than are asked for no device is read")
  func boundedUsers() async throws {
    try await withStore { store, loop in
      for number in 0..<30 {
        var phone = device("p\(number)", token: "aa\(number < 10 ? "0" : "")\(number)")
        phone.user = "u\(number % 3)"
        _ = try await store.devices.put(phone, app: shop)
      }
      let users = ["u0", "u1", "u2"]
      /// Keys and fields that Redis was asked for and has.
      func hits() async throws -> Int {
        let told = try await store.session.ask(RedisCommand("INFO", "stats")).text ?? ""
        return InfoFields(told)["keyspace_hits"].flatMap { Int($0) } ?? 0
      }
      let before = try await hits()
      #expect(try await store.users.devices(ofUsers: users, app: shop, atMost: 29) == nil)
      #expect(try await hits() - before <= users.count)
      #expect(try await store.users.devices(ofUsers: users, app: shop, atMost: 30)?.map(\.count) == [10, 10, 10])
    }
  }

  @Test("a token moves: new record, alias, tombstone of the old one; and it revives")
  func moves() async throws {
    try await withStore { store, loop in
      let byToken = try await store.devices.put(device("", token: "aa"), app: shop)
      #expect(byToken == .stored(DeviceID.derived(of: address("aa"), in: shop), .created))
      #expect(
        try await store.devices.put(device("one", token: "aa"), app: shop).registration
          == .moved(from: FormerOwner(id: try #require(byToken.id), isEnabled: true)))
      #expect(try await store.devices.device(try #require(byToken.id), app: shop)?.tombstone?.reason == "moved:one")
      #expect(try await store.devices.put(device("", token: "aa"), app: shop).id?.rawValue == "one")
      #expect(
        try await store.devices.put(device("two", token: "aa"), app: shop).registration
          == .moved(from: FormerOwner(id: DeviceID(rawValue: "one"), isEnabled: true)))
      #expect(
        try await store.tokens.owners(of: [address("aa"), address("bb")], app: shop).map { $0?.device.id.rawValue } == [
          "two", nil,
        ])
      #expect(try await store.audiences.deviceCounts(app: shop) == [.apns: 1])
      #expect(try await store.devices.put(device("one", token: "bb"), app: shop).registration == .revived)
      #expect(try await store.tokens.owners(of: [address("bb")], app: shop)[0]?.device.id.rawValue == "one")
    }
  }

  @Test("only the token that failed dies, and for a 410 only if it was registered before")
  func prune() async throws {
    try await withStore { store, loop in
      _ = try await store.devices.put(device("d", token: "aa", at: 5_000), app: shop)
      let id = DeviceID(rawValue: "d")
      let lease = try await store.take(store.session.partition(of: id, in: shop))
      var number: UInt64 = 0
      func prune(_ token: String, since: Int64?) async throws -> Int {
        number += 1
        var flush = Flush(lease: lease, number: number)
        flush.prunes = [
          Flush.Prune(
            app: shop, device: id, token: token, reason: "Unregistered",
            since: since.map { WallTime(milliseconds: $0) }, at: WallTime(milliseconds: 9_000))
        ]
        let pruned = try await store.outcomes.flush(flush).pruned
        // Its answer was lost: the same again.
        #expect(try await store.outcomes.flush(flush).pruned == pruned)
        return pruned
      }
      #expect(try await prune("other", since: nil) == 0)
      #expect(try await prune("aa", since: 4_000) == 0)
      #expect(try await store.audiences.deviceCounts(app: shop) == [.apns: 1])
      #expect(try await prune("aa", since: 6_000) == 1)
      #expect(try await store.devices.device(id, app: shop)?.tombstone?.reason == "Unregistered")
      #expect(try await store.audiences.deviceCounts(app: shop) == [:])
      #expect(try await store.devices.put(device("d", token: "aa", at: 10_000), app: shop).registration == .revived)
      #expect(try await store.audiences.deviceCounts(app: shop) == [.apns: 1])
    }
  }

  @Test("an import of an earlier time leaves a known token's registration as young as it is, and the token alive")
  func earlierRegistration() async throws {
    try await withStore { store, _ in
      _ = try await store.devices.put(device("d1", token: "aa", at: 5_000), app: shop)
      _ = try await store.devices.put([device("d1", token: "aa", at: 2_000)], app: shop)
      let id = DeviceID(rawValue: "d1")
      #expect(try await store.devices.device(id, app: shop)?.device.registeredAt == WallTime(milliseconds: 5_000))
      let lease = try await store.take(store.session.partition(of: id, in: shop))
      for (number, since) in [(UInt64(1), Int64(4_000)), (2, 6_000)] {
        var flush = Flush(lease: lease, number: number)
        flush.prunes = [
          Flush.Prune(
            app: shop, device: id, token: "aa", reason: "Unregistered", since: WallTime(milliseconds: since),
            at: WallTime(milliseconds: 7_000))
        ]
        #expect(try await store.outcomes.flush(flush).pruned == (since < 5_000 ? 0 : 1))
      }
      // Another token is another registration.
      _ = try await store.devices.put([device("d1", token: "bb", at: 2_000)], app: shop)
      #expect(try await store.devices.device(id, app: shop)?.device.registeredAt == WallTime(milliseconds: 2_000))
      try await store.expectTrueSets(app: shop)
    }
  }

  @Test("the dead token of a Live Activity goes alone; the registration beside it stays, and so does a newer token")
  func pruneOfActivity() async throws {
    try await withStore { store, loop in
      var phone = device("d", token: "aa")
      phone.liveActivityToken = "80a1"
      _ = try await store.devices.put(phone, app: shop)
      let lease = try await store.take(store.session.partition(of: phone.id, in: shop))
      for (number, token) in ["80a0", "80a1"].enumerated() {
        var flush = Flush(lease: lease, number: UInt64(number + 1))
        flush.prunes = [
          .init(app: shop, device: phone.id, token: token, reason: "Unregistered", since: nil, at: loop.wallNow)
        ]
        #expect(try await store.outcomes.flush(flush).pruned == 0)
        let stored = try await store.devices.device(phone.id, app: shop)
        #expect(stored?.tombstone == nil && stored?.device.address.token == "aa")
        #expect(stored?.device.liveActivityToken == (token == "80a1" ? nil : "80a1"))
      }
    }
  }

  @Test("a claim reads the device as it is now")
  func claimReadsNow() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      for name in ["kept", "gone", "off"] {
        _ = try await store.devices.put(device(name, token: "0\(name.count)"), app: shop)
      }
      var message = submission(tokens: [], at: loop.wallNow)
      for name in ["kept", "gone", "off"] {
        message.targets.append(
          SubmissionTarget(
            device: DeviceID(rawValue: name), registered: true, address: address("0\(name.count)"),
            route: .queue(apnsCredential)))
      }
      _ = try await store.acceptance.accept(message)
      _ = try await store.devices.put(device("kept", token: "newtoken"), app: shop)
      _ = try await store.devices.removeDevice(DeviceID(rawValue: "gone"), app: shop)
      var off = device("off", token: "03")
      off.enabled = false
      _ = try await store.devices.put(off, app: shop)
      let targets = try await store.claimAll(try await store.take(0)).flatMap(\.targets)
      #expect(targets.map(\.address?.token) == ["newtoken", nil, nil])
      #expect(targets.map(\.gone) == [nil, "device_deleted", "device_disabled"])
    }
  }

  @Test("a tombstone goes after retention with all that named it; a revived device stays; the number rests first")
  func purge() async throws {
    let server = RedisServer()
    try await withStore(quickSettings(partitions: 1), server: server) { store, loop in
      let redis = Redis(loop: loop, endpoint: server.endpoint)
      while !redis.isReady { await loop.sleep(milliseconds: 1) }
      let retention = store.session.settings.retentionSeconds * 1000
      let now = loop.wallNow
      let lease = try await store.take(0)
      for name in ["dead", "back"] {
        var phone = device(name, token: "token of \(name)")
        phone.user = "ann"
        phone.tags = ["vip"]
        _ = try await store.devices.put(phone, app: shop)
      }
      var flush = Flush(lease: lease, number: 1)
      for name in ["dead", "back"] {
        flush.prunes.append(
          Flush.Prune(
            app: shop, device: DeviceID(rawValue: name), token: "token of \(name)", reason: "Unregistered",
            since: nil, at: now))
      }
      #expect(try await store.outcomes.flush(flush).pruned == 2)
      _ = try await store.devices.put(device("back", token: "token of back"), app: shop)
      let dead = DeviceID(rawValue: "dead")
      let number = try #require(try await store.records.find([dead], app: shop)[0]).place.number

      try await store.sweep.run(lease, now: now + (retention - 1_000))
      #expect(try await store.devices.device(dead, app: shop)?.tombstone?.reason == "Unregistered")
      try await store.sweep.run(lease, now: now + (retention + 1_000))
      #expect(try await store.devices.device(dead, app: shop) == nil)
      #expect(try await store.devices.device(DeviceID(rawValue: "back"), app: shop)?.tombstone == nil)
      #expect(try await store.tokens.owners(of: [address("token of dead")], app: shop)[0] == nil)
      #expect(try await redis.call(RedisCommand("EXISTS", store.session.keys.buried(0))) == .integer(0))
      #expect(try await store.users.entries(ofUsers: ["ann"], app: shop)[0].places.isEmpty)
      try await store.expectTrueSets(app: shop)

      // The number rests for the time of retention, as jobs may still name it.
      _ = try await store.devices.put(device("new", token: "1"), app: shop)
      let ids = ["new", "later"].map { DeviceID(rawValue: $0) }
      #expect(try await store.records.find(ids, app: shop)[0]?.place.number != number)
      let rested = String(now.milliseconds - retention - 1_000)
      _ = try await redis.call(
        RedisCommand("ZADD", store.session.keys.freeNumbers(0, shop), "XX", rested, String(number)))
      _ = try await store.devices.put(device("later", token: "2"), app: shop)
      #expect(try await store.records.find(ids, app: shop)[1]?.place.number == number)
      redis.close()
    }
  }

  @Test("a sweep purges a bounded number of tombstones, and each in the end")
  func purgeBounded() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let lease = try await store.take(0)
      for number in 0..<120 {
        _ = try await store.devices.put(device("old\(number)", token: "t\(number)"), app: shop)
        _ = try await store.devices.put(device("new\(number)", token: "t\(number)"), app: shop)
      }
      let late = loop.wallNow + (store.session.settings.retentionSeconds + 5) * 1000
      var left: [Int] = []
      for _ in 0..<3 {
        try await store.sweep.run(lease, now: late)
        let old = try await store.devices.devices((0..<120).map { DeviceID(rawValue: "old\($0)") }, app: shop)
        left.append(old.count { $0 != nil })
      }
      #expect(left == [70, 20, 0])
      #expect(try await store.audiences.deviceCounts(app: shop) == [.apns: 120])
    }
  }
}
