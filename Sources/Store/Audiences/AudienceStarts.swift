package import Domain
import RedisClient

/// From an accepted audience to jobs: who is in it is decided when it starts, and stays. Holds nothing but its session, on
/// whose loop it is used. A start that was cut off is repeated by the next owner, and may find other members.
package struct AudienceStarts: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// No first attempt of a member begins later than this after the start, or the ttl if that is longer.
  static let shortestStart = Message.atOnce
  /// Seconds; what says more is damaged.
  private static let longestLife: Int64 = 1 << 32

  /// What of an audience is to begin.
  package enum Start: Hashable, Sendable {
    /// A part: who is in it is to be decided.
    case part(MessageID)
    /// Members of a started part, from this index on, whose own time has come.
    case members(MessageID, first: Int)
  }

  /// What is due, earliest first; it stays until `start`, `abandon` or `AudienceMembers.release` has been called for it.
  package func due(_ lease: Lease, now: WallTime, limit: Int) async throws(StoreError) -> [Start] {
    let command = RedisCommand(
      "ZRANGEBYSCORE", keys.starts(lease.partition), "-inf", String(now.milliseconds), "LIMIT", "0", String(limit))
    return (try await ask(command, partition: lease.partition).array ?? []).compactMap { reply in
      guard let bytes = reply.bytes, let id = MessageID(raw: Array(bytes.prefix(16))) else { return nil }
      return bytes.count == 20 ? .members(id, first: from32(bytes[16...])) : .part(id)
    }
  }

  /// For an audience that cannot be aimed any more (`unreadable_audience`), or whose message is gone: its part ends as
  /// failed, with as many deliveries as were counted when it was accepted. Never a widening. Repeatable.
  package func abandon(_ lease: Lease, _ id: MessageID, reason: String) async throws(StoreError) {
    try await AudienceShards(session).abandon(lease, id, reason: reason, corrupt: false)
  }

  /// Decides who is in a due audience and makes its part ready to be claimed. Repeating it is harmless. `timing`:
  /// members have times of their own; `capped`: who has heard enough of the topic.
  package func start(
    _ lease: Lease, _ message: StoredMessage, selection: AudienceSelection, now: WallTime, timing: Timing? = nil,
    capped: ((UInt32) -> Bool)? = nil, route: @escaping (Address) -> Route
  ) async throws(StoreError) {
    let carries: (Address) -> Bool = { route($0).isQueued }
    guard let timing else {
      let groups = try await AudienceSearch(session).members(
        selection, app: message.app, partition: lease.partition, now: now, carries: carries)
      return try await start(lease, message, groups, now: now, capped: capped, route: route)
    }
    let ttl = try await ask(
      RedisCommand("HGET", keys.work(lease.partition, message.id), "l"), partition: lease.partition)
    let plans = ZonePlans(
      timing, startedAt: message.startedAt, life: max((ttl.integer ?? 0) * 1_000, Self.shortestStart), now: now)
    let groups = try await AudienceSearch(session).members(
      selection, app: message.app, partition: lease.partition, now: now, carries: carries, zoneClass: plans.zoneClass)
    if message.control?.word != .cancelled, let later = plans.postponement(of: groups) {
      _ = try await ask(
        Scripts.postpone,
        keys: [
          keys.lease(lease.partition), keys.work(lease.partition, message.id), keys.starts(lease.partition),
        ], [.bytes(message.id.raw), .number(later.milliseconds)], under: lease)
      return
    }
    try await start(lease, message, groups, now: now, plans: plans, capped: capped, route: route)
  }

  func start(
    _ lease: Lease, _ message: StoredMessage, _ groups: [AudienceGroup], now: WallTime, plans: ZonePlans? = nil,
    capped: ((UInt32) -> Bool)? = nil, route: (Address) -> Route
  )
    async throws(StoreError)
  {
    var groups = groups
    if let split = message.split { groups = try await divide(groups, by: split, message.app, lease.partition) }
    var cancelled = message.control?.word == .cancelled
    while true {
      let snapshot = Snapshot.gather(
        groups, message.split, at: now, plans: cancelled ? nil : plans, capped: cancelled ? nil : capped
      ) {
        address in
        if cancelled { return .ended(.cancelled, reason: nil) }
        return switch route(address) {
        case .queue(let credential): .queue(credential)
        case .ended(let outcome, let reason): .ended(outcome, reason: reason)
        }
      }
      let until = plans?.until
      guard try await store(snapshot, lease, message.id, until: until, cancelled: cancelled) else { return }
      cancelled = true
    }
  }

  /// True: it has been cancelled meanwhile, and none of it may be sent.
  private func store(_ snapshot: Snapshot, _ lease: Lease, _ id: MessageID, until: WallTime?, cancelled: Bool)
    async throws(StoreError) -> Bool
  {
    let partition = lease.partition
    let fields = try await ask(RedisCommand("HMGET", keys.work(partition, id), "at", "l"), partition: partition).array
    let startedAt = fields?.first?.integer ?? snapshot.takenAt.milliseconds
    let life = min(max(0, fields?.last?.integer ?? 0), Self.longestLife) * 1000
    let jobs = snapshot.jobs
    var counters: [RedisArgument] = []
    for segment in snapshot.segments {
      guard case .ended(let outcome, let reason) = segment.route else { continue }
      let counter = CounterName(
        provider: segment.provider, outcome: outcome, reason: reason, platform: segment.platform,
        variant: segment.variant)
      counters += [.bytes(counter.field), .number(Int64(segment.numbers.count))]
    }
    let open = jobs.reduce(0) { $0 + $1.range.count }
    var names = [
      keys.lease(partition), keys.work(partition, id), keys.snapshot(partition, id), keys.codes(partition, id),
      keys.starts(partition), keys.sequence(partition), keys.ready(partition), keys.waiting(partition),
      keys.ends(partition), keys.finished(partition), keys.segments(partition), keys.kept(partition, id.hour),
    ]
    var arguments: [RedisArgument] = [
      .bytes(id.raw), .number(id.hour), .number(settings.retentionSeconds), .text(keys.wakeup),
      .number(Int64(partition)), .number(Int64(snapshot.count)), .number(Int64(open)), .bytes(snapshot.packed),
      .number(max(until?.milliseconds ?? 0, startedAt + max(life, Self.shortestStart))), cancelled ? "1" : "0",
      .number(Int64(counters.count / 2)),
    ]
    arguments += counters
    arguments.append(.number(Int64(jobs.count)))
    for (place, job) in jobs.enumerated() {
      let name = StreamID(partition: partition, credential: job.credential, urgency: .bulk).name
      names.append(keys.stream(partition, name))
      arguments += [
        .number(Int64(place)), .text(name), .number(Int64(job.range.lowerBound)), .number(Int64(job.range.count)),
        job.wave?.due.map { .number($0.milliseconds) } ?? "",
      ]
    }
    names.append(keys.tallies(partition))
    let reply = try await ask(Scripts.startAudience, keys: names, arguments, under: lease)
    AudienceShards(session).ended(id, reply, partition)
    return reply.integer == 2
  }
}

