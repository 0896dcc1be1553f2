package import Domain
import RedisClient

extension Store {
  /// A spread that has not ended by then has lost its request.
  private static let orphanMilliseconds: Int64 = 10_000
  private static let sweepLimit = 100

  /// Repairs and ends: messages whose spreading stopped half-way, partitions that did not learn of a control, ones that
  /// finished and did not tell home, records and tombstones beyond retention, imports that were cut off. Called each second per owned partition.
  package func sweep(_ lease: Lease, now: WallTime) async throws(StoreError) {
    let partition = lease.partition
    let limit = String(Self.sweepLimit)
    let replies = try await ask(
      [
        RedisCommand(
          "ZRANGEBYSCORE", keys.spreading(partition), "-inf", String(now.milliseconds - Self.orphanMilliseconds),
          "LIMIT", "0", limit),
        RedisCommand("HRANDFIELD", keys.finished(partition), limit, "WITHVALUES"),
        RedisCommand("ZRANGE", keys.segments(partition), "0", "-1", "WITHSCORES"),
      ], partition: partition)
    tellHome(endings(replies[1]), from: partition)
    try await dropSegments(replies[2], partition)
    var trouble: StoreError?
    for id in (replies[0].array ?? []).compactMap({ $0.bytes.flatMap { MessageID(raw: $0) } }) {
      // One that cannot be finished now does not keep the others from it.
      do throws(StoreError) { try await finishSpreading(id) } catch { trouble = error }
    }
    try await sweepEnds(lease, now: now)
    try await sweepControls(lease)
    try await purgeTombstones(partition, now: now)
    try await undoOrphans(partition, now: now)
    if let trouble { throw trouble }
  }

  /// Oldest first, until the partition's share of the byte bound holds; also what Redis has expired.
  private func dropSegments(_ reply: RedisReply, _ partition: Int) async throws(StoreError) {
    let items = reply.array ?? []
    var segments: [(hour: Int64, bytes: Double)] = stride(from: 0, to: items.count - 1, by: 2).compactMap { place in
      guard let hour = items[place].integer, let bytes = items[place + 1].text.flatMap({ Double($0) }) else {
        return nil
      }
      return (hour, bytes)
    }
    segments.sort { $0.hour < $1.hour }
    var bytes = segments.reduce(0) { $0 + $1.bytes }
    let bound = Double(settings.retentionBytes) / Double(settings.partitions)
    let exist = try await ask(
      segments.map {
        RedisCommand("EXISTS", keys.segment(partition, $0.hour), keys.kept(partition, $0.hour))
      })
    var commands: [RedisCommand] = []
    for (segment, lives) in zip(segments, exist) where lives.integer == 0 || bytes > bound {
      bytes -= segment.bytes
      try await dropKept(partition, segment.hour)
      commands.append(RedisCommand("UNLINK", keys.segment(partition, segment.hour)))
      commands.append(RedisCommand("ZREM", keys.segments(partition), String(segment.hour)))
    }
    _ = try await ask(commands, partition: partition)
  }

  /// Finished parts whose keys stayed where they are.
  private func dropKept(_ partition: Int, _ hour: Int64) async throws(StoreError) {
    let kept = keys.kept(partition, hour)
    while true {
      let members =
        (try await ask(RedisCommand("SRANDMEMBER", kept, String(Self.sweepLimit)), partition: partition)
        .array ?? []).compactMap(\.bytes)
      guard !members.isEmpty else { return }
      var commands: [RedisCommand] = []
      for id in members.compactMap({ MessageID(raw: $0) }) {
        commands.append(RedisCommand(words: ["UNLINK"] + keys.part(partition, id)))
      }
      var remove = RedisCommand("SREM", kept)
      for member in members { remove.append(member) }
      _ = try await ask(commands + [remove], partition: partition)
    }
  }
}
