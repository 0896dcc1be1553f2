package import Domain
import Loop
import RedisClient

/// What may be wrong between the records of devices and all that is derived from them.
package enum RegistryFault: String, Hashable, Sendable, CaseIterable {
  case missingInSet = "missing_in_set"
  case foreignInSet = "foreign_in_set"
  case missingInIndex = "missing_in_index"
  case foreignInIndex = "foreign_in_index"
  case missingAlias = "missing_alias"
  case foreignAlias = "foreign_alias"
  case missingInUser = "missing_in_user"
  case foreignInUser = "foreign_in_user"
  /// The record holds older tags than its user has.
  case oldUserTags = "old_user_tags"
  /// Two living devices hold one token.
  case sharedToken = "shared_token"
  /// A tombstone that would never be purged.
  case unlistedTombstone = "unlisted_tombstone"
  /// A number that no device has and none would get.
  case lostNumber = "lost_number"
  /// Cannot be repaired: the device must register again.
  case unreadableRecord = "unreadable_record"
}

/// What a check has found in one app, and mended where it was asked to.
package struct ReindexReport: Hashable, Sendable {
  /// Records read.
  package var devices = 0
  package var faults: [RegistryFault: Int] = [:]
  /// The first of them, in words.
  package var samples: [String] = []
  package var isClean: Bool { faults.isEmpty }

  private static let samplesKept = 20

  mutating func note(_ fault: RegistryFault, _ text: @autoclosure () -> String) {
    faults[fault, default: 0] += 1
    if samples.count < Self.samplesKept { samples.append("\(fault.rawValue): \(text())") }
  }
}

/// One block on its way through the check.
private struct BlockCheck {
  var wanted: [SetName: [Int]] = [:]
  var empty: [Int] = []
}

