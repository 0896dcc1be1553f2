import Domain
import RedisClient

/// What cannot be read is not sent and not forgotten: its deliveries end as `failed: corrupt_record`, so that the message
/// completes and its sums hold. Holds nothing but its session, on whose loop it is used. It repairs nothing.
struct CorruptRecords: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Why deliveries end whose record or job cannot be read.
  static let reason = "corrupt_record"

  /// Deliveries of a message that no readable job of the stream carries, as one of its jobs could not be read.
  func condemnLost(of message: MessageID, _ lease: Lease, _ stream: StreamID) async throws(StoreError) {
    let partition = lease.partition
    let work = try await ask(
      RedisCommand("HMGET", keys.work(partition, message), "s", "n", "z", "a"), partition: partition)
    if let fields = work.array, fields.count == 4, !fields[3].isNull {
      return try await condemnLostMembers(of: message, lease, stream)
    }
    guard let fields = work.array, fields.count == 4, let base = fields[0].integer, let count = fields[1].integer,
      let list = try await targets(of: message, partition)
    else { return }
    let last = fields[2].integer ?? base + count
    // A message's jobs have the places that its part was given.
    let entries = try await ask(
      RedisCommand("XRANGE", keys.stream(partition, stream.name), String(base), String(last)),
      partition: partition)
    let carried = JobQueue.carried(entries, of: message, stream)
    let codes = try await AudienceMembers(session).codes(message, partition, list.entries.indices)
    let lost = list.entries.indices.filter {
      list.entries[$0].credential == stream.credential && !carried.contains($0) && codes[$0] == .none
    }
    try await condemn(message, lost, list, lease)
  }

  /// Inline messages of a stream that none of its entries names, as one of them could not be read. Rare: all of both is
  /// read.
  func condemnLostInline(_ lease: Lease, _ stream: StreamID) async throws(StoreError) {
    let partition = lease.partition
    var lost: [MessageID: InlineMessage] = [:]
    var cursor = "0"
    repeat {
      let page =
        try await ask(
          RedisCommand("HSCAN", keys.inlineMessages(partition), cursor, "COUNT", String(Self.condemnedAtOnce)),
          partition: partition
        ).array ?? []
      cursor = page.first?.text ?? "0"
      for (id, packed) in pairs(page.last?.array ?? []) {
        guard let id = MessageID(raw: id), let inline = try? InlineMessage(packed: packed, hasEnded: false),
          inline.credential == stream.credential
        else { continue }
        lost[id] = inline
      }
    } while cursor != "0"
    // Read behind them: what was accepted meanwhile is not among those.
    for urgency in Urgency.allCases {
      let other = StreamID(partition: partition, credential: stream.credential, urgency: urgency)
      for id in try await inlineMessages(in: other) { lost[id] = nil }
    }
    let all = Array(lost)
    for start in stride(from: 0, to: all.count, by: Self.condemnedAtOnce) {
      let finals = all[start..<min(all.count, start + Self.condemnedAtOnce)].map { id, inline in
        Flush.Final(
          delivery: DeliveryID(message: id, partition: partition, index: 0), device: inline.target.device,
          provider: inline.provider ?? ProviderName(rawValue: ""), outcome: .failed, reason: Self.reason,
          platform: inline.platform)
      }
      try await InlineMessages(session).end(finals, lease)
    }
  }
  private static let condemnedAtOnce = 100

  private func inlineMessages(in stream: StreamID) async throws(StoreError) -> Set<MessageID> {
    var found: Set<MessageID> = []
    var from = "-"
    while true {
      let entries =
        try await ask(
          RedisCommand(
            "XRANGE", keys.stream(stream.partition, stream.name), from, "+", "COUNT", String(Self.condemnedAtOnce)),
          partition: stream.partition
        ).array ?? []
      for entry in entries {
        guard let fields = entry.array?.last?.array, fields.count == 2, fields[0].text == "s",
          let row = fields[1].bytes, row.count.isMultiple(of: InlineMessages.rawIDLength)
        else { continue }
        for start in stride(from: 0, to: row.count, by: InlineMessages.rawIDLength) {
          if let id = MessageID(raw: Array(row[start..<start + InlineMessages.rawIDLength])) { found.insert(id) }
        }
      }
      guard entries.count == Self.condemnedAtOnce, let last = entries.last?.array?.first?.text else { return found }
      from = "(" + last
    }
  }

  /// Members of an audience whose job cannot be read, and who were not handed out.
  private func condemnLostMembers(of message: MessageID, _ lease: Lease, _ stream: StreamID) async throws(StoreError) {
    let partition = lease.partition
    guard let part = try await AudienceShards(session).shard(message, lease) else { return }
    for job in part.jobs where job.credential == stream.credential && part.isReleased(job) {
      let entry = part.entry(of: job)
      let found = try await ask(
        RedisCommand("XRANGE", keys.stream(partition, stream.name), entry, entry), partition: partition)
      if !JobQueue.carries(found, job, of: message, stream) {
        try await AudienceMembers(session).end(part.rest(of: job), of: job, part, lease, .failed, reason: Self.reason)
      }
    }
  }

  /// Deliveries in the retry set whose record cannot be read.
  func condemnWaiting(of message: MessageID, _ indexes: [Int], _ lease: Lease) async throws(StoreError) {
    let partition = lease.partition
    let list = try await targets(of: message, partition) ?? TargetList()
    try await condemn(message, indexes, list, lease)
    // An index that the part has not stands there still.
    let dropped = try await ask(
      Scripts.dropRetries, keys: [keys.lease(partition), keys.retry(partition), keys.corrupt(partition)],
      indexes.map { .bytes(message.raw + raw32($0)) }, under: lease)
    let ended = indexes.count - Int(dropped.integer ?? 0)
    _ = try await ask(RedisCommand("INCRBY", keys.corrupt(partition), String(ended)), partition: partition)
  }

  /// The list of a part as it stands; nil: there is none that can be read.
  func targets(of message: MessageID, _ partition: Int) async throws(StoreError) -> TargetList? {
    let work = try await ask(RedisCommand("HGETALL", keys.work(partition, message)), partition: partition)
    return TargetList(work: StoredMessageHashes.fields(work))
  }

  /// `list`: empty of an audience, whose snapshot has provider and platform.
  private func condemn(_ message: MessageID, _ indexes: [Int], _ list: TargetList, _ lease: Lease)
    async throws(StoreError)
  {
    var flush = Flush(lease: lease, number: 0)
    flush.finals = indexes.map { index in
      let entry = list.entries.indices.contains(index) ? list.entries[index] : nil
      return Flush.Final(
        delivery: DeliveryID(message: message, partition: lease.partition, index: index),
        device: entry?.device ?? DeviceID(rawValue: ""), provider: entry?.provider ?? ProviderName(rawValue: ""),
        outcome: .failed, reason: Self.reason, platform: entry?.platform)
    }
    if !flush.finals.isEmpty { _ = try await OutcomeWriter(session).flush(flush) }
  }
}
