import Domain
import RedisClient

/// Outcomes of one message within a flush.
struct MessageOutcomes {
  var finals: [Flush.Final] = []
  var retries: [Flush.RetryEntry] = []
  var accepted: [Flush.Accepted] = []
}

extension Flush {
  /// Prunes are counted by a script even where there is nothing else.
  fileprivate var isEmpty: Bool {
    finals.isEmpty && accepted.isEmpty && retries.isEmpty && finishedJobs.isEmpty && prunes.isEmpty
  }
}

/// What one script run of a flush writes.
struct FlushChunk {
  typealias Job = (id: JobID, message: MessageID)
  /// Which run of its flush it is, from 1.
  var number: Int
  var entries: [(id: MessageID, outcomes: MessageOutcomes)] = []
  var jobs: [Job] = []
  /// Outcomes in it.
  var count = 0
}

typealias FlushReply = (pruned: Int, controls: [MessageID: Control], told: [(id: MessageID, ending: [UInt8])])

/// Writes outcomes, retries and prunes in groups, checked against the lease (design D9). Which messages are being written
/// is noted in the session; used on its loop. A flush that failed may be written in part: the caller repeats it.
package struct OutcomeWriter: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Outcomes and messages of one script run: what keeps it within a millisecond.
  private static let outcomesPerScript = 256
  private static let messagesPerScript = 32

  /// Writes all of it or throws; after an error it may be repeated as it is, with the same number.
  package func flush(_ asked: Flush) async throws(StoreError) -> FlushResult {
    var flush = asked
    let partition = flush.lease.partition
    var result = FlushResult(controls: [:], pruned: 0)
    if !flush.prunes.isEmpty {
      result.pruned = try await Prunes(session).apply(flush.prunes.filter { !$0.isHeld }, under: flush.lease)
      result.held = try await Prunes(session).hold(flush.prunes.filter(\.isHeld), flush.lease)
    }
    let inlineMessages = try await InlineMessages(session).endInline(&flush)
    let parked = JobQueue.parked(by: flush)
    for message in parked { session.owned.parking[partition, default: [:]][message, default: 0] += 1 }
    defer {
      for message in parked {
        let left = session.owned.parking[partition]![message]! - 1
        session.owned.parking[partition]![message] = left == 0 ? nil : left
      }
    }
    try await JobQueue(session).notePark(parked, flush)
    // Where inline messages were written, the lease has been compared already.
    if !inlineMessages.hasWritten || !flush.isEmpty { try await write(flush, into: &result) }
    if !inlineMessages.unfolded.isEmpty {
      // Number 0 is never compared: an outcome changes nothing the second time.
      var rest = Flush(lease: flush.lease, number: 0)
      rest.finals = inlineMessages.unfolded
      try await write(rest, into: &result)
    }
    try await InlineMessages(session).finish(inlineMessages, flush.lease)
    let messages = Set(asked.finishedJobs.compactMap { session.owned.claimed[partition]?.removeValue(forKey: $0) })
    if session.owned.audienceMessages[partition]?.isEmpty == false {
      for id in messages { AudienceShards(session).forgetAudience(id, partition) }
    }
    return result
  }

  private func write(_ flush: Flush, into result: inout FlushResult) async throws(StoreError) {
    let partition = flush.lease.partition
    let jobs = try await messages(of: flush.finishedJobs)
    for chunk in Self.chunks(flush, jobs: jobs) {
      let reply = try await send(chunk, flush, result.pruned)
      result.pruned = max(result.pruned, reply.pruned)
      result.controls.merge(reply.controls) { $0.version > $1.version ? $0 : $1 }
      for (id, _) in reply.told { AudienceShards(session).partEnded(id, partition) }
      MessageSpread(session).tellHome(reply.told, from: partition)
    }
  }

  /// The same for the same flush. A job goes with the last outcomes of its message.
  private static func chunks(_ flush: Flush, jobs: [(JobID, MessageID)]) -> [FlushChunk] {
    // An empty one still learns whether the lease holds.
    var chunks = [FlushChunk(number: 1)]
    /// By message: the last chunk with outcomes of it, and its place there.
    var places: [MessageID: (chunk: Int, entry: Int)] = [:]
    func add(_ id: MessageID, _ count: Int = 1, _ change: (inout MessageOutcomes) -> Void) {
      var last = chunks.count - 1
      if chunks[last].count >= outcomesPerScript
        || places[id]?.chunk != last && chunks[last].entries.count >= messagesPerScript
      {
        chunks.append(FlushChunk(number: chunks.count + 1))
        last += 1
      }
      if places[id]?.chunk != last {
        chunks[last].entries.append((id, MessageOutcomes()))
        places[id] = (last, chunks[last].entries.count - 1)
      }
      change(&chunks[last].entries[places[id]!.entry].outcomes)
      chunks[last].count += count
    }
    for final in flush.finals { add(final.delivery.message) { $0.finals.append(final) } }
    for accepted in flush.accepted { add(accepted.message, accepted.indexes.count) { $0.accepted.append(accepted) } }
    for retry in flush.retries { add(retry.target.delivery.message) { $0.retries.append(retry) } }
    for (job, message) in jobs { chunks[places[message]?.chunk ?? chunks.count - 1].jobs.append((job, message)) }
    return chunks
  }

  private func send(_ chunk: FlushChunk, _ flush: Flush, _ pruned: Int) async throws(StoreError) -> FlushReply {
    let partition = flush.lease.partition
    let audiences = session.owned.audienceMessages[partition] ?? []
    var entries = chunk.entries
    var places: [MessageID: Int] = [:]
    for (place, entry) in entries.enumerated() { places[entry.id] = place + 1 }
    for job in chunk.jobs where places[job.message] == nil {
      entries.append((job.message, MessageOutcomes()))
      places[job.message] = entries.count
    }
    var names = [
      keys.lease(partition), keys.finished(partition), keys.retry(partition), keys.ready(partition),
      keys.segments(partition), keys.ends(partition),
    ]
    var arguments: [RedisArgument] = [
      .number(Int64(flush.number)), .number(Int64(chunk.number)),
      .number(settings.retentionSeconds), .number(Int64(pruned)), .number(Int64(entries.count)),
    ]
    var parts: [MessageID: AudienceShard] = [:]
    for (id, outcomes) in entries {
      let here = keys.home(id) == partition
      let isAudience = audiences.contains(id)
      names += [
        keys.work(partition, id), keys.deliveries(partition, id), keys.slices(partition, id), keys.codes(partition, id),
        keys.kept(partition, id.hour),
        isAudience ? keys.snapshot(partition, id) : here ? keys.message(id) : keys.work(partition, id),
        keys.segment(partition, id.hour),
      ]
      if isAudience {
        // A part that has ended has nothing left to turn.
        parts[id] = try await AudienceShards(session).shard(id, flush.lease)
        let ended = parts[id].map { ShardOutcomes(outcomes, of: $0) } ?? ShardOutcomes()
        arguments += ended.arguments(of: id, .audience)
      } else {
        arguments += ShardOutcomes(outcomes).arguments(of: id, here ? .listAtHome : .list)
      }
    }
    arguments.append(.number(Int64(chunk.jobs.count)))
    for job in chunk.jobs {
      names.append(keys.stream(partition, job.id.stream.name))
      let part = parts[job.message]
      let own = part?.job(onceAt: job.id.sequence)
      arguments += [
        .number(Int64(places[job.message]!)),
        .text(own.flatMap { part?.entry(of: $0) } ?? job.id.entry(of: job.message)), .text(job.id.stream.name),
        audiences.contains(job.message) ? .number(Int64(own?.range.lowerBound ?? 0)) : "",
      ]
    }
    let caps = CapCounts(session).arguments(entries, partition)
    names += caps.names + [keys.tallies(partition)]
    arguments.append(.bytes(caps.packed))
    return try flushed(try await ask(Scripts.flush, keys: names, arguments, under: flush.lease))
  }

  private func flushed(_ reply: RedisReply) throws(StoreError) -> FlushReply {
    let reply = reply.array ?? []
    guard reply.count == 3 else { throw .unavailable("a flush was answered in an unknown form", retryAfter: 5) }
    var controls: [MessageID: Control] = [:]
    for (id, packed) in pairs(reply[1].array ?? []) {
      guard let id = MessageID(raw: id) else { continue }
      controls[id] = Control(packed: String(decoding: packed, as: UTF8.self))
    }
    return (Int(reply[0].integer ?? 0), controls, MessageSpread(session).endings(reply[2]))
  }

  /// Whose the jobs are: known from the claim, else read from their streams. A job that is gone is left out by naming
  /// the store's zero message, of which nothing exists; an entry of inline messages is none of these.
  private func messages(of jobs: [JobID]) async throws(StoreError) -> [(JobID, MessageID)] {
    func known(_ job: JobID) -> MessageID? { session.owned.claimed[job.stream.partition]?[job] }
    let unknown = jobs.filter { known($0) == nil }
    var read: [JobID: MessageID] = [:]
    let replies = try await ask(
      unknown.map { job in
        let entry = String(job.sequence)
        return RedisCommand("XRANGE", keys.stream(job.stream.partition, job.stream.name), entry, entry)
      })
    var others: Set<JobID> = []
    for (job, reply) in zip(unknown, replies) {
      guard let fields = reply.array?.first?.array?.last?.array, fields.count > 1 else { continue }
      if fields[0].text == "s" { others.insert(job) }
      read[job] = fields[1].bytes.flatMap { MessageID(raw: $0) }
    }
    let none = MessageID(acceptedAt: WallTime(milliseconds: 0), partition: 0, random: 0)
    return jobs.filter { !others.contains($0) }.map { ($0, known($0) ?? read[$0] ?? none) }
  }
}
