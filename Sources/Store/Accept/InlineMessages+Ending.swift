import Domain
import RedisClient

/// Outcomes of inline messages: one value becomes another, for many of them at once.
extension InlineMessages {
  /// What keeps one script within a millisecond.
  private static let outcomesPerScript = 128

  /// What a flush has to do with inline messages. Their outcomes are written and taken out of it, and so are their
  /// jobs; what cannot be written so stays in it, with hashes to be written to. Repeatable: an outcome that was written
  /// changes nothing the second time, and what stays in the flush stays the same.
  func endInline(_ flush: inout Flush) async throws(StoreError) -> EndedInlineMessages {
    var ended = EndedInlineMessages()
    guard let book = session.owned.inlineMessages[flush.lease.partition], !book.isEmpty else { return ended }
    ended.jobs = flush.finishedJobs.filter { book.message(of: $0) != nil }
    if !ended.jobs.isEmpty { flush.finishedJobs.removeAll { book.message(of: $0) != nil } }
    var finals: [Flush.Final] = []
    var others: [Flush.Final] = []
    var unfolding: [MessageID] = []
    for final in flush.finals {
      let id = final.delivery.message
      if book.isInline(id), final.cap == nil, ended.messages.insert(id).inserted {
        finals.append(final)
      } else {
        // What counts towards a cap is counted with its outcome, in a script that does both.
        if book.isInline(id), final.cap != nil { unfolding.append(id) }
        others.append(final)
      }
    }
    unfolding += flush.retries.lazy.map(\.target.delivery.message).filter(book.isInline)
    if !unfolding.isEmpty {
      try await unfold(unfolding)
      for id in unfolding { book.unfolded(id) }
    }
    guard !finals.isEmpty else { return ended }
    // Where all goes well, their entries go with them.
    let done = Set(ended.jobs.lazy.filter { book.message(of: $0).map(ended.messages.contains) ?? false })
    let emptied = book.emptied(by: done)
    let entries = emptied.count == 1 ? emptied.first.map { (stream: $0.key, entries: $0.value) } : nil
    let (left, isWhole) = try await end(finals, flush.lease, emptying: entries)
    flush.finals = others
    ended.hasWritten = true
    ended.messages.subtract(left)
    if !left.isEmpty { ended.unfolded = finals.filter { left.contains($0.delivery.message) } }
    if isWhole, left.isEmpty, emptied.count < 2 {
      ended.done = done
      ended.jobs.removeAll(where: done.contains)
    }
    return ended
  }

  /// Answers those that are no inline messages any more, and whether one script did it all; then these entries are gone
  /// too, if there are none of the former.
  @discardableResult
  func end(_ finals: [Flush.Final], _ lease: Lease, emptying: (stream: StreamID, entries: [String])? = nil)
    async throws(StoreError) -> (left: Set<MessageID>, isWhole: Bool)
  {
    var parts: [ArraySlice<Flush.Final>] = []
    for finals in Self.byHour(finals) {
      for start in stride(from: 0, to: finals.count, by: Self.outcomesPerScript) {
        parts.append(finals[start..<min(finals.count, start + Self.outcomesPerScript)])
      }
    }
    let entries = parts.count == 1 ? emptying : nil
    let runs = parts.map { run($0, lease, entries) }
    var left: Set<MessageID> = []
    for reply in try await ask(Scripts.endInline, runs, under: lease) {
      for id in reply.array ?? [] { if let id = id.bytes.flatMap({ MessageID(raw: $0) }) { left.insert(id) } }
    }
    return (left, parts.count == 1)
  }

  /// Almost always they are of one.
  private static func byHour(_ finals: [Flush.Final]) -> [[Flush.Final]] {
    let hour = finals[0].delivery.message.hour
    if finals.allSatisfy({ $0.delivery.message.hour == hour }) { return [finals] }
    return Array(Dictionary(grouping: finals, by: \.delivery.message.hour).values)
  }

