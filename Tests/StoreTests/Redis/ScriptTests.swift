import RedisClient
import Support
import Testing

@testable import Store

@Suite("Scripts")
struct ScriptTests {
  @Test("each is put together whole, with all parts and every constant a number, and Redis loads it")
  func whole() async throws {
    let redis = RedisServer()
    defer { redis.stop() }
    try await withLoop { loop in
      let store = Store(loop: loop, redis: redis.endpoint, settings: StoreSettings())
      try await store.open(timeout: 60_000)
      defer { store.close() }
      #expect(Scripts.all.count > 75 && Set(Scripts.all.map(\.name)).count == Scripts.all.count)
      for script in Scripts.all {
        #expect(script.source.hasPrefix("#!lua"), "\(script.name)")
        #expect(!script.source.contains("-- use"), "\(script.name)")
        for (name, _) in LuaText.constants { #expect(!script.source.contains(name), "\(script.name): \(name)") }
        let loaded = try await store.session.ask(RedisCommand("SCRIPT", "LOAD", script.source))
        #expect(loaded.text?.utf8.count == 40, "\(script.name)")
      }
    }
  }
}
