import Domain
import RedisClient

/// Bringing a message of several partitions from its home to where its jobs belong (design D10).
extension Store {
  func spread(_ id: MessageID, _ parts: [Part], ttl: Int) async throws(StoreError) {
    let replies = try await ask(
      Scripts.addPart,
      parts.map { part in
        let partition = part.partition
        var run = ScriptRun(
          keys: [
            keys.work(partition, id), keys.deliveries(partition, id), keys.slices(partition, id),
            keys.sequence(partition), keys.ready(partition), keys.waiting(partition),
            keys.segment(partition, id.hour), keys.segments(partition), keys.finished(partition),
          ],
          [
            .bytes(id.raw), .number(id.hour), .number(settings.retentionSeconds), .text(keys.bell),
            .number(Int64(partition)),
          ])
        for stream in part.streams { run.keys.append(keys.stream(partition, stream)) }
        part.append(to: &run.arguments, ttl: ttl)
        return run
      })
    _ = try await ask(
      Scripts.spreadDone, keys: [keys.message(id), keys.spread(id), keys.spreading(keys.home(id))], [.bytes(id.raw)])
    for (part, reply) in zip(parts, replies) {
      if let ending = reply.bytes { tellHome([(id, ending)], from: part.partition) }
    }
  }

  /// Carries on where an accept stopped half-way. Repeatable, and safe beside the one that is still at work. A part that
  /// cannot be read ends as `failed: corrupt_record`, so that the message completes and its sums hold.
  func finishSpreading(_ id: MessageID) async throws(StoreError) {
    let replies = try await ask([
      RedisCommand("HGETALL", keys.spread(id)),
      RedisCommand("HMGET", keys.message(id), "parts", "pn", "told", "ttl", "an", "at", "rc", "st"),
    ])
    var stored: [Int: [UInt8]] = [:]
    for (name, value) in pairs(replies[0].array ?? []) {
      if let partition = Int(String(decoding: name, as: UTF8.self)) { stored[partition] = value }
    }
    let fields = replies[1].array ?? []
    // It waits for its time.
    if fields.count == 8, fields[7].text == Self.waitingState { return }
    func numbers(_ place: Int) -> [Int] {
      (fields.count == 8 ? fields[place].text ?? "" : "").split(separator: ",").compactMap { Int($0) }
    }
    let told = Set(numbers(2))
    let ttl = numbers(3).first ?? Message.defaultTTL
    if fields.count == 8, !fields[4].isNull {
      let start = WallTime(milliseconds: fields[5].integer ?? id.acceptedAt.milliseconds)
      let shares = zip(numbers(0), numbers(4)).filter { partition, _ in
        !told.contains(partition) && (0..<settings.partitions).contains(partition)
      }
      return try await spread(
        id,
        shares.map {
          AudienceShare(partition: $0, count: $1, startAt: start, ttl: ttl, keepsReceipts: !fields[6].isNull)
        })
    }
    var parts: [Part] = []
    for (partition, count) in zip(numbers(0), numbers(1))
    where !told.contains(partition) && (0..<settings.partitions).contains(partition) {
      if let packed = stored[partition], let part = try? Part(partition: partition, packed: packed),
        part.count == count
      {
        parts.append(part)
      } else {
        try await lose(id, partition, count, ttl: ttl)
      }
    }
    try await spread(id, parts, ttl: ttl)
  }

  private func lose(_ id: MessageID, _ partition: Int, _ count: Int, ttl: Int) async throws(StoreError) {
    let counter = CounterName(provider: nil, outcome: .failed, reason: Self.corruptReason)
    let reply = try await ask(
      Scripts.losePart,
      keys: [
        keys.work(partition, id), keys.segment(partition, id.hour), keys.segments(partition),
        keys.finished(partition), keys.odd(partition),
      ],
      [
        .bytes(id.raw), .number(id.hour), .number(settings.retentionSeconds + Int64(ttl)), .bytes(counter.field),
        .number(Int64(count)),
      ], partition: partition)
    if let ending = reply.bytes { tellHome([(id, ending)], from: partition) }
  }

  /// Why deliveries end whose record or job cannot be read.
  static let corruptReason = "corrupt_record"

  /// How parts ended, by message. Repeatable; what is lost here `sweep` does again.
  func tellHome(_ endings: [(id: MessageID, ending: [UInt8])], from partition: Int) {
    for (id, ending) in endings {
      let home = keys.home(id)
      redis.send(
        Scripts.tell, keys: [keys.message(id), keys.segment(home, id.hour), keys.segments(home)],
        [
          .bytes(id.raw), .number(id.hour), .number(settings.retentionSeconds), .number(Int64(partition)),
          .bytes(ending),
        ]
      ) { [weak self] result in
        guard let self, case .success = result else { return }
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
