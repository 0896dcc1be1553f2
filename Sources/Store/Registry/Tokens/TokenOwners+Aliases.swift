package import Domain
import Loop
import RedisClient

/// What a token's alias names: where a device is, and a number that tells entries of one device apart.
struct AliasEntry: Hashable {
  var place: DevicePlace
  var tag: UInt16

  static let rawLength = DevicePlace.rawLength + 2
  func append(to raw: inout [UInt8]) {
    place.append(to: &raw)
    raw.append16(Int(tag))
  }
  init(place: DevicePlace, tag: UInt16) { (self.place, self.tag) = (place, tag) }
  init(raw: ArraySlice<UInt8>) {
    place = DevicePlace(raw: raw.prefix(DevicePlace.rawLength))
    tag = UInt16(truncatingIfNeeded: from32(raw.dropFirst(DevicePlace.rawLength)))
  }
  /// As `append`, one behind the other.
  static func list(_ raw: ArraySlice<UInt8>) -> [AliasEntry] {
    stride(from: raw.startIndex, through: raw.endIndex - rawLength, by: rawLength).map {
      AliasEntry(raw: raw[$0..<$0 + rawLength])
    }
  }
}

/// What the alias of a token named before the device that it names now as well, and where there may be a device with
/// the token's own id.
struct Pointed {
  var entries: [AliasEntry] = []
  var own: [DevicePlace] = []
  var isEmpty: Bool { entries.isEmpty && own.isEmpty }
}

/// A device on its way into a token's alias.
struct Pointer {
  /// The id that the token gives.
  var derived: DeviceID
  var entry: AliasEntry
  /// Another entry of the device will do.
  var keepsAny = false
}

/// Tokens that are registered under a chosen id: from the hash of a token to places of devices. A place may be out of
/// date; the record that stands there tells.
extension TokenOwners {
  static let aliasBuckets = 4_096

  struct AliasPlace {
    var partition: Int
    var key: String
    /// Of the derived id.
    var hash: [UInt8]
  }

  func alias(_ derived: DeviceID, _ app: AppID) -> AliasPlace {
    let hash = ClusterHashTags.hash("alias", app.rawValue, derived.rawValue)
    let partition = session.partition(of: derived, in: app)
    let key = keys.alias(partition, app, Int(hash % UInt64(Self.aliasBuckets)))
    return AliasPlace(
      partition: partition, key: key, hash: (0..<4).map { UInt8(truncatingIfNeeded: hash >> UInt64(56 - 8 * $0)) })
  }

  /// The devices that aliases of tokens name and that hold them, dead ones too. `held`: what the buckets of these
  /// places hold.
  func aliased(
    _ places: [AliasPlace], _ held: [[UInt8]?], _ addresses: [Address], app: AppID
  ) async throws(StoreError) -> [[FoundDevice]] {
    var asked: [(token: Int, place: DevicePlace)] = []
    for (token, place) in places.enumerated() {
      for entry in place.entries(held[token] ?? []) { asked.append((token, entry.place)) }
    }
    var found = [[FoundDevice]](repeating: [], count: places.count)
    for (entry, record) in zip(asked, try await DeviceRecords(session).records(asked.map(\.place), app: app)) {
      guard let record, record.device.address.holdsSameToken(as: addresses[entry.token]) else { continue }
      found[entry.token].append(record)
    }
    return found
  }

  /// Enters devices for tokens, behind those that were entered before.
  func point(_ pointers: [Pointer], app: AppID) async throws(StoreError) -> [Pointed] {
    let replies = try await askBatched(
      Scripts.point, pointers.map { session.partition(of: $0.derived, in: app) }
    ) { [self] chunk in
      var run = ScriptRun()
      for at in chunk {
        let alias = alias(pointers[at].derived, app)
        let index = IndexPlace(pointers[at].derived, app, keys)
        run.keys.append(alias.key)
        run.keys.append(keys.index(index.partition, app, index.bucket))
        run.arguments.append(alias.hash)
        run.arguments.append(length: AliasEntry.rawLength, pointers[at].entry.append)
        run.arguments.append(pointers[at].keepsAny ? 1 : 0)
        run.arguments.append(length: DevicePlace.rawLength) {
          $0.append16(index.partition)
          $0.append32(Int(index.hash))
        }
      }
      return run
    }
    return replies.map { reply in
      guard let bytes = reply.bytes, bytes.count >= 2 else { return Pointed() }
      let end = min(bytes.count, 2 + from32(bytes[..<2]) * AliasEntry.rawLength)
      return Pointed(entries: AliasEntry.list(bytes[2..<end]), own: DevicePlace.list(Array(bytes[end...])))
    }
  }

