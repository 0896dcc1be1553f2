import Domain
import RedisClient

/// What a flush writes of one audience.
private struct MemberOutcomes {
  /// Members that turn alike.
  struct Group: Hashable {
    var code: OutcomeCode
    var counter: [UInt8]
    var job: Int
  }
  /// In the order in which they came: finals before retries, so that a final one wins.
  private(set) var groups: [(group: Group, indexes: [UInt32])] = []
  private var places: [Group: Int] = [:]
  var records: [RedisArgument] = []
  var retries: [RedisArgument] = []
  /// The provider's id of each slice.
  var slices: [Int: String] = [:]
  var firstAttempt: WallTime?
  var keepsReceipts = false
  /// Some of them count towards a cap.
  var counts = false

  mutating func add(_ group: Group, _ indexes: some Sequence<UInt32>) {
    let place = places[group] ?? groups.count
    if place == groups.count {
      groups.append((group, []))
      places[group] = place
    }
    groups[place].indexes += indexes
  }

  mutating func attempted(at: WallTime?) {
    guard let at else { return }
    firstAttempt = min(firstAttempt ?? at, at)
  }

  var arguments: [RedisArgument] {
    var arguments: [RedisArgument] = [
      firstAttempt.map { .number($0.milliseconds) } ?? "", .number(Int64(groups.count)),
      .number(Int64(records.count / 3)), .number(Int64(retries.count / 4)), .number(Int64(slices.count)),
    ]
    for (group, indexes) in groups {
      let windows = CodeWindow.windows(indexes, group.code)
      arguments += [
        .number(Int64(group.code.rawValue)), .bytes(group.counter), .number(Int64(group.job)),
        group.code == .accepted && !keepsReceipts && !counts ? "0" : "1", .number(Int64(windows.count)),
      ]
      for window in windows { arguments += [.number(Int64(window.start)), .bytes(window.codes)] }
    }
    arguments += records + retries
    for (slice, id) in slices.sorted(by: { $0.key < $1.key }) { arguments += [.number(Int64(slice)), .text(id)] }
    return arguments
  }
}

/// Codes to be written into a stretch of a message's codes: 0 where nothing is.
struct CodeWindow: Hashable {
  /// The byte where it begins.
  var start: Int
  var codes: [UInt8]

  /// With more bytes between two members another window begins, and where one has this many: Lua has them on its stack.
  private static let gap = 48
  private static let longest = 1_024

  static func windows(_ indexes: [UInt32], _ code: OutcomeCode) -> [CodeWindow] {
    var windows: [CodeWindow] = []
    for index in indexes.sorted() {
      let byte = Int(index) / 2
      let bits = index.isMultiple(of: 2) ? code.rawValue << 4 : code.rawValue
      if let last = windows.last, byte - last.start < min(last.codes.count + gap, longest) {
        let place = byte - last.start
        while windows[windows.count - 1].codes.count <= place { windows[windows.count - 1].codes.append(0) }
        windows[windows.count - 1].codes[place] |= bits
      } else {
        windows.append(CodeWindow(start: byte, codes: [bits]))
      }
    }
    return windows
  }
}

extension OutcomeWriter {
  func sendAimed(_ chunk: FlushChunk, _ flush: Flush, _ pruned: Int) async throws(StoreError) -> FlushReply {
    let partition = flush.lease.partition
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
      names += keys.part(partition, id) + [keys.kept(partition, id.hour)]
      arguments += [.bytes(id.raw), .number(id.hour)]
      // A part that has ended has nothing left to turn.
      let part = try await AudienceShards(session).shard(id, flush.lease)
      arguments += (part.map { Self.members($0, outcomes) } ?? MemberOutcomes()).arguments
      parts[id] = part
    }
    arguments.append(.number(Int64(chunk.jobs.count)))
    for job in chunk.jobs {
      names.append(keys.stream(partition, job.id.stream.name))
      let part = parts[job.message]
      let own = part?.job(onceAt: job.id.sequence)
      arguments += [
        .number(Int64(places[job.message] ?? 0)),
        .text(own.flatMap { part?.entry(of: $0) } ?? job.id.entry(of: job.message)), .text(job.id.stream.name),
        .number(Int64(own?.range.lowerBound ?? 0)),
      ]
    }
    let caps = CapCounts(session).arguments(entries, partition)
    names += caps.names + [keys.tallies(partition)]
    arguments.append(.bytes(caps.packed))
    return try flushed(try await ask(Scripts.flushAudience, keys: names, arguments, under: flush.lease))
  }

  private static func members(_ part: AudienceShard, _ outcomes: MessageOutcomes) -> MemberOutcomes {
    var members = MemberOutcomes()
    members.keepsReceipts = part.keepsReceipts
    members.counts = outcomes.finals.contains { $0.cap != nil }
    for final in outcomes.finals {
      let index = final.delivery.index
      guard let job = part.job(of: index) else { continue }
      let counter = part.counter(of: index, final.outcome, final.reason)
      members.add(
        .init(code: OutcomeCode(final.outcome), counter: counter.field, job: job.range.lowerBound),
        CollectionOfOne(UInt32(index)))
      members.attempted(at: final.attempts.first?.at)
      if final.outcome == .accepted, let id = final.providerID, let slice = part.slices[index] {
        members.slices[slice.number] = id
      }
      let keeps =
        final.outcome == .accepted
        ? part.keepsReceipts : final.reason != nil || !final.attempts.isEmpty
      if keeps { members.records += arguments(final).prefix(3) }
    }
    for accepted in outcomes.accepted {
      members.attempted(at: accepted.firstAttempt)
      for segment in part.snapshot.segments {
        let own = accepted.indexes.filter { segment.range.contains(Int($0)) }
        guard let first = own.first, let job = part.job(of: Int(first)) else { continue }
        let counter = part.counter(of: Int(first), .accepted, nil)
        members.add(.init(code: .accepted, counter: counter.field, job: job.range.lowerBound), own)
      }
    }
    for retry in outcomes.retries {
      let index = retry.target.delivery.index
      guard let job = part.job(of: index) else { continue }
      members.add(.init(code: .waiting, counter: [], job: job.range.lowerBound), CollectionOfOne(UInt32(index)))
      members.attempted(at: retry.attempts.first?.at)
      members.retries += arguments(retry)
    }
    return members
  }
}
