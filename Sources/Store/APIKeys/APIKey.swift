package import Domain

/// What a key may do; `admin` opens all routes, `register` is for keys inside apps.
package enum Scope: String, Hashable, Sendable, CaseIterable {
  case send, devices, read, admin, register
  /// Whole lists and all devices, as NDJSON or CSV.
  case export
  /// Broadcast channels.
  case channels
  /// Sends drafts, but only to test lists.
  case test
  /// Writes drafts, counts and tests them, and cannot send.
  case drafts
  /// The keys of the app.
  case keys
}

/// What is known of a key. Its secrets are not: only their hashes are stored.
package struct APIKey: Hashable, Sendable {
  /// One of at most two, so that a client can change to the new one while the former is still valid.
  package struct Secret: Hashable, Sendable {
    /// SHA-256.
    package var hash: [UInt8]
    package var createdAt: WallTime
    /// Of a former secret: it is valid before, and no longer from then on.
    package var endsAt: WallTime?
  }

  /// Shown in lists and logs; not the secret. It stays when secrets change.
  package var id: String
  package var app: AppID
  package var name: String
  package var scopes: Set<Scope>
  package var createdAt: WallTime
  /// Nil: it does not end by itself.
  package var expiresAt: WallTime?
  /// Where it may be used from; empty: from everywhere.
  package var addresses: [AddressRange]
  /// One or two, the newest first.
  package var secrets: [Secret]
  /// To the minute; nil: never, or not known. It is not part of the key's record.
  package var lastUsedAt: WallTime?

  /// True if the key, with `admin` or without it, may do `scope`.
  package func may(_ scope: Scope) -> Bool { scopes.contains(scope) || scopes.contains(.admin) }

  /// True if it is a key of an app's copies, which is no secret.
  package var onlyRegisters: Bool { scopes.count == 1 && scopes.contains(.register) }

  /// True if it may be used from there.
  package func isValid(from address: NetworkAddress) -> Bool {
    addresses.isEmpty || addresses.contains { $0.contains(address) }
  }

  func hasEnded(_ now: WallTime) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

/// What is asked for when a key is made.
package struct NewKey: Hashable, Sendable {
  package var name: String
  package var scopes: Set<Scope>
  package var expiresAt: WallTime?
  package var addresses: [AddressRange]

  /// The caller has bounded `name` and `addresses`.
  package init(name: String, scopes: Set<Scope>, expiresAt: WallTime? = nil, addresses: [AddressRange] = []) {
    self.name = name
    self.scopes = scopes
    self.expiresAt = expiresAt
    self.addresses = addresses
  }
}

/// What is to be changed of a key; nil: it stays as it is.
package struct KeyEdit: Hashable, Sendable {
  package var name: String?
  package var scopes: Set<Scope>?
  /// The outer nil: it stays. The inner nil: the key does not end.
  package var expiresAt: WallTime??
  package var addresses: [AddressRange]?

  /// Bounds as of `NewKey`.
  package init(
    name: String? = nil, scopes: Set<Scope>? = nil, expiresAt: WallTime?? = nil, addresses: [AddressRange]? = nil
  ) {
    self.name = name
    self.scopes = scopes
    self.expiresAt = expiresAt
    self.addresses = addresses
  }
}

extension APIKey {
  /// Of one app: each change of one reads all of them.
  package static let mostOfApp = 500
  /// Of keys that only a link to the console knows.
  package static let nameOfLinks = "console link"
  /// Milliseconds that a former secret stays valid, unless somebody says otherwise.
  package static let usualKeep: Int64 = 86_400_000
}

extension APIKey {
  private static let form: UInt8 = 1

  /// Without app, id and last use, which stand beside it.
  var packed: [UInt8] {
    var packer = Packer()
    packer.byte(Self.form)
    packer.text(name)
    packer.time(createdAt.milliseconds)
    packer.time(expiresAt?.milliseconds ?? 0)
    packer.number(scopes.count)
    for scope in scopes.map(\.rawValue).sorted() { packer.text(scope) }
    packer.number(addresses.count)
    for range in addresses { packer.text(range.description) }
    packer.number(secrets.count)
    for secret in secrets {
      packer.blob(secret.hash)
      packer.time(secret.createdAt.milliseconds)
      packer.time(secret.endsAt?.milliseconds ?? 0)
    }
    return packer.bytes
  }

  init(packed: [UInt8], id: String, app: AppID) throws(Corrupt) {
    var reader = Unpacker(packed)
    guard try reader.byte() == Self.form else { throw Corrupt() }
    self.id = id
    self.app = app
    name = try reader.text()
    createdAt = WallTime(milliseconds: try reader.time())
    expiresAt = try Self.end(&reader)
    scopes = []
    for _ in 0..<(try reader.int()) {
      // A scope of a later version grants nothing here.
      if let scope = Scope(rawValue: try reader.text()) { scopes.insert(scope) }
    }
    addresses = []
    for _ in 0..<(try reader.int()) {
      // Without one that cannot be read, the key might be valid from everywhere.
      guard let range = AddressRange(try reader.text()) else { throw Corrupt() }
      addresses.append(range)
    }
    secrets = []
    for _ in 0..<(try reader.int()) {
      let (hash, createdAt) = (try reader.blob(), WallTime(milliseconds: try reader.time()))
      secrets.append(Secret(hash: hash, createdAt: createdAt, endsAt: try Self.end(&reader)))
    }
  }

  private static func end(_ reader: inout Unpacker) throws(Corrupt) -> WallTime? {
    let time = try reader.time()
    return time == 0 ? nil : WallTime(milliseconds: time)
  }
}

/// Whose a secret is, as it stands under its hash.
struct KeyOwner {
  var id: String
  var app: AppID

  var packed: [UInt8] {
    var packer = Packer()
    packer.text(id)
    packer.text(app.rawValue)
    return packer.bytes
  }

  /// Nil: it cannot be read, or is a key of a layout before 13.
  init?(packed: [UInt8]) {
    var reader = Unpacker(packed)
    guard let id = try? reader.text(), let app = try? reader.text(), reader.isAtEnd else { return nil }
    self.init(id: id, app: AppID(rawValue: app))
  }
  init(id: String, app: AppID) { (self.id, self.app) = (id, app) }
}
