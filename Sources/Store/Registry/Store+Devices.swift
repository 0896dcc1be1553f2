package import Domain
import Loop
import RedisClient

extension Store {
  /// Registers or replaces a device (design D5: record, alias, tombstone of the former owner of the token; repeatable).
  /// `device.id` empty: by token, under the id that already holds it, or the derived one; the result tells which.
  package func put(_ device: Device, app: AppID) async throws(StoreError) -> (id: DeviceID, registration: Registration)
  {
    try checkMemory()
    let derived = Self.derivedID(of: device.address, in: app)
    var device = device
    if device.id.rawValue.isEmpty {
      let owner = try await owners(of: [device.address], app: app)[0]
      device.id = owner?.device.id ?? derived
    }
    let id = device.id
    // The user's set comes before the record and may name too many; readers compare with the record.
    if let user = device.user {
      _ = try await ask(RedisCommand("SADD", keys.user(app, user), id.rawValue))
    }
    let (before, _) = try await rewrite(id, app: app) { _ in StoredDevice(device: device, tombstone: nil) }
    var former: DeviceID?
    if id != derived {
      let old = try await ask(
        Scripts.point, keys: [aliasKey(derived, app)], [.text(derived.rawValue), .text(id.rawValue)]
      ).text.map { DeviceID(rawValue: $0) }
      // The old owner by alias, and the device that the token itself may have made.
      for other in [old, derived].compactMap({ $0 }) where other != id {
        if try await bury(other, movedTo: id, address: device.address, app: app) {
          former = former ?? other
        }
      }
    } else if let alias = try await alias(derived, app), alias != id {
      if try await bury(alias, movedTo: id, address: device.address, app: app) {
        former = alias
      }
      try await dropAlias(of: device.address, to: alias, app: app)
    }
    if let before { try await forget(before.device, keeping: device, app: app) }
    if let former { return (id, .moved(from: former)) }
    guard let before else { return (id, .created) }
    return (id, before.tombstone == nil ? .updated : .revived)
  }

  /// What the former state of a device left elsewhere: alias of its old token, place among its old user's devices.
  func forget(_ old: Device, keeping new: Device?, app: AppID) async throws(StoreError) {
    if let user = old.user, user != new?.user {
      _ = try await ask(RedisCommand("SREM", keys.user(app, user), old.id.rawValue))
    }
    let derived = Self.derivedID(of: old.address, in: app)
    if derived != new.map({ Self.derivedID(of: $0.address, in: app) }) {
      try await dropAlias(of: old.address, to: old.id, app: app)
    }
  }

  /// True if `id` held that token and now is a tombstone.
  private func bury(_ id: DeviceID, movedTo owner: DeviceID, address: Address, app: AppID)
    async throws(StoreError) -> Bool
  {
    var buried = false
    _ = try await rewrite(id, app: app) { stored in
      buried = false
      guard var stored, stored.tombstone == nil, stored.device.address.holdsSameToken(as: address) else { return nil }
      buried = true
      stored.tombstone = Tombstone(reason: "moved:\(owner.rawValue)", at: loop.wallNow)
      return stored
    }
    return buried
  }

  package func device(_ id: DeviceID, app: AppID) async throws(StoreError) -> StoredDevice? {
    try await devices([id], app: app)[0]
  }

  /// In the order asked for; nil where there is none.
  package func devices(_ ids: [DeviceID], app: AppID) async throws(StoreError) -> [StoredDevice?] {
    try await find(ids, app: app).map { $0?.record.stored }
  }

  /// The registered owners of these tokens, in order; nil where a token is registered under no id.
  package func owners(of addresses: [Address], app: AppID) async throws(StoreError) -> [StoredDevice?] {
    let derived = addresses.map { Self.derivedID(of: $0, in: app) }
    let aliases = try await ask(derived.map { RedisCommand("HGET", aliasKey($0, app), $0.rawValue) })
    let named = zip(aliases, derived).map { alias, id in alias.text.map { DeviceID(rawValue: $0) } ?? id }
    var found = try await devices(named, app: app)
    for place in found.indices {
      if let stored = found[place], !stored.device.address.holdsSameToken(as: addresses[place]) { found[place] = nil }
    }
    return found
  }

