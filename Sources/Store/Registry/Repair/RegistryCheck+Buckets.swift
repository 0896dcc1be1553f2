import Domain
import RedisClient

/// The other way round: what index, aliases and users name, and no record bears out.
extension RegistryCheck {
  private static let bucketsPerStep = 128

  /// What keys of one partition hold, one reply each, by one command: most buckets of a small app are empty.
  private func values(_ keys: [String]) async throws(StoreError) -> [RedisReply] {
    try await ask(RedisCommand(words: ["MGET"] + keys)).array ?? []
  }

  func checkIndex(
    _ partition: Int, _ app: AppID, _ repair: Bool, _ report: inout ReindexReport
  ) async throws(StoreError) {
    for first in stride(from: 0, to: IndexPlace.buckets, by: Self.bucketsPerStep) {
      let buckets = Array(first..<min(IndexPlace.buckets, first + Self.bucketsPerStep))
      let held = try await values(buckets.map { keys.index(partition, app, $0) })
      var entries: [(bucket: Int, entry: [UInt8])] = []
      for (bucket, reply) in zip(buckets, held) {
        let bytes = reply.bytes ?? []
        for at in stride(from: 0, to: bytes.count - 7, by: 8) { entries.append((bucket, Array(bytes[at..<at + 8]))) }
      }
      let places = entries.map { DevicePlace(partition: partition, number: from32($0.entry[4...])) }
      for ((entry, place), found) in zip(
        zip(entries, places), try await DeviceRecords(session).records(places, app: app))
      {
        if let found {
          let index = IndexPlace(found.device.id, app, keys)
          if index.bucket == entry.bucket, entry.entry.starts(with: index.rawHash) { continue }
        }
        let reply = try await ask(
          Scripts.mendIndex,
          keys: [keys.record(partition, app, place.number), keys.index(partition, app, entry.bucket)],
          [
            .number(Int64(place.number)), .bytes(Array(found?.entry ?? [])), .bytes(entry.entry), "0",
            repair ? "1" : "0",
          ])
        if reply.integer == 1 {
          report.note(.foreignInIndex, "number \(place.number) of partition \(partition)")
        }
      }
    }
  }

  /// Those whose entry in the index is not as it should be; with `repair` it is then.
  func mendIndex(
    _ devices: [(device: FoundDevice, belongs: Bool)], _ app: AppID, _ repair: Bool
  ) async throws(StoreError) -> [FoundDevice] {
    let replies = try await ask(
      Scripts.mendIndex,
      devices.map { device, belongs in
        let index = IndexPlace(device.device.id, app, keys)
        let place = device.place
        return (
          keys: [keys.record(place.partition, app, place.number), keys.index(index.partition, app, index.bucket)],
          arguments: [
            .number(Int64(place.number)), .bytes(Array(device.entry)), .bytes(index.rawHash + raw32(place.number)),
            belongs ? "1" : "0", repair ? "1" : "0",
          ]
        )
      })
    return zip(devices, replies).filter { $1.integer == 1 }.map(\.0.device)
  }

  func checkAliases(
    _ partition: Int, _ app: AppID, _ repair: Bool, _ report: inout ReindexReport
  ) async throws(StoreError) {
    for first in stride(from: 0, to: TokenOwners.aliasBuckets, by: Self.bucketsPerStep) {
      let buckets = (first..<min(TokenOwners.aliasBuckets, first + Self.bucketsPerStep)).map {
        keys.alias(partition, app, $0)
      }
      var entries: [(key: String, entry: [UInt8])] = []
      for (key, reply) in zip(buckets, try await values(buckets)) {
        let bytes = reply.bytes ?? []
        for at in stride(
          from: 0, through: bytes.count - TokenOwners.AliasPlace.entryLength, by: TokenOwners.AliasPlace.entryLength)
        {
          entries.append((key, Array(bytes[at..<at + TokenOwners.AliasPlace.entryLength])))
        }
      }
      let places = entries.map { AliasEntry(raw: $0.entry[4...]).place }
      for (entry, found) in zip(entries, try await DeviceRecords(session).records(places, app: app)) {
        if let found {
          let alias = TokenOwners(session).alias(DeviceID.derived(of: found.device.address, in: app), app)
          if alias.key == entry.key, entry.entry.starts(with: alias.hash) { continue }
        }
        report.note(.foreignAlias, "in \(entry.key)")
        // What names no record was left behind. One that is about to have the token is refused, and tries again.
        if repair {
          if let found, found.record.isLiving {
            let write = DeviceWrite(
              place: found.place, id: found.device.id, before: found,
              after: found.record.becoming(TokenOwners(session).shaken(found)))
            guard try await DeviceRecords(session).write([write], app: app)[0].isDone else { continue }
          }
          _ = try await ask(Scripts.unpoint, keys: [entry.key], [.bytes(entry.entry)])
        }
      }
    }
  }

  func checkUsers(
    _ partition: Int, _ app: AppID, _ repair: Bool, _ report: inout ReindexReport
  ) async throws(StoreError) {
    for first in stride(from: 0, to: Keys.userBuckets, by: Self.bucketsPerStep) {
      let buckets = (first..<min(Keys.userBuckets, first + Self.bucketsPerStep)).map {
        keys.userBucket(partition, app, $0)
      }
      // Few apps have users for all buckets of a partition.
      guard try await ask(RedisCommand(words: ["EXISTS"] + buckets)).integer != 0 else { continue }
      let held = try await ask(buckets.map { RedisCommand("HGETALL", $0) })
      var asked: [(user: String, place: DevicePlace)] = []
      for reply in held {
        for (name, packed) in pairs(reply.array ?? []) {
          let user = String(decoding: name, as: UTF8.self)
          asked += UserEntry(packed: packed).places.map { (user, $0) }
        }
      }
      var foreign: [(user: String, place: DevicePlace)] = []
      for (entry, found) in zip(asked, try await DeviceRecords(session).records(asked.map(\.place), app: app)) {
        if let found, found.device.isOf(entry.user) { continue }
        report.note(.foreignInUser, "number \(entry.place.number) of partition \(entry.place.partition)")
        foreign.append(entry)
      }
      // A registration that is just on its way looks for its place again before it ends.
      if repair, !foreign.isEmpty { try await UserIndex(session).leave(foreign, app: app) }
    }
  }
}