  private func run(
    _ part: ArraySlice<Flush.Final>, _ lease: Lease, _ emptying: (stream: StreamID, entries: [String])?
  ) -> ScriptRun {
    let partition = lease.partition
    let hour = part[part.startIndex].delivery.message.hour
    let stream = emptying?.stream.name ?? ""
    var run = ScriptRun()
    run.keys.append(keys.lease(partition))
    run.keys.append(keys.inlineMessages(partition))
    run.keys.append(keys.segment(partition, hour))
    run.keys.append(keys.segments(partition))
    run.keys.append(keys.ready(partition))
    run.keys.append(keys.stream(partition, stream))
    run.keys.append(keys.tallies(partition))
    run.arguments.reserve(bytes: part.count * 220 + 256)
    run.arguments.append(hour)
    run.arguments.append(settings.retentionSeconds)
    run.arguments.append(part.count)
    run.arguments.append(stream)
    run.arguments.append(emptying?.entries.count ?? 0)
    for entry in emptying?.entries ?? [] { run.arguments.append(entry) }
    for final in part { run.arguments.append(final.delivery.message.raw) }
    for final in part { run.arguments.append(Self.ending(final)) }
    for final in part {
      run.arguments.append(final.outcome.keepsContent ? "1" : "0")
    }
    // Of one provider and one outcome are almost all of them.
    var names: [(provider: ProviderName?, outcome: Outcome)] = []
    let kinds = part.map { final in
      let known = names.firstIndex { $0.outcome == final.outcome && $0.provider == final.provider }
      if known == nil { names.append((final.provider, final.outcome)) }
      return UInt8((known ?? names.count - 1) + 1)
    }
    for name in names { run.arguments.append(Tally.name(provider: name.provider, outcome: name.outcome)) }
    run.arguments.append(kinds)
    return run
  }

  private static func ending(_ final: Flush.Final) -> [UInt8] {
    let counter = CounterName(
      provider: final.provider, outcome: final.outcome, reason: final.reason, platform: final.platform)
    return InlineMessage.ending(
      record: DeliveryRecord(final).head + final.attempts.packed, counter: counter.field)
  }

  /// Behind their outcomes: entries of streams all of whose jobs have one go. A job that was only set aside has none.
  func finish(_ ended: EndedInlineMessages, _ lease: Lease) async throws(StoreError) {
    let partition = lease.partition
    guard let book = session.owned.inlineMessages[partition] else { return }
    var done: Set<JobID> = []
    var asked: [JobID] = []
    var commands: [RedisCommand] = []
    for job in ended.jobs {
      guard let id = book.message(of: job) else { continue }
      if ended.messages.contains(id) {
        done.insert(job)
      } else {
        asked.append(job)
        commands += [
          inline(id), RedisCommand("EXISTS", keys.work(partition, id)),
          RedisCommand("HEXISTS", keys.deliveries(partition, id), "0"),
        ]
      }
    }
    let replies = try await ask(commands, partition: partition)
    for (place, job) in asked.enumerated() {
      let (whole, work, record) = (replies[place * 3], replies[place * 3 + 1], replies[place * 3 + 2])
      if whole.isNull, work.integer == 0 || record.integer == 1 { done.insert(job) }
    }
    if !done.isEmpty {
      for (stream, entries) in book.emptied(by: done.union(ended.done)) {
        try await JobQueue(session).drop(entries, corrupt: 0, lease, stream)
      }
    }
    // Forgotten only when all is written: a flush that is repeated names them again.
    book.forget(done.union(ended.done))
  }
}

/// What a flush did with inline messages.
struct EndedInlineMessages {
  /// Whose outcomes are written.
  var messages: Set<MessageID> = []
  var hasWritten = false
  /// They are no inline messages any more: these outcomes are written as those of every other message.
  var unfolded: [Flush.Final] = []
  /// What may have nothing left to do.
  var jobs: [JobID] = []
  /// What has nothing left to do, its entry neither.
  var done: Set<JobID> = []
}
