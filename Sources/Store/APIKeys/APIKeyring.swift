package import Domain
import Loop
import RedisClient
import TLS

/// A key that a request has shown, as it was when this process asked last. The same for all requests with that key, so
/// what is counted for each key or app may be known by `key.id` and `key.app`.
package final class IdentifiedKey: Sendable {
  package let key: APIKey
  /// By which of its secrets.
  package let presented: PresentedKey
  /// From then on it must be asked for again. Not later than the key, or the secret, ends.
  package let until: Instant

  init(_ key: APIKey, by presented: PresentedKey, until: Instant) {
    (self.key, self.presented, self.until) = (key, presented, until)
  }
}

/// What a look-up finds.
package enum KeyLookup: Sendable {
  case valid(IdentifiedKey)
  /// The key, or this secret of it, has ended.
  case ended(WallTime)
  case unknown
}

/// The hash of a secret that a client shows.
package struct PresentedKey: Hashable, Sendable {
  let hash: [UInt8]

  /// Eight bytes of a SHA-256 tell keys apart as well as all of them.
  package func hash(into hasher: inout Hasher) {
    hash.withUnsafeBytes { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0.prefix(8))) }
  }
}

/// Finds the keys that requests show. Owns a cache of keys that were used lately. Belongs to the loop of its session. What
/// changes of a key holds here within `cacheMilliseconds`, counted from the change in Redis.
package final class APIKeyring: StorePart {
  let session: RedisSession
  private var keyCache = KeyCache()
  /// Of keys in `keyCache`, while Redis is asked.
  private var lookUps: [PresentedKey: SharedWork<Result<KeyLookup, StoreError>>] = [:]
  private let uses: KeyUses

  init(_ session: RedisSession) {
    self.session = session
    uses = KeyUses(session)
  }

  /// A key is not used for longer than this without asking Redis again. With the time of a command it is less than the
  /// second that is promised.
  static let cacheMilliseconds: Int64 = 900

  /// A secret that a client shows: its hash. Nil: it is no secret of ours, by its form or by its checksum.
  package func presented(_ secret: [UInt8]) -> PresentedKey? {
    guard KeySecret.isWellFormed(secret) else { return nil }
    return PresentedKey(hash: Digest.sha256(secret))
  }

  /// The key, if it was found within the last `cacheMilliseconds`.
  package func cached(_ presented: PresentedKey) -> IdentifiedKey? { keyCache.key(presented, now: loop.now) }

  /// It was a valid key when this process asked last, however long ago; but for a key in very many.
  package func isFamiliar(_ presented: PresentedKey) -> Bool { keyCache.holds(presented) }

  /// Asks Redis, and keeps the key for less than a second, so that every change is seen within it. Many requests may come
  /// with a key just when it must be asked for again: Redis is asked once for them.
  package func find(_ presented: PresentedKey) async throws(StoreError) -> KeyLookup {
    guard isFamiliar(presented) else { return try await lookUp(presented) }
    if let work = lookUps[presented] {
      let found = await work.value { await result(of: presented) }
      // What was found for another is good here only as long as it would be kept.
      if case .success(.valid(let key)) = found, key.until > loop.now { return .valid(key) }
      if case .failure(let error) = found { throw error }
      return try await lookUp(presented)
    }
    let work = SharedWork<Result<KeyLookup, StoreError>>()
    lookUps[presented] = work
    defer { lookUps[presented] = nil }
    return try await work.value { await result(of: presented) }.get()
  }

  private func result(of presented: PresentedKey) async -> Result<KeyLookup, StoreError> {
    do throws(StoreError) { return .success(try await lookUp(presented)) } catch { return .failure(error) }
  }

  private func lookUp(_ presented: PresentedKey) async throws(StoreError) -> KeyLookup {
    // Before Redis is asked: what it answers may be older than the answer's arrival.
    let asked = loop.now
    guard let key = try await stored(presented), let secret = key.secrets.first(where: { $0.hash == presented.hash })
    else {
      keyCache.drop(presented)
      return .unknown
    }
    let now = loop.wallNow
    let end = [key.expiresAt, secret.endsAt].compactMap { $0 }.min()
    if let end, end <= now {
      keyCache.drop(presented)
      return .ended(end)
    }
    let life = min(Self.cacheMilliseconds, end.map { $0 - now } ?? Self.cacheMilliseconds)
    let identified = IdentifiedKey(key, by: presented, until: asked + life)
    keyCache.keep(identified)
    uses.note(key, now)
    return .valid(identified)
  }

  private func stored(_ presented: PresentedKey) async throws(StoreError) -> APIKey? {
    var command = RedisCommand("HGET", keys.secrets)
    command.append(presented.hash)
    guard let owner = (try await ask(command).bytes).flatMap({ KeyOwner(packed: $0) }),
      let record = try await ask(RedisCommand("HGET", keys.apiKeys(owner.app), owner.id)).bytes
    else { return nil }
    return try? APIKey(packed: record, id: owner.id, app: owner.app)
  }

  /// What is not written yet of last uses is given up.
  func close() { uses.close() }
}

/// Keys seen lately. Bounded: full, it starts anew.
private struct KeyCache {
  private var entries: [PresentedKey: IdentifiedKey] = [:]
  private static let limit = 10_000

  func key(_ presented: PresentedKey, now: Instant) -> IdentifiedKey? {
    guard let entry = entries[presented], entry.until > now else { return nil }
    return entry
  }
  func holds(_ presented: PresentedKey) -> Bool { entries[presented] != nil }
  mutating func keep(_ key: IdentifiedKey) {
    if entries.count >= Self.limit { entries = [:] }
    entries[key.presented] = key
  }
  mutating func drop(_ presented: PresentedKey) { entries[presented] = nil }
}

/// When keys were used last: noted where one is looked up, at most once a minute for each, and written a moment later for
/// all together. Belongs to the loop of its session.
private final class KeyUses: StorePart {
  let session: RedisSession
  /// By id; bounded: full, it starts anew.
  private var noted: [String: Instant] = [:]
  private var waiting: [AppID: [String: WallTime]] = [:]
  private var timer: Timer?

  init(_ session: RedisSession) { self.session = session }

  private static let every: Int64 = 60_000
  private static let delay: Int64 = 1_000
  private static let limit = 10_000

  func note(_ key: APIKey, _ now: WallTime) {
    if let last = noted[key.id], loop.now - last < Self.every { return }
    if noted.count >= Self.limit { noted = [:] }
    noted[key.id] = loop.now
    waiting[key.app, default: [:]][key.id] = now
    guard timer == nil else { return }
    timer = loop.after(milliseconds: Self.delay) { [weak self] in self?.write() }
  }

  func close() {
    if let timer { loop.cancel(timer) }
    timer = nil
    waiting = [:]
  }

  private func write() {
    timer = nil
    let uses = waiting
    waiting = [:]
    loop.spawn { [self] in
      for (app, times) in uses {
        let arguments = times.flatMap { [RedisArgument.text($0.key), .number($0.value.seconds)] }
        let scriptKeys = [keys.apiKeys(app), keys.keyUses(app)]
        do throws(StoreError) {
          _ = try await ask(Scripts.noteUse, keys: scriptKeys, arguments)
        } catch {
          // With the next use.
          for id in times.keys { noted[id] = nil }
        }
      }
    }
  }
}
