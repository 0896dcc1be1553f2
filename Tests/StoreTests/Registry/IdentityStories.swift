import Audience
import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("A token has one living device at most, whatever stops or comes between")
struct IdentityStories {
  private static let partitions = 3
  private static let token = "t"
  private static let message = MessageID(acceptedAt: WallTime(milliseconds: 5_000), partition: 0, random: 7)

  /// What a process was about when it died, or when another one came between.
  enum Act: String, CaseIterable {
    /// The token goes to a device that is new, from one under its own id, from one under a chosen id, or to its own id.
    case newFromOwn, newFromChosen, ownFromChosen
    /// A device that lives with another token gets this one.
    case rotation
    /// A device that was dead registers again.
    case revival
    /// Several in one import, new ones among them.
    case imported
    /// Several tokens in one import, each from another device.
    case moved
    case undo
  }

  private static func phone(_ id: String, _ token: String = token, at time: Int64 = 20_000) -> Device {
    var phone = device(id, token: token, at: time)
    phone.user = "ann"
    return phone
  }

  /// What stands there before: the token's device, and what the act needs beside it.
  private static func prepare(_ act: Act, _ store: Store) async throws {
    switch act {
    case .newFromOwn, .imported: _ = try await store.devices.put(phone("", at: 1_000), app: shop)
    case .newFromChosen, .ownFromChosen: _ = try await store.devices.put(phone("old", at: 1_000), app: shop)
    case .moved: _ = try await store.devices.put([phone("old", at: 1_000)] + fleet("old", at: 1_000), app: shop)
    case .rotation:
      _ = try await store.devices.put(phone("heir", "other", at: 1_000), app: shop)
      _ = try await store.devices.put(phone("old", at: 1_000), app: shop)
    case .revival:
      _ = try await store.devices.put(phone("heir", at: 1_000), app: shop)
      _ = try await store.devices.put(phone("old", at: 1_100), app: shop)
    case .undo:
      _ = try await store.devices.put(phone("heir", at: 1_000), app: shop)
      try await prune("heir", store)
    }
  }

  private static func prune(_ id: String, _ store: Store, token: String = token) async throws {
    let prune = Flush.Prune(
      app: shop, device: DeviceID(rawValue: id), token: token, reason: "Unregistered", since: nil,
      at: WallTime(milliseconds: 9_000))
    var word = prune
    word.credential = apnsCredential
    word.message = message
    _ = try await store.prunes.apply([word], under: nil)
  }

  private static func perform(_ act: Act, _ store: Store) async throws {
    switch act {
    case .newFromOwn, .newFromChosen, .rotation, .revival: _ = try await store.devices.put(phone("heir"), app: shop)
    case .ownFromChosen:
      _ = try await store.devices.put(phone(DeviceID.derived(of: address(token), in: shop).rawValue), app: shop)
    case .imported:
      let others = (0..<100).map { phone("n\($0)", "t\($0)") }
      _ = try await store.devices.put([phone("heir")] + others, app: shop)
    case .moved: _ = try await store.devices.put(fleet("new", at: 20_000) + [phone("heir")], app: shop)
    case .undo: _ = try await store.prunes.undo(RevivalFilter(), app: shop)
    }
  }

  private static func fleet(_ name: String, at time: Int64) -> [Device] {
    (0..<12).map { phone("\(name)\($0)", "t\($0)", at: time) }
  }

