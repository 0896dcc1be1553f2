import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Registrations that are repeated after an error tell what both have done")
struct UntoldStories {
  private struct Case {
    var device: Device
    var becomes: Registration
  }
  private static func phone(_ id: String, _ token: String, at time: Int64 = 1_000) -> Device {
    var phone = device(id, token: token, at: time)
    phone.user = "user of \(token)"
    phone.tags = ["all", "n:\(token)"]
    return phone
  }
  /// Devices of all kinds: what is there before, and then what an import makes of it.
  private static let before: [Device] =
    (0..<3).flatMap { at in
      [
        phone("kept\(at)", "kept\(at)"), phone("turned\(at)", "turned\(at)"), phone("old\(at)", "moved\(at)"),
        phone("", "nameless\(at)"), phone("dead\(at)", "lost\(at)"), phone("taker\(at)", "lost\(at)", at: 2_000),
      ]
    }
  private static func owner(_ id: String) -> FormerOwner {
    FormerOwner(id: DeviceID(rawValue: id), isEnabled: true)
  }
  private static let cases: [Case] =
    (0..<3).flatMap { at in
      let nameless = DeviceID.derived(of: address("nameless\(at)"), in: shop)
      return [
        Case(device: phone("kept\(at)", "kept\(at)", at: 3_000), becomes: .updated),
        Case(device: phone("turned\(at)", "turned\(at) anew", at: 3_000), becomes: .updated),
        Case(
          device: phone("new\(at)", "moved\(at)", at: 3_000), becomes: .moved(from: owner("old\(at)"))),
        Case(
          device: phone("named\(at)", "nameless\(at)", at: 3_000),
          becomes: .moved(from: FormerOwner(id: nameless, isEnabled: true))),
        Case(device: phone("dead\(at)", "dead\(at) anew", at: 3_000), becomes: .revived),
      ]
    } + (0..<40).map { Case(device: phone($0 % 2 == 0 ? "" : "first\($0)", "first\($0)"), becomes: .created) }

  @Test("an import that fails after any command tells when it is repeated what came of it", arguments: [1, 2])
  func repeated(failures: Int) async throws {
    let server = RedisServer()
    let settings = quickSettings(partitions: 1)
    try await withStore(settings, server: server) { store, loop in
      let devices = Self.cases.map(\.device)
      var (steps, isWhole, failed) = (0, false, 0)
      while !isWhole {
        _ = try await store.session.redis.call(RedisCommand("FLUSHALL"))
        store.session.registry.shelf.books = [:]
        try await store.open(timeout: 60_000)
        for device in Self.before { _ = try await store.devices.put(device, app: shop) }
        let relay = RedisRelay(to: server.socketPath)
        defer { relay.stop() }
        let victim = Store(loop: loop, redis: relay.endpoint, settings: settings)
        try await victim.open()
        defer { victim.close() }
        isWhole = true
        var told: [PutResult]?
        for attempt in 1...failures where told == nil {
          await relay.pass(steps / attempt, then: .dies)
          do {
            told = try await victim.devices.put(devices, app: shop)
          } catch {
            (isWhole, failed) = (false, failed + 1)
          }
          await relay.goOn()
          try await until(loop) { victim.session.isAvailable && victim.session.condition.takesWrites }
        }
        // Some are brought to their ends before they are repeated.
        if steps % 3 == 2 { try await victim.arrivals.settleArrivals(0, now: loop.wallNow + 20_000) }
        let what = "fails after \(steps) commands, \(failures) times"
        let results: [PutResult]
        if let told { results = told } else { results = try await victim.devices.put(devices, app: shop) }
        for (result, expected) in zip(results, Self.cases) {
          #expect(result.registration == expected.becomes, "\(expected.device.id) \(what)")
        }
        #expect(victim.session.registry.untold.isEmpty, "\(what)")
        // Who was told is told no more of it.
        #expect(try await victim.devices.put(devices, app: shop).allSatisfy { $0.registration == .updated }, "\(what)")
        try await store.expectTrueSets(app: shop, "\(what)")
        steps += failures
        try #require(steps < 400)
      }
      #expect(failed > 20)
    }
  }