/// Compares everything derived from the records of an app with the records. Holds nothing but its session, on whose loop it
/// is used. It stops nobody: what changes meanwhile is judged again before it counts.
package struct RegistryCheck: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Records that are read and compared at a time, so that the system beside goes on.
  private static let recordsPerStep = 512
  /// Up to 8 kB each, of which a script makes texts.
  private static let setsPerStep = 24

  /// Compares everything derived from the records of an app with the records, and repairs it if asked to; `tell` is
  /// called as it goes on. Runs beside a working system: what changes meanwhile is judged again before it counts.
  package func reindex(_ app: AppID, repair: Bool, tell: (ReindexReport) -> Void = { _ in }) async throws(StoreError)
    -> ReindexReport
  {
    var report = ReindexReport()
    for (partition, blocks) in try await DeviceSets(session).blockCounts(app: app).enumerated() {
      if repair {
        try await ImportIntents(session).undoOrphans(partition, now: loop.wallNow)
        try await DeviceArrivals(session).settleArrivals(partition, now: loop.wallNow)
      }
      for block in 0..<blocks {
        let last = try await ask(RedisCommand("GET", keys.lastNumber(partition, app))).integer ?? 0
        var check = BlockCheck()
        let numbers = block * SetBlock.size..<min((block + 1) * SetBlock.size, Int(last))
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: Self.recordsPerStep) {
          let step = start..<min(numbers.upperBound, start + Self.recordsPerStep)
          try await checkRecords(step, partition, app, repair, &check, &report)
          tell(report)
        }
        try await checkSets(check, block, partition, app, repair, &report)
        tell(report)
      }
      try await checkIndex(partition, app, repair, &report)
      try await checkAliases(partition, app, repair, &report)
      try await checkUsers(partition, app, repair, &report)
      tell(report)
    }
    return report
  }

  private func checkRecords(
    _ numbers: Range<Int>, _ partition: Int, _ app: AppID, _ repair: Bool, _ check: inout BlockCheck,
    _ report: inout ReindexReport
  ) async throws(StoreError) {
    let places = numbers.map { DevicePlace(partition: partition, number: $0) }
    let found = try await DeviceRecords(session).records(places, app: app)
    let devices = found.compactMap { $0 }
    report.devices += devices.count
    for device in devices {
      for name in device.record.sets { check.wanted[name, default: []].append(device.place.number % SetBlock.size) }
    }
    let missing = zip(places, found).filter { $1 == nil }.map(\.0)
    try await checkNumbers(missing, app, repair, &report)
    try await checkEntries(devices, app, repair, &report)
    try await checkOwners(devices, app, repair, &report)
  }

  /// Numbers without a readable record.
  private func checkNumbers(
    _ places: [DevicePlace], _ app: AppID, _ repair: Bool, _ report: inout ReindexReport
  ) async throws(StoreError) {
    guard let partition = places.first?.partition else { return }
    let held = try await read(places.map { (partition, keys.record(partition, app, $0.number)) })
    let free = try await ask(
      places.map { RedisCommand("ZSCORE", keys.freeNumbers(partition, app), String($0.number)) })
    let intended =
      free.contains(where: \.isNull) ? try await ImportIntents(session).intended(partition, app).numbers : []
    var lost: [DevicePlace] = []
    for ((place, held), free) in zip(zip(places, held), free) where !intended.contains(place.number) {
      let bucket = RecordBucket(bytes: held ?? [])
      if let part = bucket.part(of: place.number) {
        // A device that has come meanwhile is no fault.
        if try await DeviceRecords(session).open([(place, bucket, part)], app: app)[0] == nil {
          report.note(.unreadableRecord, "number \(place.number) of partition \(partition)")
        }
      } else if free.isNull {
        report.note(.lostNumber, "number \(place.number) of partition \(partition)")
        lost.append(place)
      }
    }
    guard repair, !lost.isEmpty else { return }
    // All at once: a last number that was damaged may have lost a million.
    _ = try await ask(
      Scripts.free,
      lost.map { place in
        (
          keys: [keys.freeNumbers(partition, app), keys.record(partition, app, place.number)],
          arguments: [.number(Int64(place.number)), .number(loop.wallNow.milliseconds)]
        )
      })
  }

  /// What index and list of tombstones say of these devices.
  private func checkEntries(
    _ devices: [FoundDevice], _ app: AppID, _ repair: Bool, _ report: inout ReindexReport
  ) async throws(StoreError) {
    let wrong = try await mendIndex(devices.map { ($0, true) }, app, repair)
    for device in wrong { report.note(.missingInIndex, device.device.id.rawValue) }
    let dead = devices.filter { $0.record.stored.tombstone != nil }
    var listed: [RedisCommand] = []
    for device in dead {
      var command = RedisCommand("ZSCORE", keys.buried(device.place.partition))
      command.append(Tombstones.buriedMember(device.device.id, app))
      listed.append(command)
    }
    for (device, score) in zip(dead, try await ask(listed)) where score.isNull {
      report.note(.unlistedTombstone, device.device.id.rawValue)
      guard repair, let tombstone = device.record.stored.tombstone else { continue }
      var command = RedisCommand("ZADD", keys.buried(device.place.partition), String(tombstone.at.milliseconds))
      command.append(Tombstones.buriedMember(device.device.id, app))
      _ = try await ask(command)
    }
  }

  /// What tokens and users say of these devices.
  private func checkOwners(
    _ devices: [FoundDevice], _ app: AppID, _ repair: Bool, _ report: inout ReindexReport
  ) async throws(StoreError) {
    let living = devices.filter(\.record.isLiving)
    let owners = try await TokenOwners(session).findOwners(of: living.map(\.device.address), app: app)
    for (device, owner) in zip(living, owners) where owner?.place != device.place {
      guard try await DeviceRecords(session).find([device.device.id], app: app)[0]?.packed == device.packed else {
        continue
      }
      if let owner, owner.record.isLiving {
        report.note(.sharedToken, "\(device.device.id.rawValue) and \(owner.device.id.rawValue)")
      } else {
        report.note(.missingAlias, device.device.id.rawValue)
      }
      // Registering anew what stands there points the token at the younger and buries the other.
      if repair {
        _ = try await DeviceRegistry(session).put(
          (owner.map { $0.rank > device.rank } ?? false ? owner ?? device : device).device, app: app)
      }
    }
    let users = devices.filter { $0.device.user != nil }
    let entries = try await UserIndex(session).entries(ofUsers: users.compactMap(\.device.user), app: app)
    for (device, entry) in zip(users, entries) {
      guard let user = device.device.user else { continue }
      let isKnown = entry.places.contains(device.place)
      guard !isKnown || device.record.takes(entry) else { continue }
      guard try await DeviceRecords(session).find([device.device.id], app: app)[0]?.packed == device.packed else {
        continue
      }
      report.note(isKnown ? .oldUserTags : .missingInUser, device.device.id.rawValue)
      guard repair else { continue }
      if !isKnown { _ = try await UserIndex(session).join([(user, device.place)], app: app) }
      try await UserIndex(session).settle([user], app: app)
    }
  }

  // MARK: Sets

  private func checkSets(
    _ check: BlockCheck, _ block: Int, _ partition: Int, _ app: AppID, _ repair: Bool, _ report: inout ReindexReport
  ) async throws(StoreError) {
    var names = Set(check.wanted.keys)
    let facets: [SetKind] = [.active, .route, .platform, .language, .zone, .version, .seen, .permission, .attribute]
    for (kind, values) in try await DeviceSets(session).values(facets, block: block, partition: partition, app: app) {
      for value in values { names.insert(SetName(kind, value)) }
    }
    names.insert(SetName(.several))
    let scattered = [SetKind.tag, .tagKey, .activity].map { SetName($0) }
    names.formUnion(
      try await DeviceSets(session).names(beginning: scattered, block: block, partition: partition, app: app))
    let all = Array(names)
    for start in stride(from: 0, to: all.count, by: Self.setsPerStep) {
      let step = Array(all[start..<min(all.count, start + Self.setsPerStep)])
      let held = try await DeviceSets(session).blocks(step, block: block, partition: partition, app: app)
      var doubts: [(name: SetName, place: DevicePlace)] = []
      for (name, words) in zip(step, held) {
        // What only one of the two has.
        var differing = words
        for offset in check.wanted[name] ?? [] { differing[offset >> 6] ^= SetBlock.bit(offset) }
        for offset in SetBlock.numbers(differing) {
          doubts.append((name, DevicePlace(partition: partition, number: block * SetBlock.size + offset)))
        }
      }
      for first in stride(from: 0, to: doubts.count, by: Self.recordsPerStep) {
        let some = doubts[first..<min(doubts.count, first + Self.recordsPerStep)]
        try await mendSets(Array(some), app, repair, &report)
      }
    }
  }

  private func mendSets(
    _ doubts: [(name: SetName, place: DevicePlace)], _ app: AppID, _ repair: Bool, _ report: inout ReindexReport
  ) async throws(StoreError) {
    guard let partition = doubts.first?.place.partition else { return }
    // Asked before the records: who is intended then and has none is no fault, who was before has one by now or is
    // lost.
    let intended = try await ImportIntents(session).intended(partition, app)
    let doubts = doubts.filter { !intended.numbers.contains($0.place.number) }
    let found = try await DeviceRecords(session).records(doubts.map(\.place), app: app)
    var belongs: [Bool] = []
    let replies = try await ask(
      Scripts.mendSet,
      zip(doubts, found).map { doubt, device in
        let (place, block) = (doubt.place, doubt.place.block)
        let should = device?.record.sets.contains(doubt.name) ?? false
        belongs.append(should)
        return (
          keys: [
            keys.record(place.partition, app, place.number),
            keys.setBucket(place.partition, app, doubt.name, block: block),
            keys.set(place.partition, app, doubt.name, block: block), keys.intents(place.partition),
          ],
          arguments: [
            .number(Int64(place.number)), .bytes(Array(device?.entry ?? [])), .text(doubt.name.text),
            .bytes(SetBlock.packed([place.number % SetBlock.size])), should ? "1" : "0", repair ? "1" : "0",
            .bytes(intended.edition),
          ]
        )
      })
    for ((doubt, should), reply) in zip(zip(doubts, belongs), replies) where reply.integer == 1 {
      report.note(
        should ? .missingInSet : .foreignInSet,
        "number \(doubt.place.number) of partition \(doubt.place.partition) in \(doubt.name.text)")
    }
  }
}