  @Test("killed after any command it leaves one at most, and the sweep or a repetition one", arguments: Act.allCases)
  func killed(_ act: Act) async throws {
    try await inSteps(act) { relay, victim, store, loop, steps in
      try await Self.prepare(act, store)
      await relay.pass(steps, then: .dies)
      let done = Self.run(loop) { try await Self.perform(act, victim) }
      while done.value == nil { await loop.sleep(milliseconds: 1) }
      let isWhole = done.value == true
      let what = "\(act), killed after \(steps) commands"
      try await store.expectOneAtMost(Self.token, what)
      // Whoever registers again does not depend on what was left; of an undo the sweep brings it to its end.
      if act == .undo || steps % 2 == 0 { try await store.sweepLater(loop) }
      if act == .undo || steps % 2 == 1 { try await Self.perform(act, store) }
      try await store.expectOne(Self.token, what)
      try await store.sweepLater(loop)
      try await store.expectOne(Self.token, what)
      #expect(try await store.registryCheck.reindex(shop, repair: true).faults[.sharedToken] == nil, "\(what)")
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean, "\(what)")
      try await store.expectTrueSets(app: shop, "\(what)")
      return isWhole
    }
  }

  @Test(
    "where another device takes the token in the middle, one has it at any moment and in the end",
    arguments: Act.allCases)
  func crossed(_ act: Act) async throws {
    for other in ["between", ""] {
      try await inSteps(act) { relay, victim, store, loop, steps in
        try await Self.prepare(act, store)
        await relay.pass(steps, then: .waits)
        let done = Self.run(loop) { try await Self.perform(act, victim) }
        while await !relay.isAtEnd(), done.value == nil { await loop.sleep(milliseconds: 1) }
        let isWhole = done.value != nil
        let what = "\(act), \(other) after \(steps) commands"
        try await store.expectOneAtMost(Self.token, what)
        _ = try await store.devices.put(Self.phone(other, at: 30_000), app: shop)
        try await store.expectOneAtMost(Self.token, what)
        while done.value == nil {
          await relay.pass(2, then: .waits)
          while await !relay.isAtEnd(), done.value == nil { await loop.sleep(milliseconds: 1) }
          try await store.expectOneAtMost(Self.token, what)
        }
        #expect(done.value == true, "\(what)")
        try await store.expectOne(Self.token, what)
        #expect(try await store.registryCheck.reindex(shop, repair: false).faults[.sharedToken] == nil, "\(what)")
        try await store.expectTrueSets(app: shop, "\(what)")
        return isWhole
      }
    }
  }

  /// What makes a device's record what it was before another one took the token that the device was about to get.
  enum Return: String, CaseIterable {
    /// A provider's word, taken back.
    case undonePrune
    /// A registration that was asked for before the one that stands.
    case earlierRegistration
  }

  @Test(
    "a device that is as it was again does not get the token that another one took meanwhile",
    arguments: Return.allCases)
  func asItWas(_ way: Return) async throws {
    try await inSteps(.rotation) { relay, victim, store, loop, steps in
      try await Self.prepare(.rotation, store)
      await relay.pass(steps, then: .waits)
      let done = Self.run(loop) { try await Self.perform(.rotation, victim) }
      while await !relay.isAtEnd(), done.value == nil { await loop.sleep(milliseconds: 1) }
      let isWhole = done.value != nil
      let what = "\(way), after \(steps) commands"
      if way == .undonePrune { try await Self.prune("heir", store, token: "other") }
      _ = try await store.devices.put(Self.phone("between", at: 30_000), app: shop)
      switch way {
      case .undonePrune: _ = try await store.prunes.undo(RevivalFilter(), app: shop)
      case .earlierRegistration: _ = try await store.devices.put(Self.phone("heir", "other", at: 900), app: shop)
      }
      try await store.expectOneAtMost(Self.token, what)
      while done.value == nil {
        await relay.pass(1, then: .waits)
        while await !relay.isAtEnd(), done.value == nil { await loop.sleep(milliseconds: 1) }
        try await store.expectOneAtMost(Self.token, what)
      }
      #expect(done.value == true, "\(what)")
      try await store.expectOne(Self.token, what)
      #expect(try await store.registryCheck.reindex(shop, repair: false).faults[.sharedToken] == nil, "\(what)")
      try await store.expectTrueSets(app: shop, "\(what)")
      return isWhole
    }
  }

  /// For each number of commands until `body` answers that no more are needed.
  private func inSteps(
    _ act: Act, _ body: @escaping @Sendable (RedisRelay, Store, Store, EventLoop, Int) async throws -> Bool
  ) async throws {
    let server = RedisServer()
    try await withStore(quickSettings(partitions: Self.partitions), server: server) { store, loop in
      var isWhole = false
      var steps = 0
      while !isWhole {
        _ = try await store.session.redis.call(RedisCommand("FLUSHALL"))
        store.session.registry.shelf.books = [:]
        try await store.open(timeout: 60_000)
        let relay = RedisRelay(to: server.socketPath)
        defer { relay.stop() }
        let victim = Store(loop: loop, redis: relay.endpoint, settings: quickSettings(partitions: Self.partitions))
        try await victim.open()
        defer { victim.close() }
        isWhole = try await body(relay, victim, store, loop, steps)
        // An import has many.
        steps += act == .imported ? 3 : 1
        try #require(steps < 300)
      }
      #expect(steps > 3)
    }
  }

  /// False: it failed.
  private static func run(_ loop: EventLoop, _ body: @escaping () async throws -> Void) -> Box<Bool?> {
    let done = Box<Bool?>(nil)
    loop.spawn {
      do {
        try await body()
        done.value = true
      } catch {
        done.value = false
      }
    }
    return done
  }

  @Test("over random histories of three processes that are stopped and killed anywhere", arguments: 0..<3)
  func randomly(round: Int) async throws {
    let seed = UInt64.random(in: 0..<1_000_000)
    let server = RedisServer()
    try await withStore(quickSettings(partitions: Self.partitions), server: server) { store, loop in
      var random = Seeded(seed: seed)
      let tokens = ["0a", "0b"]
      var processes: [Process] = []
      for _ in 0..<3 { processes.append(try await Process(server, loop, quickSettings(partitions: Self.partitions))) }
      defer { for process in processes { process.stop() } }
      var clock: Int64 = 10_000

      func some<Item>(_ items: [Item]) -> Item { items[Int.random(in: items.indices, using: &random)] }
      func job() -> (Store) async throws -> Void {
        clock += 1_000
        let ids = ["a", "b", "c", "", DeviceID.derived(of: address("0a"), in: shop).rawValue]
        let phone = Self.phone(some(ids), some(tokens), at: clock)
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<6: return { _ = try await $0.devices.put(phone, app: shop) }
        case 6:
          // Sometimes the same tokens, under other ids.
          let name = some(["n", "n", "m"])
          let batch =
            (0..<30).map { Self.phone("\(name)\($0)", "x\($0)", at: phone.registeredAt.milliseconds) } + [phone]
          return { _ = try await $0.devices.put(batch, app: shop) }
        case 7..<9:
          let token = phone.address.token
          return { store in
            guard let owner = try await store.tokens.owners(of: [address(token)], app: shop)[0] else { return }
            try await Self.prune(owner.device.id.rawValue, store, token: token)
          }
        case 9: return { _ = try await $0.devices.removeDevice(phone.id, app: shop) }
        case 10: return { _ = try await $0.registryCheck.reindex(shop, repair: true) }
        default: return { _ = try await $0.prunes.undo(RevivalFilter(), app: shop) }
        }
      }
      for step in 0..<250 {
        let at = Int.random(in: 0..<processes.count, using: &random)
        if processes[at].isIdle { processes[at].begin(job()) }
        await processes[at].relay.pass(Int.random(in: 1...4, using: &random), then: .waits)
        try await processes[at].untilStill()
        for token in tokens { try await store.expectOneAtMost(token, "seed \(seed), step \(step)") }
        let (isKilled, isSwept) = (
          Int.random(in: 0..<25, using: &random) == 0, Int.random(in: 0..<40, using: &random) == 0
        )
        if isKilled {
          processes[at].stop()
          processes[at] = try await Process(server, loop, quickSettings(partitions: Self.partitions))
        }
        if isSwept { try await store.sweepLater(loop) }
        guard isKilled || isSwept else { continue }
        for token in tokens { try await store.expectOneAtMost(token, "seed \(seed), step \(step)") }
      }
      for process in processes {
        await process.relay.goOn()
        while !process.isIdle { await loop.sleep(milliseconds: 1) }
      }
      try await store.sweepLater(loop)
      let repaired = try await store.registryCheck.reindex(shop, repair: true)
      let left = try await store.registryCheck.reindex(shop, repair: false)
      #expect(left.isClean, "seed \(seed): \(left.samples) after \(repaired.samples)")
      for token in tokens {
        _ = try await store.devices.put(Self.phone("last", token, at: clock + 1_000), app: shop)
        try await store.expectOne(token, "seed \(seed)")
      }
      try await store.expectTrueSets(app: shop, "seed \(seed)")
    }
  }

  /// A process with its own way to Redis, which does one thing at a time. Loop only.
  private final class Process {
    let relay: RedisRelay
    private let store: Store
    private let loop: EventLoop
    private let isDone = Box(true)
    var isIdle: Bool { isDone.value }

    init(_ server: RedisServer, _ loop: EventLoop, _ settings: StoreSettings) async throws {
      relay = RedisRelay(to: server.socketPath)
      self.loop = loop
      store = Store(loop: loop, redis: relay.endpoint, settings: settings)
      try await store.open(timeout: 60_000)
    }
    func begin(_ job: @escaping (Store) async throws -> Void) {
      isDone.value = false
      let (store, isDone) = (store, isDone)
      loop.spawn {
        try? await job(store)
        isDone.value = true
      }
    }
    func untilStill() async throws {
      try await until(loop) { if isDone.value { true } else { await relay.isAtEnd() } }
    }
    func stop() {
      store.close()
      relay.stop()
    }
  }
}