  @Test("a single registration that is repeated tells what both have done")
  func single() async throws {
    let server = RedisServer()
    try await withStore(quickSettings(partitions: 1), server: server) { store, loop in
      let relay = RedisRelay(to: server.socketPath)
      defer { relay.stop() }
      let victim = Store(loop: loop, redis: relay.endpoint, settings: quickSettings(partitions: 1))
      try await victim.open()
      defer { victim.close() }
      var (number, isWhole) = (0, false)
      while !isWhole {
        let phone = Self.phone("d\(number)", "t\(number)")
        await relay.pass(number, then: .dies)
        do {
          #expect(try await victim.devices.put(phone, app: shop).registration == .created)
          isWhole = true
          await relay.goOn()
        } catch {
          await relay.goOn()
          try await until(loop) { victim.session.isAvailable && victim.session.condition.takesWrites }
          #expect(try await victim.devices.put(phone, app: shop).registration == .created, "after \(number) commands")
        }
        #expect(try await victim.devices.put(phone, app: shop).registration == .updated)
        number += 1
        try #require(number < 100)
      }
      try await store.expectTrueSets(app: shop)
    }
  }

  /// As in an import that takes longer than the sweep waits for what was cut off.
  @Test("a sweep in the middle of a move changes neither what comes of it nor what is told", arguments: [1, 3])
  func swept(tokens: Int) async throws {
    let server = RedisServer()
    let settings = quickSettings(partitions: 2)
    try await withStore(settings, server: server) { store, loop in
      var (steps, isWhole) = (0, false)
      while !isWhole {
        _ = try await store.session.redis.call(RedisCommand("FLUSHALL"))
        store.session.registry.shelf.books = [:]
        try await store.open(timeout: 60_000)
        for at in 0..<tokens { _ = try await store.devices.put(Self.phone("old\(at)", "moved\(at)"), app: shop) }
        let relay = RedisRelay(to: server.socketPath)
        defer { relay.stop() }
        let victim = Store(loop: loop, redis: relay.endpoint, settings: settings)
        try await victim.open()
        defer { victim.close() }
        let told = Box<Result<[PutResult], any Error>?>(nil)
        await relay.pass(steps, then: .waits)
        loop.spawn {
          do {
            let heirs = (0..<tokens).map { Self.phone("new\($0)", "moved\($0)", at: 3_000) }
            told.value = .success(try await victim.devices.put(heirs, app: shop))
          } catch {
            told.value = .failure(error)
          }
        }
        while await !relay.isAtEnd(), told.value == nil { await loop.sleep(milliseconds: 1) }
        isWhole = told.value != nil
        for partition in 0..<2 { try await store.arrivals.settleArrivals(partition, now: loop.wallNow + 20_000) }
        await relay.goOn()
        try await until(loop) { told.value != nil }
        let what = "swept after \(steps) commands"
        for (at, result) in (try told.value?.get() ?? []).enumerated() {
          #expect(result.registration == .moved(from: Self.owner("old\(at)")), "\(what)")
          let owner = try await store.tokens.owners(of: [address("moved\(at)")], app: shop)[0]
          #expect(owner?.isLive == true && owner?.device.id.rawValue == "new\(at)", "\(what): \(owner as Any)")
        }
        try await store.expectTrueSets(app: shop, "\(what)")
        steps += 1
        try #require(steps < 300)
      }
      #expect(steps > 10)
    }
  }

  @Test("what was not told is kept for a while, and of so many devices only")
  func bounds() {
    var untold = Untold()
    let start = Instant(nanoseconds: 1)
    func id(_ number: Int) -> DeviceID { DeviceID(rawValue: "d\(number)") }
    func keep(_ registration: Registration, _ number: Int, _ now: Instant) {
      let registered = Untold.Registered(registration: registration, since: WallTime(milliseconds: 5))
      untold.keep(registered, of: id(number), shop, now: now)
    }
    for number in 0..<Untold.most { keep(.created, number, start) }
    keep(.created, Untold.most, start)
    #expect(untold.take(id(Untold.most), shop, now: start) == nil, "there is no room")
    #expect(untold.take(id(1), AppID(rawValue: "other"), now: start) == nil)
    #expect(untold.take(id(1), shop, now: start)?.registration == .created)
    #expect(untold.take(id(1), shop, now: start) == nil, "told once")
    keep(.revived, 1, start)
    keep(.created, 1, start)
    #expect(untold.take(id(1), shop, now: start)?.registration == .revived, "the first counts")
    keep(.updated, 1, start)
    #expect(untold.take(id(1), shop, now: start) == nil)
    let end = start + Untold.milliseconds
    #expect(untold.take(id(2), shop, now: end) == nil, "too old")
    keep(.created, Untold.most, end)
    #expect(untold.take(id(Untold.most), shop, now: end)?.registration == .created)
    #expect(untold.isEmpty)
  }
}
