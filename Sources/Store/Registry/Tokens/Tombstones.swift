import Domain
import RedisClient

/// Tombstones tell for the time of retention why a device gets nothing; then they go, and their numbers with them. Holds
/// nothing but its session, on whose loop it is used.
struct Tombstones: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// What one sweep of a partition takes on.
  private static let purgesPerSweep = 50

  static func buriedMember(_ id: DeviceID, _ app: AppID) -> [UInt8] {
    Array(app.rawValue.utf8) + [0] + Array(id.rawValue.utf8)
  }

  static func device(ofMember member: [UInt8]) -> (app: AppID, id: DeviceID) {
    let words = member.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    return (
      AppID(rawValue: String(decoding: words.first ?? [], as: UTF8.self)),
      DeviceID(rawValue: words.count > 1 ? String(decoding: words[1], as: UTF8.self) : "")
    )
  }

  /// Deletes tombstones beyond retention, oldest first, a bounded number at a time.
  func purgeTombstones(_ partition: Int, now: WallTime) async throws(StoreError) {
    let bound = now.milliseconds - settings.retentionSeconds * 1000
    let listed = try await ask(
      RedisCommand(
        "ZRANGEBYSCORE", keys.buried(partition), "-inf", String(bound), "WITHSCORES", "LIMIT", "0",
        String(Self.purgesPerSweep)), partition: partition)
    for (member, time) in pairs(listed.array ?? []) {
      let (app, id) = Self.device(ofMember: member)
      if let found = try await DeviceRecords(session).find([id], app: app)[0],
        let tombstone = found.record.stored.tombstone,
        tombstone.at.milliseconds <= bound
      {
        // What came between stands; the next sweep looks again.
        _ = try await DeviceRegistry(session).remove(found, app: app)
      } else {
        _ = try await ask(
          Scripts.unbury, keys: [keys.buried(partition)], [.bytes(member), .bytes(time)], partition: partition)
      }
    }
  }
}
