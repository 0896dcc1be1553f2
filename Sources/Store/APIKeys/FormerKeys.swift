import Domain
import RedisClient

/// Keys of layout 12: each was one record under the hash of its secret.
struct FormerKeys: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Gives them their place among the keys of their apps. Several processes may do so at once.
  func adopt() async throws(StoreError) {
    for (hash, value) in pairs(try await ask(RedisCommand("HGETALL", keys.secrets)).array ?? []) {
      guard let key = try? Self.key(value, hash) else { continue }
      let arguments: [RedisArgument] = [
        .bytes(hash), .bytes(value), .bytes(KeyOwner(id: key.id, app: key.app).packed), .text(key.id),
        .bytes(key.packed),
      ]
      _ = try await ask(Scripts.adoptKey, keys: [keys.secrets, keys.apiKeys(key.app)], arguments)
    }
  }

  /// Throws for the owner of a secret of today too: it ends where a key goes on.
  static func key(_ packed: [UInt8], _ hash: [UInt8]) throws(Corrupt) -> APIKey {
    var reader = Unpacker(packed)
    let (id, app) = (try reader.text(), AppID(rawValue: try reader.text()))
    let (name, createdAt) = (try reader.text(), WallTime(milliseconds: try reader.time()))
    var scopes: Set<Scope> = []
    for _ in 0..<(try reader.int()) { if let scope = Scope(rawValue: try reader.text()) { scopes.insert(scope) } }
    // What its scopes could do when it was made.
    if scopes.contains(.send) { scopes.insert(.channels) }
    if !scopes.isDisjoint(with: [.read, .devices]) { scopes.insert(.export) }
    return APIKey(
      id: id, app: app, name: name, scopes: scopes, createdAt: createdAt, addresses: [],
      secrets: [APIKey.Secret(hash: hash, createdAt: createdAt)])
  }
}
