package import Domain
import RedisClient

/// What the owner of a partition puts in order now and then: what stopped half-way, and what is too old. When segments end
/// is noted in the session; used on its loop. Each run is bounded, so it may leave work to the next.
package struct PartitionSweep: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// A spread that has not ended by then has lost its request.
  private static let orphanMilliseconds: Int64 = 10_000
  private static let sweepLimit = 100

  /// Repairs and ends: messages whose spreading stopped half-way, partitions that did not learn of a control, ones that
  /// finished and did not tell home, records and tombstones beyond retention, imports and
  /// registrations that were cut off. Called each second per owned partition.
  package func run(_ lease: Lease, now: WallTime) async throws(StoreError) {
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
    MessageSpread(session).tellHome(MessageSpread(session).endings(replies[1]), from: partition)
    try await dropSegments(replies[2], partition, now: now)
    var trouble: StoreError?
    for id in (replies[0].array ?? []).compactMap({ $0.bytes.flatMap { MessageID(raw: $0) } }) {
      // One that cannot be finished now does not keep the others from it.
      do throws(StoreError) { try await MessageSpread(session).finishSpreading(id) } catch { trouble = error }
    }
    try await AudienceMembers(session).sweepEnds(lease, now: now)
    try await MessageControl(session).sweepControls(lease)
    try await Tombstones(session).purgeTombstones(partition, now: now)
    try await ImportIntents(session).undoOrphans(partition, now: now)
    try await DeviceArrivals(session).settleArrivals(partition, now: now)
    if let trouble { throw trouble }
  }

  /// Oldest first, until the partition's share of the byte bound holds; also what Redis has expired.
  private func dropSegments(_ reply: RedisReply, _ partition: Int, now: WallTime) async throws(StoreError) {
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
    let gone = try await expired(segments.map(\.hour), partition, now: now)
    for segment in segments where bytes > bound || gone.contains(segment.hour) {
      let isOver = bytes > bound
      bytes -= segment.bytes
      session.owned.segmentEnds[partition]?[segment.hour] = nil
      try await drop(partition, hour: segment.hour, bytes: segment.bytes, isOver: isOver)
    }
  }

  /// Hours of which Redis has expired all. Each is asked when it ends, and again only then: what is archived later makes it end later.
  private func expired(_ hours: [Int64], _ partition: Int, now: WallTime) async throws(StoreError) -> Set<Int64> {
    let known = session.owned.segmentEnds[partition] ?? [:]
    session.owned.segmentEnds[partition] = known.filter { hours.contains($0.key) }
    let due = hours.filter { known[$0].map { $0 <= now } ?? true }
    guard !due.isEmpty else { return [] }
    let ends = try await ask(
      due.flatMap { hour in
        [keys.segment(partition, hour), keys.kept(partition, hour)].map { RedisCommand("PEXPIRETIME", $0) }
      }, partition: partition)
    var gone: Set<Int64> = []
    for (place, hour) in due.enumerated() {
      let times = [ends[place * 2], ends[place * 2 + 1]].map { $0.integer ?? Self.isMissing }
      if times.allSatisfy({ $0 == Self.isMissing }) {
        gone.insert(hour)
      } else {
        session.owned.segmentEnds[partition, default: [:]][hour] = WallTime(milliseconds: max(0, times.max()!))
      }
    }
    return gone
  }
  /// What Redis says of a key that does not exist.
  private static let isMissing: Int64 = -2

  /// `bytes`: what the hour held as this was decided; with more in it now it is left to the next sweep. `isOver`: it goes though it holds
  /// something.
  func drop(_ partition: Int, hour: Int64, bytes: Double, isOver: Bool) async throws(StoreError) {
    if isOver { try await dropKept(partition, hour) }
    _ = try await ask(
      Scripts.dropSegment,
      keys: [keys.segment(partition, hour), keys.kept(partition, hour), keys.segments(partition)],
      [.number(hour), .text("\(bytes)"), isOver ? 1 : 0], partition: partition)
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
