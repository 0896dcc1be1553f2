package import Domain
import RedisClient

/// A job as it stands in its stream.
struct StoredJob {
  enum Content {
    case targets([PackedTarget])
    /// Members of an audience, by their index.
    case audience(Range<Int>)
    case inline(StoredInlineMessage)
  }
  var entry: String
  var id: JobID
  var message: MessageID
  var content: Content

  /// None of an audience's.
  var targets: [PackedTarget] { if case .targets(let targets) = content { targets } else { [] } }
  /// From the first index of its targets to behind the last.
  var range: Range<Int> { targets[0].index..<targets[targets.count - 1].index + 1 }
  func sequence(of index: Int) -> UInt64 { id.sequence &+ UInt64(index) &- UInt64(targets[0].index) }
}

/// The streams and retries of a partition, and all that their owner needs to send them. What was claimed is noted in the
/// session, until a flush finishes it or the lease is gone; used on its loop. A claim may hand out again what an earlier
/// owner has sent and not flushed.
package struct JobQueue: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// The streams of a partition that hold jobs, with their lengths.
  package func readyStreams(_ lease: Lease) async throws(StoreError) -> [(stream: StreamID, length: Int)] {
    try await streams(of: lease.partition)
  }

  func streams(of partition: Int) async throws(StoreError) -> [(stream: StreamID, length: Int)] {
    let names = (try await ask(RedisCommand("SMEMBERS", keys.ready(partition))).array ?? []).compactMap(\.text)
    let lengths = try await ask(names.map { RedisCommand("XLEN", keys.stream(partition, $0)) })
    return zip(names, lengths).compactMap { name, length in
      guard let stream = StreamID(partition: partition, name: name), let length = length.integer, length > 0 else {
        return nil
      }
      return (stream, Int(length))
    }
  }

  /// Jobs behind `after` in order, at most `jobs`; of an audience's job at most `targets` members, and nothing behind
  /// it until it is whole. With a member in `after`, more of that job and nothing else. Jobs stay in the stream until a
  /// flush finishes them, so a new owner starts again from nil. Jobs with nothing left to do are taken out on the way.
  /// `packed`: members of audiences as `ClaimedMembers`, but for those whose slices are stored. `heard`: hears of the
  /// messages as soon as they are known, to read them while the rest is read.
  package func claim(
    _ lease: Lease, _ stream: StreamID, after: ClaimPlace?, jobs: Int, targets: Int, packed: Bool = false,
    heard: (MessageID) -> Void = { _ in }
  ) async throws(StoreError) -> [ClaimedJob] {
    precondition(
      jobs > 0 && targets > 0 && stream.partition == lease.partition, "a claim of another partition's stream")
    var after = after
    if let place = after, place.member == ClaimPlace.start,
      let message = session.owned.inlineMessages[lease.partition]?.message(of: place.job)
    {
      return try await InlineMessages(session).claimAgain(place.job, message, lease)
    }
    while true {
      // Behind a job, whatever message stands there; or from one on.
      let from = after.map { $0.member == nil ? "(\($0.job.sequence)-\(UInt64.max)" : String($0.job.sequence) }
      let reply =
        try await ask(
          Scripts.claim,
          keys: [
            keys.lease(lease.partition), keys.stream(lease.partition, stream.name), keys.waiting(lease.partition),
            keys.inlineMessages(lease.partition),
          ], [.text(from ?? "-"), .number(Int64(jobs)), .text(stream.name)], under: lease
        ).array ?? []
      let found = reply.first?.array ?? []
      guard !found.isEmpty else { return [] }
      if let place = after, place.member != nil, Self.sequence(of: found[0]) != place.job.sequence { return [] }
      let (claims, looked, last) = try await open(
        found, inlineMessages: reply.last?.array ?? [], lease, stream, after: after, targets: targets, packed: packed,
        heard)
      if !claims.isEmpty || looked < jobs || after?.member != nil { return claims }
      guard let last else { return [] }
      after = ClaimPlace(job: JobID(stream: stream, sequence: last))
    }
  }

  /// `looked`: how many jobs there were.
  private func open(
    _ found: [RedisReply], inlineMessages values: [RedisReply], _ lease: Lease, _ stream: StreamID, after: ClaimPlace?,
    targets: Int, packed: Bool, _ heard: (MessageID) -> Void
  ) async throws(StoreError) -> (claims: [ClaimedJob], looked: Int, last: UInt64?) {
    var stored: [StoredJob] = []
    var last: UInt64?
    var empty: [String] = []
    var corrupt: [RedisReply] = []
    var hasLost = false
    var values = values[...]
    for entry in found {
      guard let name = entry.array?.first?.text else { continue }
      last = Self.sequence(of: entry) ?? last
      let isOfInline = entry.array?.last?.array?.first?.text == "s"
      let row = isOfInline ? values.popFirst() : nil
      if let inlineMessages = InlineMessages.named(entry, row, stream) {
        for inline in inlineMessages {
          stored.append(StoredJob(entry: name, id: inline.job, message: inline.message, content: .inline(inline)))
          last = inline.job.sequence
          if inline.packed == nil { heard(inline.message) }
        }
      } else if let job = Self.read(entry, stream) {
        stored.append(job)
        heard(job.message)
      } else {
        hasLost = hasLost || isOfInline
        empty.append(name)
        corrupt.append(entry)
      }
    }
    var claims: [ClaimedJob] = []
    var rest = stored[...]
    while let job = rest.first, claims.last?.isWhole ?? true {
      if case .audience(let range) = job.content {
        rest = rest.dropFirst()
        let from = after?.job == job.id ? after?.member.map { $0 + 1 } : nil
        let room = max(1, targets - claims.reduce(0) { $0 + $1.count })
        if let claim = try await AudienceMembers(session).open(
          job, range, from: from ?? range.lowerBound, lease, limit: room, packed: packed)
        {
          claims.append(claim)
        }
      } else if case .inline = job.content {
        var inlineMessages: [StoredInlineMessage] = []
        while case .inline(let inline)? = rest.first?.content {
          inlineMessages.append(inline)
          rest = rest.dropFirst()
        }
        let opened = try await InlineMessages(session).open(inlineMessages, lease)
        claims += opened.claims
        empty += opened.empty
      } else {
        let direct = rest.prefix { if case .targets = $0.content { true } else { false } }
        rest = rest.dropFirst(direct.count)
        let opened = try await open(Array(direct), lease)
        claims += opened.claims
        empty += opened.empty
        corrupt += found.filter { entry in opened.corrupt.contains { $0 == entry.array?.first?.text } }
      }
    }
    for message in Set(corrupt.compactMap(Self.message)) {
      try await CorruptRecords(session).condemnLost(of: message, lease, stream)
    }
    if !empty.isEmpty { try await drop(empty, corrupt: corrupt.count, lease, stream) }
    if hasLost { try await CorruptRecords(session).condemnLostInline(lease, stream) }
    for claim in claims { session.owned.claimed[lease.partition, default: [:]][claim.id] = claim.message }
    return (claims, stored.count + corrupt.count, last)
  }

  /// Jobs of direct sends; entries that have nothing left to do or cannot be right are named.
  private func open(_ stored: [StoredJob], _ lease: Lease) async throws(StoreError)
    -> (claims: [ClaimedJob], empty: [String], corrupt: [String])
  {
    let partition = lease.partition
    var commands: [RedisCommand] = []
    for job in stored {
      commands.append(RedisCommand("HMGET", keys.work(partition, job.message), "n", "c"))
      commands.append(RedisCommand("HGETALL", keys.slices(partition, job.message)))
      commands.append(AudienceMembers(session).codesCommand(job.message, partition, job.range))
    }
    let replies = try await ask(commands, partition: partition)
    var claims: [ClaimedJob] = []
    var empty: [String] = []
    var corrupt: [String] = []
    for (place, job) in stored.enumerated() {
      let work = replies[place * 3].array ?? []
      guard let count = work.first?.integer, let held = replies[place * 3 + 2].bytes else {
        empty.append(job.entry)
        continue
      }
      guard job.targets.allSatisfy({ $0.index < count }) else {
        empty.append(job.entry)
        corrupt.append(job.entry)
        continue
      }
      let slices = slicesByMember(replies[place * 3 + 1], of: job.message, partition)
      let codes = OutcomeCodes(held, from: job.range.lowerBound)
      let targets = job.targets.filter { codes[$0.index] == .none }.map { target in
        ClaimedTarget(
          delivery: DeliveryID(message: job.message, partition: partition, index: target.index), device: target.device,
          registered: target.address == nil, credential: job.id.stream.credential,
          sequence: job.sequence(of: target.index), address: target.address, gone: nil, facts: nil, attempts: [],
          slice: slices[target.index])
      }
      if targets.isEmpty {
        empty.append(job.entry)
      } else {
        let control = work.last?.text.flatMap { Control(packed: $0) }
        claims.append(ClaimedJob(id: job.id, message: job.message, targets: targets, control: control))
      }
    }
    var all = claims.flatMap(\.targets)
    try await readAddresses(&all, lease)
    var place = 0
    for index in claims.indices {
      let count = claims[index].targets.count
      claims[index].targets = Array(all[place..<place + count])
      place += count
    }
    return (claims, empty, corrupt)
  }

  static func sequence(of entry: RedisReply) -> UInt64? {
    entry.array?.first?.text.flatMap { StreamID.sequence(of: $0) }
  }

  static func read(_ entry: RedisReply, _ stream: StreamID) -> StoredJob? {
    guard let parts = entry.array, parts.count == 2, let name = parts[0].text,
      let sequence = sequence(of: entry), let fields = parts[1].array, fields.count >= 6,
      let message = fields[1].bytes.flatMap({ MessageID(raw: $0) }), let first = fields[3].integer
    else { return nil }
    let id = JobID(stream: stream, sequence: sequence)
    if fields.count == 6, fields[2].text == "a", let count = fields[5].integer, count > 0, first >= 0,
      first < Int64(UInt32.max), count < Int64(UInt32.max)
    {
      return StoredJob(entry: name, id: id, message: message, content: .audience(Int(first)..<Int(first + count)))
    }
    guard fields.count == 8, let indexes = fields[5].bytes,
      let targets = fields[7].bytes.flatMap({ try? PackedTarget.readAll($0) }), !targets.isEmpty,
      targets[0].index == Int(first), targets.map(\.index) == MessageShard.indexes(indexes)
    else { return nil }
    return StoredJob(entry: name, id: id, message: message, content: .targets(targets))
  }

  /// Whose an entry is, even if the rest of it cannot be read.
  private static func message(of entry: RedisReply) -> MessageID? {
    guard let fields = entry.array?.last?.array, fields.count > 1, fields[0].text != "s" else { return nil }
    return fields[1].bytes.flatMap { MessageID(raw: $0) }
  }

  /// The indexes that readable jobs of a message in this stream carry.
  static func carried(_ entries: RedisReply, of message: MessageID, _ stream: StreamID) -> Set<Int> {
    let jobs = (entries.array ?? []).compactMap { read($0, stream) }.filter { $0.message == message }
    return Set(jobs.flatMap { $0.targets.map(\.index) })
  }

  /// True if the entry is an audience's job as it was made.
  static func carries(
    _ entries: RedisReply, _ job: Snapshot.Job, of message: MessageID, _ stream: StreamID
  ) -> Bool {
    (entries.array ?? []).compactMap { read($0, stream) }.contains {
      if case .audience(job.range) = $0.content { $0.message == message } else { false }
    }
  }

  func drop(_ entries: [String], corrupt: Int, _ lease: Lease, _ stream: StreamID) async throws(StoreError) {
    let partition = lease.partition
    _ = try await ask(
      Scripts.dropJobs,
      keys: [
        keys.lease(partition), keys.stream(partition, stream.name), keys.ready(partition), keys.corrupt(partition),
      ], [.text(stream.name), .number(Int64(corrupt))] + entries.map { .text($0) }, under: lease)
  }
}