extension Snapshot {
  static let holdoutReason = SkipReason.holdout.rawValue

  /// Members of the same route, time, provider, platform and variant come together.
  fileprivate static func gather(
    _ groups: [AudienceGroup], _ split: VariantSplit?, at now: WallTime, plans: ZonePlans?,
    capped: ((UInt32) -> Bool)?, _ route: (Address) -> Route
  ) -> Snapshot {
    var gathered: [Kind: [UInt32]] = [:]
    var mixed: Set<Kind> = []
    func add(_ kind: Kind, _ numbers: [UInt32]) {
      guard !numbers.isEmpty else { return }
      if gathered[kind] != nil { mixed.insert(kind) }
      gathered[kind, default: []] += numbers
    }
    for group in groups {
      var kind = Kind(route: route(group.route.address), provider: group.route.provider, platform: group.platform)
      // Who gets nothing anyway is no loss to a variant, and no comparison.
      if case .queue = kind.route {
        switch group.place {
        case .all: break
        case .variant(let index): kind.variant = split?.shares.names[index]
        case .holdout: kind.route = .ended(.skipped, reason: holdoutReason)
        }
      }
      if case .queue = kind.route, let plan = plans?[group.zoneClass] {
        switch plan {
        case .send(let wave): kind.wave = wave
        case .ended(let outcome, let reason): kind.route = .ended(outcome, reason: reason)
        }
      }
      // Who waits for a time of its own is looked at then.
      guard case .queue = kind.route, kind.wave?.due == nil, let capped else {
        add(kind, group.numbers)
        continue
      }
      kind.wave = kind.wave ?? Wave()
      add(kind, group.numbers.filter { !capped($0) })
      kind.wave = nil
      kind.route = .ended(.skipped, reason: Cap.reason)
      add(kind, group.numbers.filter(capped))
    }
    for kind in mixed { gathered[kind]!.sort() }
    return Snapshot(gathered.map { ($0, $1) }, takenAt: now)
  }
}
