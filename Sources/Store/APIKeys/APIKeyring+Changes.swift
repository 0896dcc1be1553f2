package import Domain
import RedisClient
import TLS

/// A change of a key: refused, or not done as Redis was away.
package enum KeyringFault: Error, Hashable, Sendable {
  case refused(KeyRefusal)
  case store(StoreError)
}

/// Making, changing and revoking keys. `maker`: the id of the key that asks; nil: somebody at the machine. What is judged is
/// what is there when it is written.
extension APIKeyring {
  /// Makes a key. The secret is returned once and stored hashed: 178 random bits need no slow hash.
  package func create(
    _ new: NewKey, app: AppID, by maker: String? = nil, now: WallTime
  ) async throws(KeyringFault) -> (key: APIKey, secret: String) {
    let secret = KeySecret.make()
    let id = "key_" + Digits.hexText(SecureRandom.bytes(8))
    let key = try await change(id, of: app, by: maker, now) { rules throws(KeyRefusal) in
      try rules.created(new, id: id, app: app, hash: Digest.sha256(Array(secret.utf8)))
    }
    return (key, secret)
  }

  package func change(
    _ id: String, of app: AppID, by maker: String? = nil, _ edit: KeyEdit, now: WallTime
  ) async throws(KeyringFault) -> APIKey {
    try await change(id, of: app, by: maker, now) { rules throws(KeyRefusal) in try rules.changed(id, by: edit) }
  }

  /// A second secret. `keep`: milliseconds for which the former one stays valid; 0 ends all former ones at once.
  package func rotate(
    _ id: String, of app: AppID, by maker: String? = nil, keep: Int64, now: WallTime
  ) async throws(KeyringFault) -> (key: APIKey, secret: String) {
    let secret = KeySecret.make()
    let key = try await change(id, of: app, by: maker, now) { rules throws(KeyRefusal) in
      try rules.rotated(id, keep: keep, hash: Digest.sha256(Array(secret.utf8)))
    }
    return (key, secret)
  }

  package func revoke(_ id: String, of app: AppID, by maker: String? = nil, now: WallTime) async throws(KeyringFault) {
    for _ in 0..<Self.attempts {
      let (edition, all) = try await read(app)
      do throws(KeyRefusal) {
        try KeyRules(all, maker: maker, now: now).mayRevoke(id)
      } catch {
        throw .refused(error)
      }
      if try await write(nil, id, all, app, edition) { return }
    }
    throw .store(Self.crowded)
  }

  /// Those of an app, the oldest first, with their last uses.
  package func keys(app: AppID) async throws(StoreError) -> [APIKey] {
    let replies = try await ask([
      RedisCommand("HGETALL", keys.apiKeys(app)), RedisCommand("HGETALL", keys.keyUses(app)),
    ])
    var uses: [String: WallTime] = [:]
    for (id, time) in pairs(replies.last?.array ?? []) {
      guard let seconds = StoredNumber.read(String(decoding: time, as: UTF8.self)) else { continue }
      uses[String(decoding: id, as: UTF8.self)] = WallTime(seconds: seconds)
    }
    return Self.read(replies.first?.array ?? [], app).keys.map { key in
      var key = key
      key.lastUsedAt = uses[key.id]
      return key
    }.sorted { ($0.createdAt.milliseconds, $0.id) < ($1.createdAt.milliseconds, $1.id) }
  }

  private static let attempts = 20
  private static let crowded = StoreError.unavailable("too many requests change the keys at once", retryAfter: 1)

  /// Judges and writes as long as others come between.
  private func change(
    _ id: String, of app: AppID, by maker: String?, _ now: WallTime,
    _ judge: (KeyRules) throws(KeyRefusal) -> APIKey
  ) async throws(KeyringFault) -> APIKey {
    for _ in 0..<Self.attempts {
      let (edition, all) = try await read(app)
      let key: APIKey
      do throws(KeyRefusal) {
        key = try judge(try KeyRules(all, maker: maker, now: now))
      } catch {
        throw .refused(error)
      }
      if try await write(key, id, all, app, edition) { return key }
    }
    throw .store(Self.crowded)
  }

  private func read(_ app: AppID) async throws(KeyringFault) -> (edition: Int64, keys: [APIKey]) {
    do throws(StoreError) {
      return Self.read(try await ask(RedisCommand("HGETALL", keys.apiKeys(app))).array ?? [], app)
    } catch {
      throw .store(error)
    }
  }

  private static func read(_ reply: [RedisReply], _ app: AppID) -> (edition: Int64, keys: [APIKey]) {
    var edition: Int64 = 0
    var found: [APIKey] = []
    for (id, record) in pairs(reply) {
      if id.isEmpty {
        edition = StoredNumber.read(String(decoding: record, as: UTF8.self)) ?? 0
      } else if let key = try? APIKey(packed: record, id: String(decoding: id, as: UTF8.self), app: app) {
        found.append(key)
      }
    }
    return (edition, found)
  }

  /// `key`: nil revokes it. False: others came between.
  private func write(
    _ key: APIKey?, _ id: String, _ all: [APIKey], _ app: AppID, _ edition: Int64
  ) async throws(KeyringFault) -> Bool {
    let before = Set(all.first { $0.id == id }?.secrets.map(\.hash) ?? [])
    let after = Set(key?.secrets.map(\.hash) ?? [])
    var arguments: [RedisArgument] = [.number(edition), .text(id), .bytes(key?.packed ?? [])]
    for hash in before.subtracting(after) { arguments += [.bytes(hash), .bytes([])] }
    for hash in after.subtracting(before) { arguments += [.bytes(hash), .bytes(KeyOwner(id: id, app: app).packed)] }
    let scriptKeys = [keys.secrets, keys.apiKeys(app), keys.keyUses(app)]
    do throws(StoreError) {
      return try await ask(Scripts.changeKey, keys: scriptKeys, arguments).integer == 1
    } catch {
      throw .store(error)
    }
  }
}