extension Store {
  /// Ids of living devices that something sent to the token, its user, its devices' ids or everyone would be aimed at.
  fileprivate func aimed(_ token: String) async throws -> Set<DeviceID> {
    func holders(_ stored: [StoredDevice?]) -> Set<DeviceID> {
      Set(stored.compactMap { $0 }.filter { $0.isLive && $0.device.address.token == token }.map(\.device.id))
    }
    var found: [StoredDevice?] = []
    for partition in 0..<session.settings.partitions {
      let groups = try await audiences.members(
        AudienceSelection(expression: .everyone), app: shop, partition: partition, now: session.loop.wallNow,
        carries: nil)
      for group in groups {
        found += try await records.devices(
          numbers: group.numbers.map { Int($0) }, partition: partition, app: shop, bornBefore: nil)
      }
    }
    let (everyone, user) = (holders(found), holders(try await users.devices(ofUser: "ann", app: shop)))
    let own = ["t", "0a", "0b"].map { DeviceID.derived(of: address($0), in: shop) }
    let ids = ["heir", "old", "between", "last", "a", "b", "c"].map { DeviceID(rawValue: $0) } + own
    let named = holders(try await devices.devices(ids, app: shop))
    let owner = holders(try await tokens.owners(of: [address(token)], app: shop))
    #expect(everyone == user && user == named && named == owner, "\(everyone), \(user), \(named), \(owner)")
    return everyone.union(user).union(named).union(owner)
  }

  fileprivate func expectOneAtMost(_ token: String, _ what: String) async throws {
    let aimed = try await aimed(token)
    #expect(aimed.count <= 1, "\(what): \(aimed.map(\.rawValue))")
  }
  fileprivate func expectOne(_ token: String, _ what: String) async throws {
    let aimed = try await aimed(token)
    #expect(aimed.count == 1, "\(what): \(aimed.map(\.rawValue))")
  }

  /// As the owners of all partitions do each second, two minutes later.
  fileprivate func sweepLater(_ loop: EventLoop) async throws {
    for partition in 0..<session.settings.partitions {
      try await intents.undoOrphans(partition, now: loop.wallNow + 120_000)
      try await arrivals.settleArrivals(partition, now: loop.wallNow + 120_000)
    }
  }
}