  /// What tokens' aliases say of devices at these places.
  func entries(of pointers: [(derived: DeviceID, place: DevicePlace)], app: AppID) async throws(StoreError)
    -> [[AliasEntry]]
  {
    let places = pointers.map { alias($0.derived, app) }
    let held = try await read(places.map { ($0.partition, $0.key) })
    return pointers.indices.map { at in
      places[at].entries(held[at] ?? []).filter { $0.place == pointers[at].place }
    }
  }

  /// Exactly these entries: one that was made meanwhile has another tag.
  func unpoint(_ entries: [(derived: DeviceID, entry: AliasEntry)], app: AppID) async throws(StoreError) {
    guard !entries.isEmpty else { return }
    _ = try await askBatched(
      Scripts.unpoint, entries.map { session.partition(of: $0.derived, in: app) }
    ) { [self] chunk in
      var run = ScriptRun()
      for at in chunk {
        let place = alias(entries[at].derived, app)
        run.keys.append(place.key)
        run.arguments.append(length: place.hash.count + AliasEntry.rawLength) { raw in
          raw += place.hash
          entries[at].entry.append(to: &raw)
        }
      }
      return run
    }
  }

  /// The registered owners of these tokens, in order; nil where a token is registered under no id.
  package func owners(of addresses: [Address], app: AppID) async throws(StoreError) -> [StoredDevice?] {
    try await findOwners(of: addresses, app: app).map { $0?.record.visible }
  }

  /// As `owners(of:app:)`, with the id that each token has by itself.
  package func ownersAndIDs(of addresses: [Address], app: AppID) async throws(StoreError)
    -> [(id: DeviceID, owner: StoredDevice?)]
  {
    var all: [(id: DeviceID, owner: StoredDevice?)] = []
    all.reserveCapacity(addresses.count)
    // Thousands take longer than a turn of the loop should.
    for start in stride(from: 0, to: addresses.count, by: Self.itemsPerPart) {
      let some = Array(addresses[start..<min(addresses.count, start + Self.itemsPerPart)])
      let derived = some.map { DeviceID.derived(of: $0, in: app) }
      let owners = try await findOwners(of: some, derived: derived, app: app)
      all += zip(derived, owners).map { ($0, $1?.record.visible) }
      if all.count < addresses.count { await loop.giveWay() }
    }
    return all
  }

  func findOwners(of addresses: [Address], app: AppID) async throws(StoreError) -> [FoundDevice?] {
    try await findOwners(of: addresses, derived: addresses.map { DeviceID.derived(of: $0, in: app) }, app: app)
  }

  /// A token's alias and the index of its own id are in one partition: both are read at once, as most tokens have
  /// neither.
  func findOwners(of addresses: [Address], derived: [DeviceID], app: AppID) async throws(StoreError) -> [FoundDevice?] {
    let aliases = derived.map { alias($0, app) }
    let own = derived.map { IndexPlace($0, app, keys) }
    let held = try await read(
      aliases.map { ($0.partition, $0.key) } + own.map { ($0.partition, keys.index($0.partition, app, $0.bucket)) })
    if held.allSatisfy({ $0 == nil }) { return derived.map { _ in nil } }
    var owners = try await aliased(aliases, Array(held.prefix(derived.count)), addresses, app: app)
      .map { $0.max { $0.rank < $1.rank } }
    // Beside a dead device that the alias names one may live under the token's own id.
    let missing = owners.indices.filter { !(owners[$0]?.record.isLiving ?? false) }
    let found = try await DeviceRecords(session).lookUp(
      missing.map { derived[$0] }, at: missing.map { own[$0] }, held: missing.map { held[derived.count + $0] }, app: app
    )
    for (at, found) in zip(missing, found) {
      guard let found = found.found, found.device.address.holdsSameToken(as: addresses[at]) else { continue }
      if owners[at].map({ $0.rank.0 < found.rank.0 }) ?? true { owners[at] = found }
    }
    return owners
  }
}

extension FoundDevice {
  /// Of several that hold one token the living one counts, then one that is about to, then the one registered last.
  var rank: (Int, Int64) {
    (record.isLiving ? 2 : record.isArriving ? 1 : 0, device.registeredAt.milliseconds)
  }
}

extension TokenOwners.AliasPlace {
  static let entryLength = 4 + AliasEntry.rawLength

  /// Of its bucket.
  func entries(_ held: [UInt8]) -> [AliasEntry] {
    var entries: [AliasEntry] = []
    for at in stride(from: 0, through: held.count - Self.entryLength, by: Self.entryLength)
    where held[at..<at + 4].elementsEqual(hash) {
      entries.append(AliasEntry(raw: held[(at + 4)..<(at + Self.entryLength)]))
    }
    return entries
  }
}

extension Address {
  /// One token is one device of an app, whatever kind or bundle it was given with.
  package func holdsSameToken(as other: Address) -> Bool {
    provider == other.provider && environment == other.environment && token == other.token
  }
}
