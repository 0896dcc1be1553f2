import Domain
import Loop
import RedisClient

/// Devices that are registered before they hold their token (`TokenOwners.contest`). Holds nothing but its session, on whose
/// loop it is used. An arrival that is cut off is settled by the next registration or by the sweep.
struct DeviceArrivals: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// What is arriving for longer was left behind.
  private static let arrivalMilliseconds: Int64 = 10_000
  private static let arrivalsPerSweep = 100
  private static let announcedPerScript = 250

  /// Before their records say so: whatever is left behind is found.
  func announce(_ devices: [(place: DevicePlace, id: DeviceID)], _ app: AppID) async throws(StoreError) {
    var runs: [(keys: [String], arguments: [RedisArgument])] = []
    for (partition, devices) in Dictionary(grouping: devices, by: \.place.partition) {
      for start in stride(from: 0, to: devices.count, by: Self.announcedPerScript) {
        let some = devices[start..<min(devices.count, start + Self.announcedPerScript)]
        runs.append(
          (
            keys: [keys.arrivals(partition)],
            arguments: [.number(loop.wallNow.milliseconds)] + some.map { .bytes(Tombstones.buriedMember($0.id, app)) }
          ))
      }
    }
    guard !runs.isEmpty else { return }
    _ = try await ask(Scripts.announce, runs)
  }

  // MARK: Left behind

  /// Brings to their ends what registrations left behind in a partition that were cut off.
  func settleArrivals(_ partition: Int, now: WallTime) async throws(StoreError) {
    let listed = try await ask(
      RedisCommand(
        "ZRANGEBYSCORE", keys.arrivals(partition), "-inf", String(now.milliseconds - Self.arrivalMilliseconds),
        "WITHSCORES", "LIMIT", "0", String(Self.arrivalsPerSweep)), partition: partition)
    for (member, time) in pairs(listed.array ?? []) {
      let (app, id) = Tombstones.device(ofMember: member)
      if let found = try await DeviceRecords(session).find([id], app: app)[0], found.record.isArriving {
        try await settle(found, app)
      }
      _ = try await ask(
        Scripts.unbury, keys: [keys.arrivals(partition)], [.bytes(member), .bytes(time)], partition: partition)
    }
  }

  /// One that its token's alias names already has the token as if its registration had gone on; one that it does not name yet has it
  /// unless another one does.
  private func settle(_ found: FoundDevice, _ app: AppID) async throws(StoreError) {
    guard let mark = found.record.mark else { return }
    let derived = DeviceID.derived(of: found.device.address, in: app)
    let entry = AliasEntry(place: found.place, tag: mark.tag)
    let isNamed = try await TokenOwners(session).entries(of: [(derived, found.place)], app: app)[0].contains(entry)
    switch try await arrive([found], yields: !isNamed, app)[0] {
    case .yielded(let owner):
      let buried = try await DeviceRecords(session).rewrite(found.device.id, app: app) { record in
        record.mark == mark ? record.becoming(TokenOwners(session).burial(of: record, for: owner)) : nil
      }
      if buried?.before.mark == mark { try await TokenOwners(session).unpoint([(derived, entry)], app: app) }
    case .won(_, let from, _):
      if let from { session.registry.untold.settled(found.device.id, from: from, app) }
    case .overtaken, .swept, .sweptAside: break
    }
  }

  /// Enters devices that are arriving for their tokens and lets those have them that win. `yields`: to whoever has the token.
  func arrive(_ devices: [FoundDevice], yields: Bool, _ app: AppID) async throws(StoreError) -> [ContestResult] {
    let tokens = devices.map { DeviceID.derived(of: $0.device.address, in: app) }
    let pointers = zip(devices, tokens).map { found, derived in
      Pointer(derived: derived, entry: AliasEntry(place: found.place, tag: found.record.mark?.tag ?? 0))
    }
    let told = try await TokenOwners(session).point(pointers, app: app)
    var claims: [TokenClaim] = []
    for (at, found) in devices.enumerated() {
      claims.append(
        TokenClaim(
          found.device.address, of: found.device.user, as: found.device.id, at: found.place, derived: tokens[at],
          told: told[at], way: .arrives,
          mark: found.record.mark, yields: yields))
    }
    var results = try await TokenOwners(session).contest(claims, app)
    var winners: [Int] = []
    for (at, result) in results.enumerated() { if case .won = result { winners.append(at) } }
    let landings = winners.map { at in
      let device = devices[at]
      return StateChange(
        landing: device.device.id, at: device.place,
        device.record.mark ?? DeviceRecord.Mark(nonce: 0, isArriving: false), isEnabled: device.device.enabled)
    }
    var gone: [(derived: DeviceID, entry: AliasEntry)] = []
    for (at, hasLanded) in zip(winners, try await DeviceRecords(session).change(landings, app: app)) {
      if hasLanded, case .won(let entries, _, _) = results[at] {
        gone += entries.map { (tokens[at], $0) }
      } else {
        results[at] = .overtaken
      }
    }
    try await TokenOwners(session).unpoint(gone, app: app)
    return results
  }
}
