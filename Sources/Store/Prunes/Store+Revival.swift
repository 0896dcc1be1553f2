package import Domain
import RedisClient

/// Which prunes to take back; nil: any.
package struct RevivalFilter: Hashable, Sendable {
  package var message: MessageID?
  package var credential: CredentialID?
  /// When they were pruned.
  package var from: WallTime?
  package var to: WallTime?
  package init() {}

  func takes(_ tombstone: Tombstone) -> Bool {
    // Without a message: no provider's word, the token went to another device.
    guard let pruner = tombstone.message else { return false }
    return (message == nil || message == pruner) && (credential == nil || credential == tombstone.credential)
      && (from.map { $0 <= tombstone.at } ?? true) && (to.map { tombstone.at <= $0 } ?? true)
  }
}

extension Store {
  private static let tombstonesAtOnce = 500

  /// Takes prunes back, within retention: devices that providers called dead live again as they were. Those that have registered again
  /// live already; one whose token has meanwhile been registered under another id stays dead (`kept`). Repeating it is harmless.
  package func undoPrunes(_ filter: RevivalFilter, app: AppID) async throws(StoreError) -> (revived: Int, kept: Int) {
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
    var revived = 0
    var kept = 0
    for _ in 0..<Self.writeAttempts {
      let found = try await find(left, app: app).compactMap { $0 }.filter {
        $0.record.stored.tombstone.map(filter.takes) ?? false
      }
      let owners = try await owners(of: found.map(\.device.address), app: app)
      var writes: [DeviceWrite] = []
      for (found, owner) in zip(found, owners) {
        if let owner, owner.tombstone == nil, owner.device.id != found.device.id {
          kept += 1
          continue
        }
        var record = found.record
        record.stored.tombstone = nil
        writes.append(DeviceWrite(place: found.place, id: found.device.id, before: found, after: record))
      }
      guard !writes.isEmpty else { return (revived, kept) }
      left = []
      for (write, done) in zip(writes, try await write(writes, app: app)) {
        if done.isDone { revived += 1 } else { left.append(write.id) }
      }
      if left.isEmpty { return (revived, kept) }
    }
    throw Self.tooBusy
  }
}
