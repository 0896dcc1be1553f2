package import Domain
import RedisClient

/// What the alias of a token named beside the device that it points to now, and where there may be a device with the token's own
/// id.
struct Pointed {
  var aliases: [DevicePlace] = []
  var own: [DevicePlace] = []
}

/// Tokens that are registered under a chosen id: from the hash of a token to places of devices. A place may be out of date;
/// the record that stands there tells.
extension Store {
  static let aliasBuckets = 4_096

  struct AliasPlace {
    var partition: Int
    var key: String
    /// Of the derived id.
    var hash: [UInt8]
  }

  func alias(_ derived: DeviceID, _ app: AppID) -> AliasPlace {
    let hash = Slots.hash("alias", app.rawValue, derived.rawValue)
    let partition = partition(of: derived, in: app)
    let key = keys.alias(partition, app, Int(hash % UInt64(Self.aliasBuckets)))
    return AliasPlace(
      partition: partition, key: key, hash: (0..<6).map { UInt8(truncatingIfNeeded: hash >> UInt64(56 - 8 * $0)) })
  }

  /// The devices that aliases of tokens name and that hold them, dead ones too. `held`: what the buckets of these places hold.
  func aliased(
    _ places: [AliasPlace], _ held: [[UInt8]?], _ addresses: [Address], app: AppID
  ) async throws(StoreError) -> [[FoundDevice]] {
    var asked: [(token: Int, place: DevicePlace)] = []
    for (token, place) in places.enumerated() {
      let bytes = held[token] ?? []
      for at in stride(from: 0, to: bytes.count - 11, by: 12)
      where bytes[at..<at + 6].elementsEqual(place.hash) {
        asked.append((token, DevicePlace(raw: bytes[(at + 6)..<(at + 12)])))
      }
    }
    var found = [[FoundDevice]](repeating: [], count: places.count)
    for (entry, record) in zip(asked, try await records(asked.map(\.place), app: app)) {
      guard let record, record.device.address.holdsSameToken(as: addresses[entry.token]) else { continue }
      found[entry.token].append(record)
    }
    return found
  }

  /// Points tokens at the devices that hold them now.
  func point(_ pointers: [(derived: DeviceID, to: DevicePlace)], app: AppID) async throws(StoreError) -> [Pointed] {
    let replies = try await askBatched(
      Scripts.point, pointers.map { partition(of: $0.derived, in: app) }
    ) { [self] chunk in
      var run = ScriptRun()
      for at in chunk {
        let alias = alias(pointers[at].derived, app)
        let index = IndexPlace(pointers[at].derived, app, keys)
        run.keys.append(alias.key)
        run.keys.append(keys.index(index.partition, app, index.bucket))
        run.arguments.append(alias.hash)
        run.arguments.append(length: DevicePlace.rawLength, pointers[at].to.append)
        run.arguments.append(length: DevicePlace.rawLength) {
          $0.append16(index.partition)
          $0.append32(Int(index.hash))
        }
      }
      return run
    }
    return replies.map { reply in
      guard let bytes = reply.bytes, let count = bytes.first else { return Pointed() }
      let places = DevicePlace.list(Array(bytes.dropFirst()))
      return Pointed(aliases: Array(places.prefix(Int(count))), own: Array(places.dropFirst(Int(count))))
    }
  }

  func unpoint(_ pointers: [(derived: DeviceID, from: DevicePlace)], app: AppID) async throws(StoreError) {
    _ = try await ask(
      Scripts.unpoint,
      pointers.map { pointer in
        let place = alias(pointer.derived, app)
        return (keys: [place.key], arguments: [.bytes(place.hash + pointer.from.raw)])
      })
  }

  /// The registered owners of these tokens, in order; nil where a token is registered under no id.
  package func owners(of addresses: [Address], app: AppID) async throws(StoreError) -> [StoredDevice?] {
    try await findOwners(of: addresses, app: app).map { $0?.record.stored }
  }

  /// As `owners(of:app:)`, with the id that each token has by itself.
  package func ownersAndIDs(of addresses: [Address], app: AppID) async throws(StoreError)
    -> [(id: DeviceID, owner: StoredDevice?)]
  {
    let derived = addresses.map { Self.derivedID(of: $0, in: app) }
    let owners = try await findOwners(of: addresses, derived: derived, app: app)
    return zip(derived, owners).map { ($0, $1?.record.stored) }
  }

  func findOwners(of addresses: [Address], app: AppID) async throws(StoreError) -> [FoundDevice?] {
    try await findOwners(of: addresses, derived: addresses.map { Self.derivedID(of: $0, in: app) }, app: app)
  }

  /// A token's alias and the index of its own id are in one partition: both are read at once, as most tokens have neither.
  func findOwners(of addresses: [Address], derived: [DeviceID], app: AppID) async throws(StoreError) -> [FoundDevice?] {
    let aliases = derived.map { alias($0, app) }
    let own = derived.map { IndexPlace($0, app, keys) }
    let held = try await read(
      aliases.map { ($0.partition, $0.key) } + own.map { ($0.partition, keys.index($0.partition, app, $0.bucket)) })
    if held.allSatisfy({ $0 == nil }) { return derived.map { _ in nil } }
    var owners = try await aliased(aliases, Array(held.prefix(derived.count)), addresses, app: app)
      .map { $0.max { $0.rank < $1.rank } }
    let missing = owners.indices.filter { owners[$0] == nil }
    let found = try await lookUp(
      missing.map { derived[$0] }, at: missing.map { own[$0] }, held: missing.map { held[derived.count + $0] }, app: app
    )
    for (at, found) in zip(missing, found) {
      guard let found = found.found, found.device.address.holdsSameToken(as: addresses[at]) else { continue }
      owners[at] = found
    }
    return owners
  }
}

extension FoundDevice {
  /// Of several that hold one token the living one counts, then the one registered last.
  var rank: (Int, Int64) { (record.stored.tombstone == nil ? 1 : 0, device.registeredAt.milliseconds) }
}

extension Address {
  /// One token is one device of an app, whatever kind or bundle it was given with.
  func holdsSameToken(as other: Address) -> Bool {
    provider == other.provider && environment == other.environment && token == other.token
  }
}
