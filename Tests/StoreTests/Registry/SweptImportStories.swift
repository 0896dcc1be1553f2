import Audience
import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

/// A step that stands still for too long, as where Redis hangs, is undone by the sweep of another process.
@Suite("Imports whose step is swept while it stands still")
struct SweptImportStories {
  private static func renamed(_ at: Int, _ phone: Device) -> Device {
    var phone = phone
    phone.id = DeviceID(rawValue: "new\(at)")
    phone.registeredAt = WallTime(milliseconds: 30_000)
    return phone
  }

  @Test(
    "swept at any step, it goes on with what is left to do: each device is there once, and told as created or moved",
    arguments: [false, true])
  func swept(moves: Bool) async throws {
    let server = RedisServer()
    let settings = quickSettings(partitions: 1)
    let before = ImportStories.phones(0..<120)
    let phones = moves ? before.enumerated().map(Self.renamed) : before
    let wanted = before.map {
      moves ? Registration.moved(from: FormerOwner(id: $0.id, isEnabled: $0.enabled)) : .created
    }
    try await withStore(settings, server: server) { store, loop in
      let everyone = AudienceSelection(expression: .everyone)
      var (steps, isWhole, sweptSome) = (0, false, false)
      while !isWhole {
        _ = try await store.session.redis.call(RedisCommand("FLUSHALL"))
        store.session.registry.shelf.books = [:]
        try await store.open(timeout: 60_000)
        if moves { _ = try await store.devices.put(before, app: shop) }
        let relay = RedisRelay(to: server.socketPath)
        defer { relay.stop() }
        let victim = Store(loop: loop, redis: relay.endpoint, settings: settings)
        try await victim.open()
        defer { victim.close() }
        await relay.pass(steps, then: .waits)
        let told = Box<Result<[Registration?], any Error>?>(nil)
        loop.spawn {
          do { told.value = .success(try await victim.devices.put(phones, app: shop).map(\.registration)) } catch {
            told.value = .failure(error)
          }
        }
        try await until(loop) { if told.value != nil { true } else { await relay.isAtEnd() } }
        isWhole = told.value != nil
        let what = "swept after \(steps) commands"
        let held = try await store.session.redis.call(RedisCommand("EXISTS", store.session.keys.intents(0)))
        try await store.intents.undoOrphans(0, now: loop.wallNow + 120_000)
        try await store.arrivals.settleArrivals(0, now: loop.wallNow + 120_000)
        if !isWhole, held == .integer(1) { sweptSome = true }
        await relay.goOn()
        try await until(loop) { told.value != nil }
        #expect(try told.value?.get() == wanted, "\(what)")
        #expect(
          try await store.audiences.count(everyone, app: shop, now: loop.wallNow).total == phones.count, "\(what)")
        try await store.expectTrueSets(app: shop, "\(what)")
        #expect(try await store.registryCheck.reindex(shop, repair: false).isClean, "\(what)")
        steps += 1
        try #require(steps < 300)
      }
      #expect(steps > 6 && sweptSome)
    }
  }
}
