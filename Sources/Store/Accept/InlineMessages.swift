import Domain
import RedisClient

/// A job of an inline message, as its stream's entry names it.
struct StoredInlineMessage {
  var entry: String
  var job: JobID
  var message: MessageID
  /// Nil: it is no inline message any more.
  var packed: [UInt8]?
}

/// Messages of one delivery that are kept whole (decision 0035): claimed and read at once, unfolded into the hashes that
/// every other message has as soon as more is asked of them than to be sent. What the owner of a partition has claimed of
/// them stands in the session; used on its loop. Without the lease nothing of them is read.
struct InlineMessages: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  func inline(_ id: MessageID) -> RedisCommand {
    var command = RedisCommand("HGET", keys.inlineMessages(keys.home(id)))
    command.append(id.raw)
    return command
  }

  /// From now on each of these has hashes of its own, if it is stored at all.
  func unfold(_ ids: [MessageID]) async throws(StoreError) {
    var runs: [ScriptRun] = []
    for (id, reply) in zip(ids, try await ask(ids.map(inline))) {
      guard let packed = reply.bytes, let inline = try? InlineMessage(packed: packed, hasEnded: false) else { continue }
      let home = keys.home(id)
      var run = ScriptRun(keys: [keys.inlineMessages(home), keys.message(id), keys.work(home, id)], [])
      let message = inline.messageFields(home: home)
      run.arguments.append(id.raw)
      run.arguments.append(packed)
      run.arguments.append(message.count * 2)
      for fields in [message, inline.workFields] {
        for (name, value) in fields {
          run.arguments.append(name)
          run.arguments.append(value)
        }
      }
      runs.append(run)
    }
    _ = try await ask(Scripts.unfold, runs)
  }

  // MARK: Claiming

  /// The jobs of an entry of inline messages; nil if it is none, or cannot be right.
  static func named(_ entry: RedisReply, _ values: RedisReply?, _ stream: StreamID) -> [StoredInlineMessage]? {
    guard let parts = entry.array, parts.count == 2, let name = parts[0].text,
      let base = StreamID.sequence(of: name), let fields = parts[1].array, fields.count == 2,
      fields[0].text == "s", let row = fields[1].bytes, !row.isEmpty, row.count.isMultiple(of: rawIDLength),
      let values = values?.array, values.count == row.count / rawIDLength,
      !base.addingReportingOverflow(UInt64(values.count)).overflow
    else { return nil }
    return values.enumerated().compactMap { place, value in
      let raw = Array(row[place * rawIDLength..<(place + 1) * rawIDLength])
      return MessageID(raw: raw).map {
        StoredInlineMessage(
          entry: name, job: JobID(stream: stream, sequence: base + UInt64(place)), message: $0, packed: value.bytes)
      }
    }
  }
  static let rawIDLength = 16

  /// Claims those that have something to do; also names the entries that have none such.
  func open(_ stored: [StoredInlineMessage], _ lease: Lease) async throws(StoreError)
    -> (claims: [ClaimedJob], empty: [String])
  {
    let partition = lease.partition
    var apps: [MessageID: AppID] = [:]
    var claims: [ClaimedJob?] = []
    var broken: [MessageID] = []
    var others: [Int] = []
    for (place, item) in stored.enumerated() {
      var claim: ClaimedJob?
      if keys.home(item.message) != partition {
        // Nobody writes such an entry.
      } else if let packed = item.packed {
        if let inline = try? InlineMessage(packed: packed, hasEnded: false) {
          apps[item.message] = inline.app
          var whole = claimed(item, inline.target)
          whole.stored = StoredMessage(item.message, inline)
          whole.stored?.message = settings.recentMessages?.take(item.message)
          claim = whole
        } else {
          broken.append(item.message)
        }
      } else {
        others.append(place)
      }
      claims.append(claim)
    }
    try await openUnfolded(others, of: stored, into: &claims, partition)
    if !broken.isEmpty { try await quarantine(broken, lease) }
    var targets = claims.flatMap { $0?.targets ?? [] }
    try await JobQueue(session).readAddresses(&targets, lease, apps: apps)
    var rest = targets[...]
    for place in claims.indices where claims[place] != nil {
      if let target = rest.popFirst() { claims[place]!.targets = [target] }
    }
    return (claims.compactMap { $0 }, book(stored, claims, partition))
  }

  /// Those that were unfolded since: their hashes tell what is left to do.
  private func openUnfolded(
    _ places: [Int], of stored: [StoredInlineMessage], into claims: inout [ClaimedJob?], _ partition: Int
  ) async throws(StoreError) {
    guard !places.isEmpty else { return }
    let replies = try await ask(
      places.flatMap { place in
        let id = stored[place].message
        var work = RedisCommand("HMGET", keys.work(partition, id), "n", "c")
        work.append(InlineMessage.targetField)
        return [
          work, RedisCommand("HGETALL", keys.slices(partition, id)),
          RedisCommand("HEXISTS", keys.deliveries(partition, id), "0"),
        ]
      }, partition: partition)
    for (number, place) in places.enumerated() {
      let work = replies[number * 3].array ?? []
      guard work.count == 3, work[0].integer == 1, replies[number * 3 + 2].integer == 0,
        let packed = work[2].bytes, let target = try? PackedTarget.readAll(packed), target.count == 1,
        target[0].index == 0
      else { continue }
      let item = stored[place]
      var claim = claimed(item, target[0])
      claim.targets[0].slice = JobQueue(session).slicesByMember(replies[number * 3 + 1], of: item.message, partition)[0]
      claim.control = work[1].text.flatMap { Control(packed: $0) }
      claims[place] = claim
    }
  }

  private func claimed(_ item: StoredInlineMessage, _ target: PackedTarget) -> ClaimedJob {
    let target = ClaimedTarget(
      delivery: DeliveryID(message: item.message, partition: item.job.stream.partition, index: 0),
      device: target.device, registered: target.address == nil, credential: item.job.stream.credential,
      sequence: item.job.sequence, address: target.address, gone: nil, facts: nil, attempts: [], slice: nil)
    return ClaimedJob(id: item.job, message: item.message, targets: [target])
  }

  /// Remembers what was claimed; answers the entries of which nothing was.
  private func book(_ stored: [StoredInlineMessage], _ claims: [ClaimedJob?], _ partition: Int) -> [String] {
    let book = session.owned.inlineMessages[partition] ?? InlineMessageBook()
    session.owned.inlineMessages[partition] = book
    var empty: [String] = []
    var place = 0
    while place < stored.count {
      let name = stored[place].entry
      var jobs: [(job: JobID, message: MessageID, isInline: Bool)] = []
      while place < stored.count, stored[place].entry == name {
        if let claim = claims[place] { jobs.append((claim.id, claim.message, claim.stored != nil)) }
        place += 1
      }
      if jobs.isEmpty { empty.append(name) } else { book.enter(jobs, entry: name) }
    }
    return empty
  }

  /// One that was claimed, and then given back.
  func claimAgain(_ job: JobID, _ message: MessageID, _ lease: Lease) async throws(StoreError) -> [ClaimedJob] {
    let packed = try await ask(inline(message), partition: lease.partition).bytes
    // The entry is known: only its other jobs tell when it goes.
    let again = StoredInlineMessage(entry: "", job: job, message: message, packed: packed)
    return try await open([again], lease).claims
  }

  private func quarantine(_ ids: [MessageID], _ lease: Lease) async throws(StoreError) {
    _ = try await ask(
      Scripts.dropInline,
      keys: [keys.lease(lease.partition), keys.inlineMessages(lease.partition), keys.corrupt(lease.partition)],
      ids.map { .bytes($0.raw) }, under: lease)
  }
}

extension StoredMessage {
  init(_ id: MessageID, _ inline: InlineMessage) {
    self.init(id: id, app: inline.app, body: inline.body, acceptedAt: id.acceptedAt, startedAt: id.acceptedAt)
  }
}
