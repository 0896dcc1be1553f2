package import Domain
import Loop
import RedisClient
import TLS

/// What a key may do; `admin` opens all routes, `register` is for keys inside apps.
package enum Scope: String, Hashable, Sendable, CaseIterable {
  case send, devices, read, admin, register
}

/// What is known of a key. Its secret is not: only the hash of that is stored.
package struct APIKey: Hashable, Sendable {
  /// Shown in lists and logs; not the secret.
  package var id: String
  package var app: AppID
  package var scopes: Set<Scope>
  package var note: String
  package var createdAt: WallTime
}

/// The API keys of all apps. Owns a cache of keys that were used lately. Belongs to the loop of its session. A key that is
/// revoked elsewhere may work here for `cacheMilliseconds` longer.
package final class APIKeyring: StorePart {
  let session: RedisSession
  private var keyCache = KeyCache()

  init(_ session: RedisSession) { self.session = session }

  private static let secretPrefix = "fk_"
  private static let secretBytes = 32
  /// A revoked key may live on that long in a process that has just used it.
  static let cacheMilliseconds: Int64 = 3_000

  /// Makes a key; the secret (`fk_…`) is returned once and stored hashed: 256 random bits need no slow hash.
  package func create(app: AppID, scopes: Set<Scope>, note: String, now: WallTime) async throws(StoreError) -> (
    key: APIKey, secret: String
  ) {
    let secret = Self.secretPrefix + Base64URL.encode(SecureRandom.bytes(Self.secretBytes))
    let hash = Digest.sha256(Array(secret.utf8))
    let key = APIKey(
      id: "key_" + Digits.hexText(SecureRandom.bytes(8)), app: app, scopes: scopes, note: note,
      createdAt: now)
    var command = RedisCommand("HSET", keys.apiKeys)
    command.append(hash)
    command.append(key.packed)
    _ = try await ask(command)
    return (key, secret)
  }

  /// A secret that a client shows: its hash. Nil: no key of ours looks like that.
  package func presented(_ secret: String) -> PresentedKey? {
    guard secret.hasPrefix(Self.secretPrefix), secret.utf8.count < 100 else { return nil }
    return PresentedKey(hash: Digest.sha256(Array(secret.utf8)))
  }

  /// The key, if it was found within the last `cacheMilliseconds`.
  package func cached(_ presented: PresentedKey) -> APIKey? { keyCache.key(presented.hash, now: loop.now) }

  /// It was a valid key when this process asked last, however long ago; but for a key in very many.
  package func isFamiliar(_ presented: PresentedKey) -> Bool { keyCache.holds(presented.hash) }

  /// Asks Redis, and keeps the key for a few seconds, so that a revocation is seen soon.
  package func find(_ presented: PresentedKey) async throws(StoreError) -> APIKey? {
    var command = RedisCommand("HGET", keys.apiKeys)
    command.append(presented.hash)
    guard let packed = try await ask(command).bytes, let key = try? APIKey(packed: packed) else {
      keyCache.drop(presented.hash)
      return nil
    }
    keyCache.keep(key, presented.hash, until: loop.now + Self.cacheMilliseconds)
    return key
  }

  /// The key of a presented secret; cached for a few seconds.
  package func key(forSecret secret: String) async throws(StoreError) -> APIKey? {
    guard let presented = presented(secret) else { return nil }
    if let known = cached(presented) { return known }
    return try await find(presented)
  }

  /// Oldest first.
  package func keys(app: AppID) async throws(StoreError) -> [APIKey] {
    try await storedKeys().map(\.key).filter { $0.app == app }.sorted {
      ($0.createdAt.milliseconds, $0.id) < ($1.createdAt.milliseconds, $1.id)
    }
  }

  /// False: the app has no key of this id. Another process may take it for `cacheMilliseconds` more.
  package func revoke(_ id: String, app: AppID) async throws(StoreError) -> Bool {
    guard let found = try await storedKeys().first(where: { $0.key.id == id && $0.key.app == app }) else {
      return false
    }
    var command = RedisCommand("HDEL", keys.apiKeys)
    command.append(found.hash)
    keyCache.drop(found.hash)
    return try await ask(command).integer == 1
  }

  private func storedKeys() async throws(StoreError) -> [(hash: [UInt8], key: APIKey)] {
    pairs(try await ask(RedisCommand("HGETALL", keys.apiKeys)).array ?? []).compactMap { hash, packed in
      (try? APIKey(packed: packed)).map { (hash, $0) }
    }
  }
}

/// The hash of a secret that a client shows.
package struct PresentedKey: Hashable, Sendable {
  let hash: [UInt8]
}

/// Keys seen lately, by the hash of their secret. Bounded: full, it starts anew.
struct KeyCache {
  private var entries: [[UInt8]: (key: APIKey, until: Instant)] = [:]
  private static let limit = 10_000

  func key(_ hash: [UInt8], now: Instant) -> APIKey? {
    guard let entry = entries[hash], entry.until > now else { return nil }
    return entry.key
  }
  func holds(_ hash: [UInt8]) -> Bool { entries[hash] != nil }
  mutating func keep(_ key: APIKey, _ hash: [UInt8], until: Instant) {
    if entries.count >= Self.limit { entries = [:] }
    entries[hash] = (key, until)
  }
  mutating func drop(_ hash: [UInt8]) { entries[hash] = nil }
}

extension APIKey {
  var packed: [UInt8] {
    var packer = Packer()
    packer.text(id)
    packer.text(app.rawValue)
    packer.text(note)
    packer.time(createdAt.milliseconds)
    packer.number(scopes.count)
    for scope in scopes.map(\.rawValue).sorted() { packer.text(scope) }
    return packer.bytes
  }

  init(packed: [UInt8]) throws(Corrupt) {
    var reader = Unpacker(packed)
    id = try reader.text()
    app = AppID(rawValue: try reader.text())
    note = try reader.text()
    createdAt = WallTime(milliseconds: try reader.time())
    scopes = []
    for _ in 0..<(try reader.int()) {
      // A scope of a later version grants nothing here.
      if let scope = Scope(rawValue: try reader.text()) { scopes.insert(scope) }
    }
  }
}
