import Domain
import RedisClient

/// Outcomes of one message within a flush.
private struct MessageOutcomes {
  var finals: [Flush.Final] = []
  var retries: [Flush.RetryEntry] = []
  var count: Int { finals.count + retries.count }
}

extension Store {
  /// Outcomes and messages of one script run: what keeps it within a millisecond.
  private static let outcomesPerScript = 256
  private static let messagesPerScript = 32

  /// Writes all of it or throws; after an error it may be repeated as it is, with the same number.
  package func flush(_ flush: Flush) async throws(StoreError) -> FlushResult {
    let partition = flush.lease.partition
    var pruned = 0
    for prune in flush.prunes where try await apply(prune) { pruned += 1 }

    var result = FlushResult(cancelled: [], pruned: pruned)
    let messages = try await messages(of: flush.finishedJobs)
    let chunks = Self.chunks(flush)
    // A job goes with the last outcomes of its message.
    var places: [MessageID: Int] = [:]
    for (number, chunk) in chunks.enumerated() {
      for entry in chunk { places[entry.id] = number }
    }
    let jobs = Dictionary(grouping: zip(flush.finishedJobs, messages).map { (id: $0, message: $1) }) {
      places[$0.message] ?? chunks.count - 1
    }
    for (number, chunk) in chunks.enumerated() {
      let reply = try await send(
        chunk, jobs: jobs[number] ?? [], flush.lease, number: flush.number, chunk: number + 1, pruned: pruned)
      result.pruned = max(result.pruned, reply.pruned)
      result.cancelled.formUnion(reply.cancelled)
      tellHome(reply.told, from: partition)
    }
    for job in flush.finishedJobs { claimed[partition]?[job] = nil }
    return result
  }

  private static func chunks(_ flush: Flush) -> [[(id: MessageID, outcomes: MessageOutcomes)]] {
    var chunks: [[(id: MessageID, outcomes: MessageOutcomes)]] = [[]]
    var places: [MessageID: Int] = [:]
    var count = 0
    func add(_ id: MessageID, _ change: (inout MessageOutcomes) -> Void) {
      if count >= outcomesPerScript || (places[id] == nil && chunks[chunks.count - 1].count >= messagesPerScript) {
        chunks.append([])
        places = [:]
        count = 0
      }
      let last = chunks.count - 1
      let place = places[id] ?? chunks[last].count
      if place == chunks[last].count {
        chunks[last].append((id, MessageOutcomes()))
        places[id] = place
      }
      change(&chunks[last][place].outcomes)
      count += 1
    }
    for final in flush.finals { add(final.delivery.message) { $0.finals.append(final) } }
    for retry in flush.retries { add(retry.target.delivery.message) { $0.retries.append(retry) } }
    return chunks
  }

  private typealias Reply = (pruned: Int, cancelled: [MessageID], told: [(id: MessageID, ending: [UInt8])])

  private func send(
    _ chunk: [(id: MessageID, outcomes: MessageOutcomes)], jobs: [(id: JobID, message: MessageID)], _ lease: Lease,
    number: UInt64, chunk chunkNumber: Int, pruned: Int
  ) async throws(StoreError) -> Reply {
    let partition = lease.partition
    var entries = chunk
    var places: [MessageID: Int] = [:]
    for (place, entry) in entries.enumerated() { places[entry.id] = place + 1 }
    for job in jobs where places[job.message] == nil {
      entries.append((job.message, MessageOutcomes()))
      places[job.message] = entries.count
    }
    var names = [
      keys.lease(partition), keys.finished(partition), keys.retry(partition), keys.ready(partition),
      keys.segments(partition),
    ]
    var arguments: [RedisArgument] = [
      .text(lease.owner), .number(Int64(number)), .number(Int64(chunkNumber)), .number(settings.retentionSeconds),
      .number(Int64(pruned)), .number(Int64(partition)), .number(Int64(entries.count)),
    ]
    for (id, outcomes) in entries {
      let here = keys.home(id) == partition
      names += [
        keys.work(partition, id), keys.deliveries(partition, id), keys.slices(partition, id),
        here ? keys.message(id) : keys.work(partition, id), keys.segment(partition, id.hour),
      ]
      arguments += [
        .bytes(id.raw), .number(id.hour), here ? "1" : "0", .number(Int64(outcomes.finals.count)),
        .number(Int64(outcomes.retries.count)),
      ]
      for final in outcomes.finals { arguments += Self.arguments(final) }
      for retry in outcomes.retries { arguments += Self.arguments(retry) }
    }
    arguments.append(.number(Int64(jobs.count)))
    for job in jobs {
      names.append(keys.stream(partition, job.id.stream.name))
      arguments += [
        .number(Int64(places[job.message] ?? 0)), .text("\(job.id.sequence)-1"), .text(job.id.stream.name),
      ]
    }
    let reply = try await ask(Scripts.flush, keys: names, arguments, partition: partition).array ?? []
    guard reply.count == 3 else { throw .unavailable("a flush was answered in an unknown form", retryAfter: 5) }
    return (
      Int(reply[0].integer ?? 0),
      (reply[1].array ?? []).compactMap { $0.bytes.flatMap { MessageID(raw: $0) } },
      endings(reply[2])
    )
  }

  private static func arguments(_ final: Flush.Final) -> [RedisArgument] {
    let record = DeliveryRecord(
      state: .final(final.outcome, reason: final.reason, providerID: final.providerID), provider: final.provider,
      overtaken: final.overtaken)
    let counter = CounterName(provider: final.provider, outcome: final.outcome, reason: final.reason)
    return [
      .number(Int64(final.delivery.index)), .bytes(record.head), .bytes(DeliveryRecord.pack(final.attempts)),
      .bytes(counter.field),
    ]
  }

  private static func arguments(_ retry: Flush.RetryEntry) -> [RedisArgument] {
    let target = retry.target
    // A registered device's address is read again when the retry is due.
    let packed = PackedTarget(
      index: target.delivery.index, device: target.device, address: target.registered ? nil : target.address)
    let record = DeliveryRecord(
      state: .retrying(
        due: retry.due, reason: retry.reason, sequence: target.sequence, credential: target.credential, packed),
      provider: target.address?.provider)
    return [
      .number(Int64(target.delivery.index)), .bytes(record.head), .bytes(DeliveryRecord.pack(retry.attempts)),
      .number(retry.due.milliseconds),
    ]
  }

  /// Whose the jobs are: known from the claim, else read from their streams. A job that is gone is left out by naming
  /// the store's zero message, of which nothing exists.
  private func messages(of jobs: [JobID]) async throws(StoreError) -> [MessageID] {
    func known(_ job: JobID) -> MessageID? { claimed[job.stream.partition]?[job] }
    let unknown = jobs.filter { known($0) == nil }
    var read: [JobID: MessageID] = [:]
    let replies = try await ask(
      unknown.map { job in
        let entry = "\(job.sequence)-1"
        return RedisCommand("XRANGE", keys.stream(job.stream.partition, job.stream.name), entry, entry)
      })
    for (job, reply) in zip(unknown, replies) {
      guard let fields = reply.array?.first?.array?.last?.array, fields.count > 1 else { continue }
      read[job] = fields[1].bytes.flatMap { MessageID(raw: $0) }
    }
    let none = MessageID(acceptedAt: WallTime(milliseconds: 0), partition: 0, random: 0)
    return jobs.map { known($0) ?? read[$0] ?? none }
  }
}