  /// True if there was one.
  package func removeDevice(_ id: DeviceID, app: AppID) async throws(StoreError) -> Bool {
    for _ in 0..<Self.removeAttempts {
      guard let found = try await find([id], app: app)[0] else { return false }
      guard try await write(id, app: app, from: found, to: nil) else { continue }
      try await forget(found.record.stored.device, keeping: nil, app: app)
      return true
    }
    throw .unavailable("a device is being written by too many at once", retryAfter: 1)
  }
  private static let removeAttempts = 20

  package func devices(ofUser user: String, app: AppID) async throws(StoreError) -> [StoredDevice] {
    let ids = (try await ask(RedisCommand("SMEMBERS", keys.user(app, user))).array ?? []).compactMap(\.text).sorted()
    let stored = try await devices(ids.map { DeviceID(rawValue: $0) }, app: app)
    return stored.compactMap { $0 }.filter { $0.device.user == user }
  }

  /// Deletes all devices of a user; returns how many.
  package func removeUser(_ user: String, app: AppID) async throws(StoreError) -> Int {
    var removed = 0
    for stored in try await devices(ofUser: user, app: app) {
      if try await removeDevice(stored.device.id, app: app) { removed += 1 }
    }
    _ = try await ask(RedisCommand("DEL", keys.user(app, user)))
    return removed
  }

  /// Live devices by provider name, from the sets.
  package func deviceCounts(app: AppID) async throws(StoreError) -> [ProviderName: Int] {
    let mark = "provider:"
    var counts: [ProviderName: Int] = [:]
    for partition in 0..<settings.partitions {
      let sizes = try await ask(RedisCommand("HKEYS", keys.setSizes(partition, app))).array ?? []
      let names = sizes.compactMap(\.text).filter { $0.hasPrefix(mark) }
      guard !names.isEmpty else { continue }
      for block in 0..<(try await blockCount(partition: partition, app: app)) {
        let words = try await blocks([DeviceSets.active] + names, block: block, partition: partition, app: app)
        for (place, name) in names.enumerated() {
          let live = zip(words[0], words[place + 1]).reduce(0) { $0 + ($1.0 & $1.1).nonzeroBitCount }
          counts[ProviderName(rawValue: String(name.dropFirst(mark.count))), default: 0] += live
        }
      }
    }
    return counts.filter { $0.value > 0 }
  }

  // MARK: Pruning

  /// D13's rule: only the token that failed, and only if it was registered before `since`. True also when repeated.
  func apply(_ prune: Flush.Prune) async throws(StoreError) -> Bool {
    var dead = false
    _ = try await rewrite(prune.device, app: prune.app) { stored in
      dead = false
      guard var stored else { return nil }
      if stored.device.liveActivityToken == prune.token {
        stored.device.liveActivityToken = nil
        return stored
      }
      guard stored.device.address.token == prune.token else { return nil }
      let tombstone = Tombstone(reason: prune.reason, at: prune.at)
      guard stored.tombstone == nil else {
        dead = stored.tombstone == tombstone
        return nil
      }
      if let since = prune.since, stored.device.registeredAt >= since { return nil }
      dead = true
      stored.tombstone = tombstone
      return stored
    }
    return dead
  }

  // MARK: Aliases

  private static let aliasBuckets: UInt64 = 4_096

  private func aliasKey(_ derived: DeviceID, _ app: AppID) -> String {
    let bucket = Slots.hash("alias", app.rawValue, derived.rawValue) % Self.aliasBuckets
    return keys.alias(partition(of: derived, in: app), app, Int(bucket))
  }
  private func alias(_ derived: DeviceID, _ app: AppID) async throws(StoreError) -> DeviceID? {
    try await ask(RedisCommand("HGET", aliasKey(derived, app), derived.rawValue)).text.map { DeviceID(rawValue: $0) }
  }
  private func dropAlias(of address: Address, to id: DeviceID, app: AppID) async throws(StoreError) {
    let derived = Self.derivedID(of: address, in: app)
    _ = try await ask(Scripts.unpoint, keys: [aliasKey(derived, app)], [.text(derived.rawValue), .text(id.rawValue)])
  }
}

extension Address {
  /// One token is one device of an app, whatever kind or bundle it was given with.
  func holdsSameToken(as other: Address) -> Bool {
    provider == other.provider && environment == other.environment && token == other.token
  }
}
