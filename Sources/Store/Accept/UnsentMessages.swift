package import Domain
import RedisClient

/// What an entry of a stream asks for, as far as it can be read without claiming it.
private struct Unsent {
  var entry: String
  var job: JobID
  /// Of a list.
  var list: StoredJob?
  /// Of an entry of inline messages: whose they are.
  var inlineMessages: [MessageID] = []
}

/// Direct sends that nobody claims, as their credential is not configured: their time runs all the same. (What is left
/// of an audience ends by `AudienceMembers.sweepEnds`, whatever its credentials.) Holds nothing but its session, on whose loop it is used.
package struct UnsentMessages: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Entries read at a time.
  private static let entriesPerStep = 100
  /// More than the clocks of two zones differ: a message may start as much later for some devices.
  private static let zonesApart: Int64 = 27 * 3_600_000

  /// Ends those whose time is over, or who are cancelled, among the next `steps` pages of a stream. Nothing of it may
  /// be at work. Answers where to go on with the next call; nil: from the beginning. Repeatable.
  package func expire(
    _ lease: Lease, _ stream: StreamID, after: JobID?, reason: String, now: WallTime, steps: Int = 5
  ) async throws(StoreError) -> JobID? {
    var after = after
    for _ in 0..<steps {
      let from = after.map { "(\($0.sequence)-\(UInt64.max)" } ?? "-"
      let found =
        try await ask(
          RedisCommand(
            "XRANGE", keys.stream(lease.partition, stream.name), from, "+", "COUNT", String(Self.entriesPerStep)),
          partition: lease.partition
        ).array ?? []
      let unsent = found.compactMap { Self.unsent($0, stream) }
      try await expireLists(unsent.filter { $0.list != nil }, lease, reason: reason, now: now)
      try await expireInline(unsent.filter { !$0.inlineMessages.isEmpty }, lease, stream, reason: reason, now: now)
      guard found.count == Self.entriesPerStep, let last = found.last.flatMap(JobQueue.sequence) else { return nil }
      after = JobID(stream: stream, sequence: last)
    }
    return after
  }

  /// What cannot be read is left to the claim, which quarantines it.
  private static func unsent(_ entry: RedisReply, _ stream: StreamID) -> Unsent? {
    guard let name = entry.array?.first?.text, let sequence = JobQueue.sequence(of: entry) else { return nil }
    var unsent = Unsent(entry: name, job: JobID(stream: stream, sequence: sequence))
    if let list = JobQueue.read(entry, stream) {
      guard case .targets = list.content else { return nil }
      unsent.list = list
      return unsent
    }
    guard let fields = entry.array?.last?.array, fields.count == 2, fields[0].text == "s", let row = fields[1].bytes,
      row.count.isMultiple(of: InlineMessages.rawIDLength)
    else { return nil }
    unsent.inlineMessages = stride(from: 0, to: row.count, by: InlineMessages.rawIDLength).compactMap {
      MessageID(raw: Array(row[$0..<$0 + InlineMessages.rawIDLength]))
    }
    return unsent
  }

  private func isOver(startAt: WallTime, ttl: Int, isLocal: Bool, now: WallTime) -> Bool {
    startAt + max(Int64(ttl) * 1_000, AudienceStarts.shortestStart) + (isLocal ? Self.zonesApart : 0) < now
  }

  /// How each of these ends now; those that do not are left out.
  private func endings(of ids: [MessageID], now: WallTime) async throws(StoreError) -> [MessageID: Outcome] {
    let replies = try await ask(ids.map { RedisCommand("HMGET", keys.message($0), "ttl", "at", "sl", "ctl") })
    var endings: [MessageID: Outcome] = [:]
    for (id, reply) in zip(ids, replies) {
      guard let fields = reply.array, fields.count == 4 else { continue }
      if fields[3].text.flatMap({ Control(packed: $0) })?.word == .cancelled {
        endings[id] = .cancelled
      } else if let ttl = fields[0].integer,
        isOver(
          startAt: fields[1].integer.map { WallTime(milliseconds: $0) } ?? id.acceptedAt, ttl: Int(ttl),
          isLocal: fields[2].text?.isEmpty == false, now: now)
      {
        endings[id] = .expired
      }
    }
    return endings
  }

  private func expireLists(_ unsent: [Unsent], _ lease: Lease, reason: String, now: WallTime) async throws(StoreError) {
    guard !unsent.isEmpty else { return }
    let partition = lease.partition
    let over = try await endings(of: Array(Set(unsent.compactMap(\.list?.message))), now: now)
    for job in unsent {
      guard let list = job.list, let outcome = over[list.message] else { continue }
      let known = try await CorruptRecords(session).targets(of: list.message, partition)?.entries ?? []
      var flush = Flush(lease: lease, number: 0)
      flush.finals = list.targets.map { target in
        let entry = known.indices.contains(target.index) ? known[target.index] : nil
        return Flush.Final(
          delivery: DeliveryID(message: list.message, partition: partition, index: target.index),
          device: target.device, provider: target.address?.provider ?? entry?.provider ?? ProviderName(rawValue: ""),
          outcome: outcome, reason: outcome == .expired ? reason : nil, platform: entry?.platform)
      }
      flush.finishedJobs = [job.job]
      _ = try await OutcomeWriter(session).flush(flush)
    }
  }

  private func expireInline(
    _ unsent: [Unsent], _ lease: Lease, _ stream: StreamID, reason: String, now: WallTime
  ) async throws(StoreError) {
    let partition = lease.partition
    for entry in unsent {
      let values = try await ask(entry.inlineMessages.map(InlineMessages(session).inline), partition: partition)
      var finals: [Flush.Final] = []
      var unfolded: [MessageID] = []
      var isEmpty = true
      for (id, value) in zip(entry.inlineMessages, values) {
        guard let packed = value.bytes else {
          unfolded.append(id)
          continue
        }
        guard let inline = try? InlineMessage(packed: packed, hasEnded: false),
          isOver(startAt: id.acceptedAt, ttl: inline.ttl, isLocal: false, now: now)
        else {
          isEmpty = false
          continue
        }
        finals.append(Self.final(inline, id, partition, .expired, reason: reason))
      }
      if !finals.isEmpty { try await InlineMessages(session).end(finals, lease) }
      if !unfolded.isEmpty { isEmpty = try await expireUnfolded(unfolded, lease, reason: reason, now: now) && isEmpty }
      if isEmpty { try await JobQueue(session).drop([entry.entry], corrupt: 0, lease, stream) }
    }
  }

  private static func final(
    _ inline: InlineMessage, _ id: MessageID, _ partition: Int, _ outcome: Outcome, reason: String?
  ) -> Flush.Final {
    Flush.Final(
      delivery: DeliveryID(message: id, partition: partition, index: 0), device: inline.target.device,
      provider: inline.provider ?? ProviderName(rawValue: ""), outcome: outcome, reason: reason,
      platform: inline.platform)
  }

  /// Messages that were inline messages, or have ended. True: none of them has anything left to do.
  private func expireUnfolded(_ ids: [MessageID], _ lease: Lease, reason: String, now: WallTime)
    async throws(StoreError) -> Bool
  {
    let partition = lease.partition
    let left = try await ask(ids.map { RedisCommand("HGET", keys.work(partition, $0), "x") }, partition: partition)
    let open = zip(ids, left).filter { ($1.integer ?? 0) > 0 }.map(\.0)
    guard !open.isEmpty else { return true }
    let over = try await endings(of: open, now: now)
    var flush = Flush(lease: lease, number: 0)
    for id in open {
      guard let outcome = over[id] else { continue }
      let entry = try await CorruptRecords(session).targets(of: id, partition)?.entries.first
      flush.finals.append(
        Flush.Final(
          delivery: DeliveryID(message: id, partition: partition, index: 0),
          device: entry?.device ?? DeviceID(rawValue: ""), provider: entry?.provider ?? ProviderName(rawValue: ""),
          outcome: outcome, reason: outcome == .expired ? reason : nil, platform: entry?.platform))
    }
    if !flush.finals.isEmpty { _ = try await OutcomeWriter(session).flush(flush) }
    return over.count == open.count
  }
}
