import Domain
import RedisClient

/// Brings a message of several partitions from its home to where its jobs belong (design D10), and tells home of shards
/// that ended. Holds nothing but its session, on whose loop it is used. It does not promise to finish at once: the owner
/// of the home partition continues what stopped half-way.
struct MessageSpread: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// What a partition gets, in steps.
  typealias Steps = [MessageShard]

  /// Short lists go at once, long ones step by step, so that what others ask of Redis comes between. Who finds it
  /// half-way goes on with it: a step that is there changes nothing.
  func spread(_ id: MessageID, _ parts: [Steps], ttl: Int, app: AppID) async throws(StoreError) {
    try await add(parts.filter { $0.count == 1 }.map { ($0[0], 0, $0[0].count) }, id, ttl: ttl, app: app)
    for steps in parts where steps.count > 1 {
      let total = steps.reduce(0) { $0 + $1.count }
      for (number, step) in steps.enumerated() { try await add([(step, number, total)], id, ttl: ttl, app: app) }
    }
    _ = try await ask(
      Scripts.spreadDone, keys: [keys.message(id), keys.spread(id), keys.spreading(keys.home(id))], [.bytes(id.raw)])
  }

  /// `total`: deliveries of all steps of the partition. Answers how many of the steps were not known there.
  @discardableResult
  private func add(_ steps: [(step: MessageShard, number: Int, total: Int)], _ id: MessageID, ttl: Int, app: AppID)
    async throws(StoreError) -> Int
  {
    let runs = steps.map { step, number, total in
      let partition = step.partition
      var run = ScriptRun(
        keys: [
          keys.work(partition, id), keys.deliveries(partition, id), keys.slices(partition, id),
          keys.sequence(partition), keys.ready(partition), keys.waiting(partition),
          keys.segment(partition, id.hour), keys.segments(partition), keys.finished(partition),
          keys.kept(partition, id.hour),
        ],
        [
          .bytes(id.raw), .number(id.hour), .number(settings.retentionSeconds), .text(keys.wakeup),
          .number(Int64(partition)), .number(Int64(number)), .number(Int64(step.first)), .number(Int64(total)),
        ])
      for stream in step.streams { run.keys.append(keys.stream(partition, stream)) }
      run.keys.append(keys.tallies(partition))
      step.append(to: &run.arguments, ttl: ttl, app: app)
      return run
    }
    let replies = try await ask(Scripts.addShard, runs)
    for (step, reply) in zip(steps, replies) {
      if let ending = reply.bytes { tellHome([(id, ending)], from: step.step.partition) }
    }
    return replies.count { $0.integer != 0 }
  }

  /// Carries on where an accept stopped half-way. Repeatable, and safe beside the one that is still at work. A part
  /// that cannot be read ends as `failed: corrupt_record`, so that the message completes and its sums hold.
  func finishSpreading(_ id: MessageID) async throws(StoreError) {
    let fields =
      try await ask(
        RedisCommand("HMGET", keys.message(id), "parts", "pn", "told", "ttl", "an", "at", "rc", "st", "app")
      ).array ?? []
    // It waits for its time.
    if fields.count == 9, fields[7].text == MessageSchedule.waitingState { return }
    func numbers(_ place: Int) -> [Int] {
      (fields.count == 9 ? fields[place].text ?? "" : "").split(separator: ",").compactMap {
        StoredNumber.partition($0)
      }
    }
    let told = Set(numbers(2))
    let ttl = numbers(3).first ?? Message.defaultTTL
    let app = AppID(rawValue: fields.last?.text ?? "")
    if fields.count == 9, !fields[4].isNull {
      let start = WallTime(milliseconds: fields[5].integer ?? id.acceptedAt.milliseconds)
      let shares = zip(numbers(0), numbers(4)).filter { partition, _ in
        !told.contains(partition) && (0..<settings.partitions).contains(partition)
      }
      return try await spread(
        id,
        shares.map {
          AudienceShare(app: app, partition: $0, count: $1, startAt: start, ttl: ttl, keepsReceipts: !fields[6].isNull)
        })
    }
    // By partition: deliveries of each step.
    let counts = (fields.count == 9 ? fields[1].text ?? "" : "").split(separator: ",").map { steps in
      steps.split(separator: "+").compactMap { StoredNumber.index(Array($0.utf8)) }
    }
    for (partition, counts) in zip(numbers(0), counts)
    where !told.contains(partition) && (0..<settings.partitions).contains(partition) {
      try await finishSpreading(id, partition, counts, ttl: ttl, app: app)
    }
    try await spread(id, [], ttl: ttl, app: app)
  }

  /// One partition's part, read step by step.
  private func finishSpreading(_ id: MessageID, _ partition: Int, _ counts: [Int], ttl: Int, app: AppID)
    async throws(StoreError)
  {
    var first = 0
    for (number, count) in counts.enumerated() {
      let field = Self.spreadField(partition, number)
      let replies = try await ask(
        [RedisCommand("HGET", keys.spread(id), field), RedisCommand("HMGET", keys.message(id), "app", "st")],
        partition: keys.home(id))
      let packed = replies[0].bytes
      // The record goes when the last step is where it belongs: then another process has finished this message, which
      // is queued, or has ended and is gone. While the message still spreads, a missing step is lost.
      if packed == nil, let fields = replies[1].array, fields.count == 2,
        fields[0].isNull || fields[1].text == MessageSchedule.queuedState
      {
        return
      }
      let step = packed.flatMap { try? MessageShard(partition: partition, packed: $0) }
        .flatMap { $0.count == count && $0.first == first ? $0 : nil }
      let added = step ?? MessageShard.lost(partition: partition, from: first, count: count)
      let fresh = try await add([(added, number, counts.reduce(0, +))], id, ttl: ttl, app: app)
      if step == nil, fresh > 0 {
        _ = try await ask(RedisCommand("INCR", keys.corrupt(partition)), partition: partition)
      }
      first += count
    }
  }

  /// Where a step of a partition's part stands in the spread record.
  static func spreadField(_ partition: Int, _ step: Int) -> String {
    step == 0 ? "\(partition)" : "\(partition).\(step)"
  }

  /// How parts ended, by message. Repeatable; what is lost here `PartitionSweep` does again.
  func tellHome(_ endings: [(id: MessageID, ending: [UInt8])], from partition: Int) {
    for (id, ending) in endings {
      let home = keys.home(id)
      redis.send(
        Scripts.tell, keys: [keys.message(id), keys.segment(home, id.hour), keys.segments(home)],
        [
          .bytes(id.raw), .number(id.hour), .number(settings.retentionSeconds), .number(Int64(partition)),
          .bytes(ending),
        ]
      ) { [redis, keys] result in
        guard case .success = result else { return }
        var remove = RedisCommand("HDEL", keys.finished(partition))
        remove.append(id.raw)
        redis.send(remove) { _ in }
      }
    }
  }

  /// Fields and values of `finished`.
  func endings(_ reply: RedisReply) -> [(id: MessageID, ending: [UInt8])] {
    pairs(reply.array ?? []).compactMap { entry in MessageID(raw: entry.name).map { ($0, entry.value) } }
  }
}
