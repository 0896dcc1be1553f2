import Domain
import Loop
import RedisClient
import Support
import TLS
import Testing

@testable import Store

@Suite("API keys")
struct KeyStories {
  private static let other = AppID(rawValue: "other")

  private func find(_ secret: String, _ store: Store) async throws -> APIKey? {
    guard let presented = store.keyring.presented(Array(secret.utf8)) else { return nil }
    guard case .valid(let found) = try await store.keyring.find(presented) else { return nil }
    return found.key
  }

  @Test("a key is found by its secret only, listed without it, and dies when revoked")
  func revoked() async throws {
    try await withStore { store, loop in
      let new = NewKey(
        name: "ci", scopes: [.send, .read], addresses: [AddressRange("10.0.0.0/8")!, AddressRange("2001:db8::/32")!])
      let (key, secret) = try await store.keyring.create(new, app: shop, now: loop.wallNow)
      #expect(try await find(secret, store) == key)
      #expect(try await find("fk_" + secret, store) == nil)
      #expect(try await store.keyring.keys(app: shop) == [key])
      #expect(try await store.keyring.keys(app: Self.other) == [])
      let dump = try await store.session.ask(RedisCommand("HGETALL", store.session.keys.apiKeys(shop))).array ?? []
      #expect(!dump.contains { $0.text?.contains(secret.dropFirst(4)) == true })
      await #expect(throws: KeyringFault.refused(.unknown)) {
        try await store.keyring.revoke(key.id, of: Self.other, now: loop.wallNow)
      }
      try await store.keyring.revoke(key.id, of: shop, now: loop.wallNow)
      #expect(try await find(secret, store) == nil)
      #expect(try await store.session.ask(RedisCommand("EXISTS", store.session.keys.secrets)) == .integer(0))
    }
  }

  @Test(
    "every change of a key is seen by another process within a second of Redis' answer, however often the key is used")
  func everywhere() async throws {
    let server = RedisServer()
    try await withStore(server: server) { store, loop in
      let far = Store(loop: loop, redis: server.endpoint, settings: quickSettings())
      defer { far.close() }
      try await far.open(timeout: 60_000)
      /// As a request: from memory while that may be, and else from Redis.
      func use(_ secret: String) async throws -> APIKey? {
        let presented = try #require(far.keyring.presented(Array(secret.utf8)))
        if let found = far.keyring.cached(presented) { return found.key }
        return try await find(secret, far)
      }
      func seen(_ secret: String, _ condition: (APIKey?) -> Bool) async throws -> Int64 {
        let changed = loop.now
        var asked = loop.now
        while try await !condition(use(secret)) {
          await loop.sleep(milliseconds: 1)
          asked = loop.now
        }
        // The last request that still saw it as it was began before this.
        return asked - changed
      }
      var (key, secret) = try await store.keyring.create(
        NewKey(name: "a", scopes: [.read]), app: shop, now: loop.wallNow)
      #expect(try await use(secret) == key)
      var times: [Int64] = []
      for scopes: Set<Scope> in [[.send], [.read, .export], [.devices]] {
        key = try await store.keyring.change(key.id, of: shop, KeyEdit(scopes: scopes), now: loop.wallNow)
        times.append(try await seen(secret) { $0?.scopes == scopes })
      }
      let former = secret
      (key, secret) = try await store.keyring.rotate(key.id, of: shop, keep: 0, now: loop.wallNow)
      times.append(try await seen(former) { $0 == nil })
      #expect(try await use(secret) == key)
      try await store.keyring.revoke(key.id, of: shop, now: loop.wallNow)
      times.append(try await seen(secret) { $0 == nil })
      // What a busy machine adds to the life in memory is not the key's.
      #expect(times.allSatisfy { $0 <= 1_000 * Int64(Sanitizer.slowness) }, "\(times)")
      #expect(APIKeyring.cacheMilliseconds < 1_000)
    }
  }

  @Test("a key and a former secret end to the millisecond, also in memory")
  func ends() async throws {
    try await withStore { store, loop in
      let began = loop.wallNow
      let (key, secret) = try await store.keyring.create(
        NewKey(name: "", scopes: [.read], expiresAt: began + 300), app: shop, now: began)
      let (_, second) = try await store.keyring.rotate(key.id, of: shop, keep: 100, now: began)
      for (text, end) in [(secret, began + 100), (second, began + 300)] {
        let presented = try #require(store.keyring.presented(Array(text.utf8)))
        guard case .valid(let found) = try await store.keyring.find(presented) else {
          // A machine that takes this long for two commands shows nothing here.
          #expect(loop.wallNow >= end)
          continue
        }
        #expect(found.until - loop.now <= max(0, end - loop.wallNow) + 1)
        while store.keyring.cached(presented) != nil { await loop.sleep(milliseconds: 1) }
        while loop.wallNow < end { await loop.sleep(milliseconds: 1) }
        guard case .ended(end) = try await store.keyring.find(presented) else {
          Issue.record("\(text) goes on")
          continue
        }
        #expect(!store.keyring.isFamiliar(presented))
      }
    }
  }

  @Test("of changes at the same time none is lost, and none is judged by what another one has changed")
  func atOnce() async throws {
    let server = RedisServer()
    try await withStore(server: server) { store, loop in
      let far = Store(loop: loop, redis: server.endpoint, settings: quickSettings())
      defer { far.close() }
      try await far.open(timeout: 60_000)
      let admins = try await [
        store.keyring.create(NewKey(name: "", scopes: [.admin]), app: shop, now: loop.wallNow).key.id,
        store.keyring.create(NewKey(name: "", scopes: [.admin]), app: shop, now: loop.wallNow).key.id,
      ]
      // Each would leave the other one alone: one must be refused.
      var refusals: [KeyringFault] = []
      await loop.abreast(2, width: 2) { number in
        let keyring = [store, far][number].keyring
        do throws(KeyringFault) {
          try await keyring.revoke(admins[number], of: shop, by: admins[number], now: loop.wallNow)
        } catch {
          refusals.append(error)
        }
      }
      #expect(refusals == [.refused(.lastAdmin)])
      await loop.abreast(12, width: 12) { number in
        _ = try? await [store, far][number % 2].keyring.create(
          NewKey(name: "n\(number)", scopes: [.read]), app: shop, now: loop.wallNow)
      }
      #expect(Set(try await store.keyring.keys(app: shop).map(\.name)) == Set((0..<12).map { "n\($0)" } + [""]))
    }
  }

  @Test("a last use is written once a minute for each key, beside the request, and not for a revoked key")
  func lastUse() async throws {
    let server = RedisServer()
    try await withStore(server: server) { store, loop in
      let redis = try await connected(loop, server)
      defer { redis.close() }
      func writes() async throws -> Int {
        let text = try await redis.call(RedisCommand("INFO", "commandstats")).text ?? ""
        return text.firstMatch(of: /cmdstat_hset:calls=(\d+)/).flatMap { Int($0.1) } ?? 0
      }
      var made: [(key: APIKey, secret: String)] = []
      for name in ["used", "idle", "gone"] {
        made.append(try await store.keyring.create(NewKey(name: name, scopes: [.read]), app: shop, now: loop.wallNow))
      }
      let before = try await writes()
      let began = loop.wallNow
      for _ in 0..<50 { for place in [0, 2] { #expect(try await find(made[place].secret, store) != nil) } }
      try await store.keyring.revoke(made[2].key.id, of: shop, now: loop.wallNow)
      try await until(loop) { try await store.keyring.keys(app: shop).contains { $0.lastUsedAt != nil } }
      for _ in 0..<50 { #expect(try await find(made[0].secret, store) != nil) }
      // Two of one millisecond have no order.
      let listed = try await store.keyring.keys(app: shop).sorted { $0.name > $1.name }
      #expect(listed.map(\.name) == ["used", "idle"])
      let time = try #require(listed[0].lastUsedAt)
      #expect(time.seconds >= began.seconds && time <= loop.wallNow && listed[1].lastUsedAt == nil)
      #expect(try await redis.call(RedisCommand("HLEN", store.session.keys.keyUses(shop))) == .integer(1))
      // Of a hundred look-ups.
      #expect(try await writes() == before + 1)
    }
  }

  @Test("what is stored of a key comes back, and damage to it never widens it")
  func packed() throws {
    var random = Seeded()
    for _ in 0..<300 {
      let ranges = ["10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "::/0", "0.0.0.0/0"].filter { _ in
        .random(using: &random)
      }
      let key = APIKey(
        id: "key_1", app: shop, name: "náme", scopes: Set(Scope.allCases.filter { _ in .random(using: &random) }),
        createdAt: WallTime(milliseconds: 5), expiresAt: .random(using: &random) ? WallTime(milliseconds: 7) : nil,
        addresses: ranges.compactMap { AddressRange($0) },
        secrets: (1...Int.random(in: 1...2, using: &random)).map {
          APIKey.Secret(
            hash: Array(repeating: UInt8($0), count: 32), createdAt: WallTime(milliseconds: 6),
            endsAt: .random(using: &random) ? WallTime(milliseconds: 9) : nil)
        })
      #expect(try APIKey(packed: key.packed, id: "key_1", app: shop) == key, "seed \(random.seed)")
      for length in 0..<key.packed.count {
        #expect(throws: Corrupt.self) { try APIKey(packed: Array(key.packed.prefix(length)), id: "key_1", app: shop) }
      }
    }
  }

  // MARK: Keys of layout 12

  /// A record as layout 12 had it.
  private static func former(_ id: String, _ app: AppID, _ scopes: [String]) -> [UInt8] {
    var packer = Packer()
    packer.text(id)
    packer.text(app.rawValue)
    packer.text("note of \(id)")
    packer.time(5_000)
    packer.number(scopes.count)
    for scope in scopes { packer.text(scope) }
    return packer.bytes
  }

  @Test("keys of layout 12 stay valid with what they could do, by as many starts at once as there are")
  func adopted() async throws {
    let server = RedisServer()
    try await withStore(server: server) { store, loop in
      let keys = store.session.keys
      let all: [(id: String, app: AppID, scopes: [String], now: Set<Scope>)] = [
        ("key_send", shop, ["send"], [.send, .channels]), ("key_read", shop, ["read"], [.read, .export]),
        ("key_devices", shop, ["devices"], [.devices, .export]), ("key_admin", Self.other, ["admin"], [.admin]),
        ("key_phone", shop, ["register"], [.register]),
        ("key_most", shop, ["send", "devices", "read"], [.send, .devices, .read, .channels, .export]),
      ]
      for key in all {
        var command = RedisCommand("HSET", keys.secrets)
        command.append(Digest.sha256(Array("fk_\(key.id)".utf8)))
        command.append(Self.former(key.id, key.app, key.scopes))
        _ = try await store.session.ask(command)
      }
      _ = try await store.session.ask(RedisCommand("HSET", keys.layout, "version", "12"))
      var opened = 0
      await loop.abreast(4, width: 4) { _ in
        let another = Store(loop: loop, redis: server.endpoint, settings: quickSettings())
        defer { another.close() }
        if (try? await another.open(timeout: 60_000)) != nil { opened += 1 }
      }
      #expect(opened == 4)
      #expect(try await store.session.ask(RedisCommand("HGET", keys.layout, "version")).text == "13")
      for key in all {
        let found = try #require(try await find("fk_\(key.id)", store), "\(key.id)")
        #expect(found.scopes == key.now && found.app == key.app && found.name == "note of \(key.id)")
      }
      #expect(try await store.keyring.keys(app: shop).count == 5)

      // One that is revoked stays so, also for who saw it before.
      let secret = "fk_key_send"
      try await store.keyring.revoke("key_send", of: shop, now: loop.wallNow)
      let hash = Digest.sha256(Array(secret.utf8))
      let late = try await store.session.ask(
        Scripts.adoptKey, keys: [keys.secrets, keys.apiKeys(shop)],
        [.bytes(hash), .bytes(Self.former("key_send", shop, ["send"])), .text("x"), .text("key_send"), .text("x")])
      #expect(late == .integer(0))
      #expect(try await find(secret, store) == nil)
      // Rotated, it has a secret of today beside the former one.
      let (_, fresh) = try await store.keyring.rotate("key_read", of: shop, keep: 60_000, now: loop.wallNow)
      #expect(fresh.hasPrefix("fan_"))
      for text in ["fk_key_read", fresh] { #expect(try await find(text, store)?.id == "key_read") }
    }
  }
}
