package import Domain
import TLS

/// Why a key is not made or changed. Nothing was written.
package enum KeyRefusal: Error, Hashable, Sendable {
  /// The app has no such key.
  case unknown
  /// Who asks is revoked, or has ended.
  case notYours
  /// The app has as many keys as it may have.
  case full
  /// The key would have, or has, more than who asks.
  case beyond(Excess)
  /// It is the app's last key with `admin`, and it is asked for over the API.
  case lastAdmin
  /// Two secrets are valid: the former one until then.
  case rotating(until: WallTime)

  /// What a key has that another one lacks.
  package enum Excess: Hashable, Sendable {
    /// In alphabetical order.
    case scopes([String])
    /// It ends later, or not at all.
    case expiry(WallTime)
    case addresses
  }
}

/// What may become of the keys of an app: values only. Who asks for it may give nothing that it does not have.
struct KeyRules {
  /// All of the app, as they are.
  let keys: [APIKey]
  /// The key that asks; nil: somebody at the machine, who may do everything.
  let maker: APIKey?
  let now: WallTime

  /// `id`: of the key that asks.
  init(_ keys: [APIKey], maker id: String?, now: WallTime) throws(KeyRefusal) {
    self.keys = keys
    self.now = now
    guard let id else {
      maker = nil
      return
    }
    guard let own = keys.first(where: { $0.id == id }), !own.hasEnded(now), own.may(.keys) else { throw .notYours }
    maker = own
  }

  func key(_ id: String) throws(KeyRefusal) -> APIKey {
    guard let key = keys.first(where: { $0.id == id }) else { throw .unknown }
    return key
  }

  func created(_ new: NewKey, id: String, app: AppID, hash: [UInt8]) throws(KeyRefusal) -> APIKey {
    guard keys.count < APIKey.mostOfApp else { throw .full }
    let key = APIKey(
      id: id, app: app, name: new.name, scopes: new.scopes, createdAt: now, expiresAt: new.expiresAt,
      addresses: new.addresses, secrets: [APIKey.Secret(hash: hash, createdAt: now)])
    try check(key)
    return key
  }

  func changed(_ id: String, by edit: KeyEdit) throws(KeyRefusal) -> APIKey {
    let before = try key(id)
    var key = before
    if let name = edit.name { key.name = name }
    if let scopes = edit.scopes { key.scopes = scopes }
    if let end = edit.expiresAt { key.expiresAt = end }
    if let addresses = edit.addresses { key.addresses = addresses }
    try check(before)
    try check(key)
    let endsSooner = key.expiresAt.map { $0 < before.expiresAt ?? WallTime(milliseconds: .max) } ?? false
    if !key.scopes.contains(.admin) || endsSooner { try checkNotLast(before) }
    return key
  }

  /// `keep`: milliseconds for which the secret of now stays valid beside the new one.
  func rotated(_ id: String, keep: Int64, hash: [UInt8]) throws(KeyRefusal) -> APIKey {
    var key = try key(id)
    // Whoever asks gets a secret of it.
    try check(key)
    var former = key.secrets.filter { secret in secret.endsAt.map { $0 > now } ?? true }
    if keep == 0 {
      former = []
    } else if former.count > 1 {
      throw .rotating(until: former.compactMap(\.endsAt).max() ?? now)
    }
    for place in former.indices { former[place].endsAt = now + keep }
    key.secrets = [APIKey.Secret(hash: hash, createdAt: now)] + former
    return key
  }

  func mayRevoke(_ id: String) throws(KeyRefusal) {
    let key = try key(id)
    if let excess = scopesBeyond(key) { throw .beyond(excess) }
    try checkNotLast(key)
  }

  private func check(_ key: APIKey) throws(KeyRefusal) {
    guard let maker else { return }
    if let excess = scopesBeyond(key) { throw .beyond(excess) }
    if let end = maker.expiresAt, key.expiresAt.map({ $0 > end }) ?? true { throw .beyond(.expiry(end)) }
    guard maker.addresses.isEmpty || !key.addresses.isEmpty,
      maker.addresses.isEmpty
        || key.addresses.allSatisfy({ range in maker.addresses.contains { $0.contains(range) } })
    else { throw .beyond(.addresses) }
  }

  private func scopesBeyond(_ key: APIKey) -> KeyRefusal.Excess? {
    guard let maker, !maker.scopes.contains(.admin) else { return nil }
    let more = key.scopes.subtracting(maker.scopes)
    return more.isEmpty ? nil : .scopes(more.map(\.rawValue).sorted())
  }

  /// Who has the machine can make another one.
  private func checkNotLast(_ key: APIKey) throws(KeyRefusal) {
    guard maker != nil, key.scopes.contains(.admin), !key.hasEnded(now) else { return }
    // Nobody has the secret of a link to the console.
    let others = keys.contains {
      $0.id != key.id && $0.scopes.contains(.admin) && !$0.hasEnded(now) && $0.name != APIKey.nameOfLinks
    }
    guard others else { throw .lastAdmin }
  }
}
