package import Domain
import RedisClient
import TLS

/// Which prunes to take back; nil: any.
package struct RevivalFilter: Hashable, Sendable {
  package var message: MessageID?
  package var credential: CredentialID?
  /// When they were pruned.
  package var from: WallTime?
  package var to: WallTime?
  /// Takes every prune that a provider's word has caused.
  package init() {}

  func takes(_ tombstone: Tombstone) -> Bool {
    // Without a message: no provider's word, the token went to another device.
    guard let pruner = tombstone.message else { return false }
    return (message == nil || message == pruner) && (credential == nil || credential == tombstone.credential)
      && (from.map { $0 <= tombstone.at } ?? true) && (to.map { tombstone.at <= $0 } ?? true)
  }
}

extension Prunes {
  private static let tombstonesAtOnce = 500

  /// Takes prunes back, within retention: devices that providers called dead live again as they were. Those that have registered again
  /// live already; one whose token has meanwhile been registered under another id stays dead (`kept`). Repeating it is harmless.
  package func undo(_ filter: RevivalFilter, app: AppID) async throws(StoreError) -> (revived: Int, kept: Int) {
    var revived = 0
    var kept = 0
    for partition in 0..<settings.partitions {
      let ids = try await buried(filter, app: app, partition)
      for start in stride(from: 0, to: ids.count, by: Self.tombstonesAtOnce) {
        let step = Array(ids[start..<min(ids.count, start + Self.tombstonesAtOnce)])
        let outcome = try await revive(step, filter, app: app)
        revived += outcome.revived
        kept += outcome.kept
      }
    }
    return (revived, kept)
  }

  /// Ids of tombstones of that time, oldest first.
  private func buried(_ filter: RevivalFilter, app: AppID, _ partition: Int) async throws(StoreError) -> [DeviceID] {
    let own = Array(app.rawValue.utf8) + [0]
    var ids: [DeviceID] = []
    var offset = 0
    while true {
      let listed =
        try await ask(
          RedisCommand(
            "ZRANGEBYSCORE", keys.buried(partition), filter.from.map { String($0.milliseconds) } ?? "-inf",
            filter.to.map { String($0.milliseconds) } ?? "+inf", "LIMIT", String(offset), String(Self.tombstonesAtOnce)),
          partition: partition
        ).array ?? []
      for member in listed.compactMap(\.bytes) where member.starts(with: own) {
        ids.append(DeviceID(rawValue: String(decoding: member.dropFirst(own.count), as: UTF8.self)))
      }
      guard listed.count == Self.tombstonesAtOnce else { return ids }
      offset += listed.count
    }
  }

  private func revive(_ ids: [DeviceID], _ filter: RevivalFilter, app: AppID) async throws(StoreError) -> (
    revived: Int, kept: Int
  ) {
    var left = ids
    var contested = Set<DeviceID>()
    var revived = 0
    var kept = 0
    for _ in 0..<DeviceRecords.writeAttempts {
      let found = try await DeviceRecords(session).find(left, app: app).compactMap { $0 }.filter {
        $0.record.stored.tombstone.map(filter.takes) ?? false
      }
      let owners = try await TokenOwners(session).owners(of: found.map(\.device.address), app: app)
      let open = zip(found, owners).filter { found, owner in
        owner.map { $0.tombstone != nil || $0.device.id == found.device.id } ?? true
      }.map(\.0)
      kept += found.count - open.count
      guard !open.isEmpty else { return (revived, kept) }
      try await PruneBrakes(session).restoreNorms(of: Set(open.compactMap { $0.record.stored.tombstone?.credential }))
      let writes = open.map { found in
        var record = found.record
        record.stored.tombstone = nil
        let derived = DeviceID.derived(of: found.device.address, in: app)
        let isAlone = derived == found.device.id && !contested.contains(derived)
        if !isAlone { record.mark = DeviceRecord.Mark(nonce: SecureRandom.word(), isArriving: true) }
        return DeviceWrite(
          place: found.place, id: found.device.id, before: found, after: record, derived: derived,
          way: isAlone ? .alone : .arrives)
      }
      try await DeviceArrivals(session).announce(writes.filter { $0.way == .arrives }.map { ($0.place, $0.id) }, app)
      left = []
      var arriving: [DeviceWrite] = []
      for (write, done) in zip(writes, try await DeviceRecords(session).write(writes, app: app)) {
        if !done.isDone {
          left.append(write.id)
          if let derived = write.derived { contested.insert(derived) }
        } else if write.way == .arrives {
          arriving.append(write)
        } else {
          revived += 1
        }
      }
      for (write, hasToken) in zip(arriving, try await revive(arriving, app)) {
        switch hasToken {
        case true?: revived += 1
        case false?: kept += 1
        case nil: left.append(write.id)
        }
      }
      if left.isEmpty { return (revived, kept) }
    }
    throw DeviceRecords.tooBusy
  }

  /// Which of those that are arriving again have their tokens; where another one has it, the device is dead as before. Nil: it has
  /// changed meanwhile.
  private func revive(_ writes: [DeviceWrite], _ app: AppID) async throws(StoreError) -> [Bool?] {
    var has = [Bool?](repeating: nil, count: writes.count)
    let found = try await DeviceRecords(session).records(writes.map(\.place), app: app)
    let own = writes.indices.filter { at in found[at].map { $0.record.mark == writes[at].after?.mark } ?? false }
    let devices = own.compactMap { found[$0] }
    var gone: [(derived: DeviceID, entry: AliasEntry)] = []
    for ((at, device), result) in zip(
      zip(own, devices), try await DeviceArrivals(session).arrive(devices, yields: true, app))
    {
      switch result {
      case .won: has[at] = true
      case .overtaken, .swept, .sweptAside: break
      case .yielded:
        let mark = device.record.mark
        let back = try await DeviceRecords(session).rewrite(device.device.id, app: app) { record in
          guard record.mark == mark else { return nil }
          var dead = record
          dead.stored.tombstone = writes[at].before?.record.stored.tombstone
          dead.mark = nil
          return dead
        }
        guard let back, back.before.mark == mark else { continue }
        has[at] = false
        let token = DeviceID.derived(of: device.device.address, in: app)
        gone.append((token, AliasEntry(place: device.place, tag: mark?.tag ?? 0)))
      }
    }
    try await TokenOwners(session).unpoint(gone, app: app)
    return has
  }
}
