package import Domain
import RedisClient

/// Deliveries that wait for another attempt: a sorted set of their due times, and a record for each.
extension JobQueue {
  /// Retries due by `now` in order, at most `limit`; they stay in the set until a flush ends or moves them.
  package func dueRetries(_ lease: Lease, now: WallTime, limit: Int) async throws(StoreError) -> [ClaimedTarget] {
    let command = RedisCommand(
      "ZRANGEBYSCORE", keys.retry(lease.partition), "-inf", String(now.milliseconds), "LIMIT", "0", String(limit))
    let members = (try await ask(command).array ?? []).compactMap(\.bytes)
    return try await retries(members, lease).map(\.target)
  }

  /// How far those that wait for a retry were read.
  package struct RetryPlace: Sendable {
    fileprivate var score: String
    /// Members of that due time that were read.
    fileprivate var skipping: Int
  }

  /// Those that wait for a retry, for the order barriers of a new owner (design D6), earliest first, at most `limit` of them.
  /// `next`: to go on with; nil: there are no more.
  package func waitingRetries(_ lease: Lease, after place: RetryPlace? = nil, limit: Int) async throws(StoreError) -> (
    found: [(target: ClaimedTarget, due: WallTime)], next: RetryPlace?
  ) {
    guard limit > 0 else { return ([], nil) }
    let replies =
      try await ask(
        RedisCommand(
          "ZRANGE", keys.retry(lease.partition), place?.score ?? "-inf", "+inf", "BYSCORE", "LIMIT",
          String(place?.skipping ?? 0), String(limit), "WITHSCORES")
      ).array ?? []
    let members = stride(from: 0, to: replies.count - 1, by: 2).compactMap { replies[$0].bytes }
    let found = try await retries(members, lease)
    guard members.count == limit, let last = replies.last?.text else { return (found, nil) }
    let scores = stride(from: 1, to: replies.count, by: 2).map { replies[$0].text }
    let same = scores.count { $0 == last }
    let before = place?.score == last ? place?.skipping ?? 0 : 0
    return (found, RetryPlace(score: last, skipping: before + same))
  }

  /// When the next retry of the partition is due; none of a paused message.
  package func nextRetry(_ lease: Lease) async throws(StoreError) -> WallTime? {
    let reply = try await ask(RedisCommand("ZRANGE", keys.retry(lease.partition), "0", "0", "WITHSCORES"))
    guard let score = reply.array?.last?.text.flatMap({ Double($0) }), score < Double(Self.parked.milliseconds) else {
      return nil
    }
    return WallTime(milliseconds: Int64(min(max(0, score), Self.latest)))
  }

  /// Milliseconds; a score beyond it is damage.
  private static let latest = 1e15

  private func retries(_ members: [[UInt8]], _ lease: Lease) async throws(StoreError) -> [(
    target: ClaimedTarget, due: WallTime
  )] {
    let partition = lease.partition
    var asked: [(member: [UInt8], delivery: DeliveryID)] = []
    /// Members that name no waiting delivery.
    var stale: [[UInt8]] = []
    var corrupt: [MessageID: [Int]] = [:]
    for member in members {
      guard member.count == 20, let id = MessageID(raw: Array(member.prefix(16))) else {
        stale.append(member)
        continue
      }
      asked.append((member, DeliveryID(message: id, partition: partition, index: from32(member[16...]))))
    }
    let messages = Array(Set(asked.map(\.delivery.message)))
    let known = try await ask(
      messages.flatMap { message in
        [
          RedisCommand("HGET", keys.work(partition, message), "a"),
          RedisCommand("HGETALL", keys.slices(partition, message)),
        ]
      }
        + asked.map { RedisCommand("HGET", keys.deliveries(partition, $0.delivery.message), String($0.delivery.index)) },
      partition: partition)
    var slicesByMessage: [MessageID: [Int: StoredSlice]] = [:]
    var parts: [MessageID: AudienceShard] = [:]
    for (place, message) in messages.enumerated() {
      if known[place * 2].isNull {
        slicesByMessage[message] = slicesByMember(known[place * 2 + 1], of: message, partition)
      } else if let part = try await AudienceShards(session).shard(message, lease) {
        parts[message] = part
      }
    }
    let records = known.dropFirst(messages.count * 2)
    var found: [(target: ClaimedTarget, due: WallTime)] = []
    for (entry, record) in zip(asked, records) {
      guard let packed = record.bytes else {
        stale.append(entry.member)
        continue
      }
      guard let record = try? DeliveryRecord(packed: packed),
        case .retrying(let due, _, let sequence, let credential, let target) = record.state,
        target.index == entry.delivery.index
      else {
        if packed.first == DeliveryRecord.finalMark {
          stale.append(entry.member)
        } else {
          corrupt[entry.delivery.message, default: []].append(entry.delivery.index)
        }
        continue
      }
      let claimed = ClaimedTarget(
        delivery: entry.delivery, device: target.device, registered: target.address == nil, credential: credential,
        sequence: sequence, address: target.address, gone: nil, facts: nil, attempts: record.attempts,
        slice: parts[entry.delivery.message]?.slices[entry.delivery.index]
          ?? slicesByMessage[entry.delivery.message]?[entry.delivery.index])
      found.append((claimed, due))
    }
    for (message, indexes) in corrupt { try await CorruptRecords(session).condemnWaiting(of: message, indexes, lease) }
    if !stale.isEmpty {
      _ = try await ask(
        Scripts.dropRetries, keys: [keys.lease(partition), keys.retry(partition), keys.corrupt(partition)],
        stale.map { .bytes($0) }, under: lease)
    }
    var targets = found.map(\.target)
    try await readAddresses(&targets, lease)
    for (message, part) in parts {
      let members = targets.indices.filter { targets[$0].delivery.message == message }
      try await readMembers(&targets, at: members, part, lease)
    }
    return zip(targets, found).map { ($0, $1.due) }
  }
}
