package import Domain
import Loop
import RedisClient
import TLS

/// Stores messages (design D10), once for each idempotency key. Owns the queue of inline messages that are stored
/// together, and the connection of messages that replicas must confirm. Belongs to the loop of its session. That a
/// message is sent is not its matter.
package final class MessageAcceptance: StorePart {
  let session: RedisSession
  let receipts: ReplicaReceipts
  let acceptQueue: AcceptQueue
  /// The store over the connection of messages that replicas must confirm, once there was one.
  var confirming: Store?
  var randomWords = RandomWords()

  init(_ session: RedisSession) {
    self.session = session
    receipts = ReplicaReceipts(redis: session.redis)
    acceptQueue = AcceptQueue(
      redis: session.redis, loop: session.loop, keys: session.keys, settings: session.settings)
  }

  func close() { confirming?.close() }

  /// How long a reservation of an idempotency key counts as work in progress.
  private static let workMilliseconds: Int64 = 10_000

  /// The id that an idempotency key already stands for, before any work is done for the request; `.accepted` never
  /// comes from here. Nil: unknown key, go on with `accept`.
  package func lookUp(idempotencyKey: String, digest: [UInt8], app: AppID) async throws(StoreError) -> Acceptance? {
    let command = RedisCommand("HMGET", keys.idempotency(app, idempotencyKey), "d", "id", "st", "at")
    let held = try await ask(command).array ?? []
    guard held.count == 4, let known = held[0].bytes, let id = held[1].bytes.flatMap({ MessageID(raw: $0) }) else {
      return nil
    }
    guard known == digest else { return .keyReused }
    if held[2].text == "d" { return .repeated(id) }
    if held[2].text == "u" { return nil }
    let age = loop.wallNow.milliseconds - (held[3].integer ?? 0)
    return age < Self.workMilliseconds ? .inProgress : nil
  }

  /// Stores message and jobs (design D10). When it returns, the message survives any crash of this process. Repeating a
  /// submission whose result was lost is safe with an idempotency key only.
  package func accept(_ submission: Submission) async throws(StoreError) -> Acceptance {
    if submission.asksOwner { return try await acceptUnregistered(submission) }
    if submission.replicas > 0 { return try await acceptConfirmed(submission) }
    let placed = try await place(submission)
    if case .stored(let id, _) = placed { settle(submission, id, isConfirmed: true) }
    return placed.acceptance
  }

  /// Who has the token is asked by the script that stores the message. What is not stored so must be looked up before.
  private func acceptUnregistered(_ submission: Submission) async throws(StoreError) -> Acceptance {
    try session.checkCondition()
    guard submission.replicas == 0, submission.idempotency == nil, submission.id == nil,
      let inline = InlineMessage(submission)
    else {
      return .mayBeRegistered
    }
    let (id, buckets) = (identify(submission), TokenBuckets(of: submission.targets[0].device, submission.app, session))
    var entry = entry(of: inline, id, submission)
    entry.unregistered = buckets
    switch await acceptQueue.stored(entry, in: lane(of: inline, id, submission.urgency)) {
    case .stored: return .accepted(id)
    case .failed(let error): throw error
    case .mayBeRegistered: return .mayBeRegistered
    }
  }

  /// As `accept`, for many at once, in their order. Only for those that can be kept whole and ask for nothing else: nil
  /// says that nothing was done for one.
  package func acceptInline(_ submissions: some Collection<Submission>) async -> [Result<MessageID, StoreError>?] {
    do throws(StoreError) { try session.checkCondition() } catch { return submissions.map { _ in .failure(error) } }
    let gathered = GatheredInlineMessages(count: submissions.count)
    await withUnsafeContinuation { (waiter: UnsafeContinuation<Void, Never>) in
      for (place, submission) in submissions.enumerated() {
        guard submission.idempotency == nil, submission.replicas == 0, submission.id == nil,
          let inline = InlineMessage(submission)
        else { continue }
        let id = identify(submission)
        gathered.left += 1
        acceptQueue.store(entry(of: inline, id, submission), in: lane(of: inline, id, submission.urgency)) { stored in
          gathered.results[place] = stored.fault.map { .failure($0) } ?? .success(id)
          gathered.left -= 1
          if gathered.left == 0 { waiter.resume() }
        }
      }
      // None is stored before the loop's turn ends.
      if gathered.left == 0 { waiter.resume() }
    }
    return gathered.results
  }

  /// What came of storing a message.
  enum Placing {
    case stored(MessageID, isRepeated: Bool)
    case settled(Acceptance)

    var acceptance: Acceptance {
      switch self {
      case .stored(let id, let isRepeated): isRepeated ? .repeated(id) : .accepted(id)
      case .settled(let acceptance): acceptance
      }
    }
  }

  func place(_ submission: Submission) async throws(StoreError) -> Placing {
    precondition(submission.targets.count <= Int(UInt16.max), "more targets than a message takes")
    try session.checkCondition()
    precondition(submission.targets.isEmpty || submission.audience == nil, "a message has targets or an audience")
    var submission = submission
    var id = submission.id ?? identify(submission)
    var repeated = false
    if let idempotency = submission.idempotency {
      switch try await reserve(idempotency.key, digest: idempotency.digest, id: id, app: submission.app) {
      case .new(let until): submission.keyedUntil = until
      case .again(let earlier, let until):
        id = earlier
        repeated = true
        submission.keyedUntil = until
      case .is(let acceptance): return .settled(acceptance)
      }
    }
    try await place(submission, as: id, isRepeated: repeated)
    return .stored(id, isRepeated: repeated)
  }

  /// Stores a message whose idempotency key, if it has one, is reserved. Once for each key, whoever comes when.
  func place(_ submission: Submission, as id: MessageID, isRepeated: Bool) async throws(StoreError) {
    if !isRepeated, submission.id == nil, let inline = InlineMessage(submission) {
      var entry = entry(of: inline, id, submission)
      entry.keyedUntil = submission.keyedUntil
      return try await acceptQueue.store(entry, in: lane(of: inline, id, submission.urgency))
    }
    if let brake = submission.errorBrake, submission.count >= brake.minimum {
      try await MessageControl(session).watch(id)
    }
    if let audience = submission.audience, !MessageSpread.parts(of: audience).isEmpty {
      try await store(submission, audience, id: id)
    } else {
      await giveWay(submission)
      var byPartition = byPartition(submission)
      if let split = submission.split(id) {
        await giveWay(submission)
        byPartition = byPartition.mapValues { targets in targets.map { $0.shared(out: split) } }
      }
      try await store(
        submission, id: id, byPartition: byPartition, mayBeKnown: isRepeated || submission.id != nil)
    }
  }

  /// Only if there is much to do: small messages that come together are stored in the order in which they come.
  private func giveWay(_ submission: Submission) async { if submission.count > 64 { await loop.giveWay() } }

  /// Its home is the partition of its only device.
  private func lane(of inline: InlineMessage, _ id: MessageID, _ urgency: Urgency) -> AcceptQueue.Lane {
    let home = keys.home(id)
    return AcceptQueue.Lane(
      partition: home, app: inline.app,
      stream: StreamID(partition: home, credential: inline.credential, urgency: urgency))
  }

  private func entry(of inline: InlineMessage, _ id: MessageID, _ submission: Submission) -> AcceptQueue.Entry {
    if let recent = settings.recentMessages, let message = submission.message { recent.put(id, message) }
    let packed = inline.packed
    var arguments = RedisCommand()
    arguments.reserve(bytes: packed.count + 48)
    arguments.append(id.raw)
    arguments.append(packed)
    return AcceptQueue.Entry(id: id, arguments: arguments, life: Int64(inline.ttl) + settings.retentionSeconds)
  }

  private func byPartition(_ submission: Submission) -> [Int: [SubmissionTarget]] {
    if submission.targets.count == 1 {
      return [session.partition(of: submission.targets[0].device, in: submission.app): submission.targets]
    }
    return Dictionary(grouping: submission.targets) { session.partition(of: $0.device, in: submission.app) }
  }

  /// An id for a message, with its home among the partitions that it goes to.
  package func identify(_ submission: Submission) -> MessageID {
    let random = randomWords.next()
    let home: Int
    if let audience = submission.audience, case let aimed = MessageSpread.parts(of: audience), !aimed.isEmpty {
      home = aimed[Int(random % UInt64(aimed.count))].partition
    } else {
      home =
        submission.targets.indices.reduce(nil as Int?) { least, place in
          let partition = session.partition(of: submission.targets[place].device, in: submission.app)
          return min(least ?? partition, partition)
        } ?? Int(random % UInt64(settings.partitions))
    }
    return MessageID(acceptedAt: submission.acceptedAt, partition: home, random: random)
  }

  /// Ends the reservation of its idempotency key. The message is stored whatever comes of this; without it a repeat
  /// stores it once more, without effect.
  func settle(_ submission: Submission, _ id: MessageID, isConfirmed: Bool) {
    guard let idempotency = submission.idempotency else { return }
    let key = keys.idempotency(submission.app, idempotency.key)
    redis.send(Scripts.confirm, keys: [key], [.bytes(id.raw), isConfirmed ? "d" : "u"]) { _ in }
  }

  /// A message is stored for a key only while that lives.
  static let keyHasEnded = StoreError.unavailable(
    "the request took longer than its Idempotency-Key is remembered", retryAfter: 1)

  enum Reservation {
    case new(until: Int64)
    case again(MessageID, until: Int64)
    case `is`(Acceptance)
  }

  func reserve(_ key: String, digest: [UInt8], id: MessageID, app: AppID) async throws(StoreError)
    -> Reservation
  {
    let reply = try await ask(
      Scripts.reserve, keys: [keys.idempotency(app, key)],
      [
        .bytes(digest), .bytes(id.raw), .number(settings.idempotencySeconds), .number(Self.workMilliseconds),
      ])
    guard let answer = reply.array, answer.count > 1, let word = answer[0].text,
      let held = answer[1].bytes.flatMap({ MessageID(raw: $0) })
    else {
      throw .unavailable("an idempotency record is damaged", retryAfter: 60)
    }
    let until = answer.count > 2 ? answer[2].integer ?? 0 : 0
    switch word {
    case "new": return .new(until: until)
    case "again": return .again(held, until: until)
    case "done": return .is(.repeated(held))
    case "busy": return .is(.inProgress)
    default: return .is(.keyReused)
    }
  }

  private func store(
    _ submission: Submission, id: MessageID, byPartition: [Int: [SubmissionTarget]], mayBeKnown: Bool
  ) async throws(StoreError) {
    let home = keys.home(id)
    let partitions = byPartition.isEmpty ? [home] : byPartition.keys.sorted()
    var parts: [[MessageShard]] = []
    for partition in partitions {
      await giveWay(submission)
      parts.append(
        MessageShard.steps(
          partition: partition, targets: byPartition[partition] ?? [], urgency: submission.urgency,
          targetsPerJob: settings.targetsPerJob))
    }
    let spreads = partitions != [home] || submission.schedule != nil || parts[0].count > 1
    var fields = messageFields(submission, id, partitions, spreads: spreads)
    if !spreads {
      fields.append("b", submission.body)
      return try await storeHere(submission, id, &fields, parts[0][0], mayBeKnown: mayBeKnown)
    }
    fields.append("left", parts.count)
    fields.append("pn", parts.map { $0.map { String($0.count) }.joined(separator: "+") }.joined(separator: ","))
    var packed: [(field: String, packed: [UInt8])] = []
    for steps in parts {
      await giveWay(submission)
      packed += steps.enumerated().map { (MessageSpread.spreadField($1.partition, $0), $1.packed) }
    }
    let fresh = try await storeHome(id, submission, fields, packed)
    guard submission.schedule == nil else { return }
    if fresh {
      try await MessageSpread(session).spread(id, parts, ttl: submission.ttl, app: submission.app)
    } else {
      // A message known before spreads as it was stored then.
      try await MessageSpread(session).finishSpreading(id)
    }
  }

  /// A message whose targets all live in its home.
  private func storeHere(
    _ submission: Submission, _ id: MessageID, _ fields: inout MessageFields, _ part: MessageShard, mayBeKnown: Bool
  ) async throws(StoreError) {
    let home = part.partition
    fields.append("st", MessageSchedule.queuedState)
    var entry = AcceptQueue.Entry(
      id: id, keys: RedisCommand(), arguments: RedisCommand(), deliveries: part.count,
      life: Int64(submission.ttl) + settings.retentionSeconds, mayBeKnown: mayBeKnown, keyedUntil: submission.keyedUntil
    )
    keys.appendMessage(id, to: &entry.keys)
    for stream in part.streams { entry.keys.append(keys.stream(home, stream)) }
    entry.arguments.reserve(bytes: fields.pairs.size + part.size + 64)
    entry.arguments.append(part.streams.count)
    entry.arguments.append(fields.pairs.count)
    entry.arguments.append(fields.pairs)
    part.append(to: &entry.arguments, ttl: submission.ttl, app: submission.app)
    try await acceptQueue.store(entry, in: AcceptQueue.Lane(partition: home, app: submission.app))
  }

  /// Seconds that are left to store a message of which something was staged.
  private static let stagedSeconds: Int64 = 3_600

  /// False: it was stored before. What one script cannot take is staged before it, piece by piece.
  func storeHome(
    _ id: MessageID, _ submission: Submission, _ fields: MessageFields, _ parts: [(field: String, packed: [UInt8])]
  ) async throws(StoreError) -> Bool {
    let home = keys.home(id)
    let schedule = submission.schedule
    var fields = fields
    var parts = parts
    var staged: Int64 = 0
    if parts.reduce(submission.body.count, { $0 + $1.packed.count }) > MessageShard.bytesPerStep {
      guard try await stage("b", [], of: id, in: keys.stagedBody(id)) else { return false }
      // A script would copy it twice, which takes milliseconds of a megabyte.
      var body = RedisCommand("HSET", keys.stagedBody(id), "b")
      body.append(submission.body)
      _ = try await ask(body, partition: home)
      for (field, value) in parts {
        guard try await stage(field, value, of: id, in: keys.spread(id)) else { return false }
        staged += 1
      }
      parts = []
    } else {
      fields.append("b", submission.body)
    }
    fields.append("st", schedule == nil ? "s" : MessageSchedule.waitingState)
    if let schedule {
      fields.append("at", schedule.startAt.milliseconds)
      fields.append("v", 1)
      fields.append("sl", schedule.local.map { String($0.seconds) } ?? "")
      if let first = schedule.first {
        fields.append("fs", first.time.milliseconds)
        fields.append("fz", first.zone)
      }
    }
    let life = MessageSchedule(session).listingLife(
      ttl: submission.ttl, acceptedAt: submission.acceptedAt, startAt: schedule?.last)
    var run = ScriptRun(
      keys: [
        keys.message(id), keys.spread(id), schedule == nil ? keys.spreading(home) : keys.scheduled(home),
        keys.segment(home, id.hour),
        keys.listing(home, submission.app, id.hour), keys.hours(home, submission.app), keys.inlineMessages(home),
        keys.keyed(home, id.hour), keys.hourEnds(home, submission.app), keys.stagedBody(id),
      ],
      [
        .bytes(id.raw), .number(id.hour), .number(life), .number((schedule?.startAt ?? loop.wallNow).milliseconds),
        .number(Int64(fields.pairs.count)),
      ])
    run.arguments.append(fields.pairs)
    run.arguments.append(parts.count)
    for part in parts {
      run.arguments.append(part.field)
      run.arguments.append(part.packed)
    }
    run.arguments.append(staged)
    run.arguments.append(settings.idempotencySeconds)
    run.arguments.append(submission.keyedUntil ?? 0)
    if submission.keyedUntil == nil { run.arguments.append("") } else { run.arguments.append(id.raw) }
    switch try await ask(Scripts.acceptHome, [run], partition: home).first?.integer {
    case 1: return true
    case 0: return false
    case -2: throw .unavailable("the request took longer than what was stored of it is kept", retryAfter: 1)
    default: throw Self.keyHasEnded
    }
  }

  /// A field of what goes by itself unless the message is stored. False: it was stored before.
  private func stage(_ field: String, _ value: [UInt8], of id: MessageID, in key: String) async throws(StoreError)
    -> Bool
  {
    let answer = try await ask(
      Scripts.stage, keys: [keys.message(id), key], [.number(Self.stagedSeconds), .text(field), .bytes(value)],
      partition: keys.home(id))
    return answer.integer != 0
  }

  /// All but the request itself. `spreads`: it tells home how each part ended, even if it has but one, as it may spread
  /// twice.
  func messageFields(_ submission: Submission, _ id: MessageID, _ partitions: [Int], spreads: Bool) -> MessageFields {
    var fields = MessageFields(reserving: submission.body.count + 256)
    fields.append("app", submission.app.rawValue)
    fields.append("k", submission.kind.rawValue)
    fields.append("ttl", submission.ttl)
    fields.append("tot", submission.count)
    fields.append("np", spreads ? max(2, partitions.count) : partitions.count)
    fields.append("parts", partitions.map(String.init).joined(separator: ","))
    if let split = submission.split(id) { fields.append(VariantSplit.field, split.packed) }
    if !submission.labels.isEmpty { fields.append(Labels.field, submission.labels.packed) }
    if let draft = submission.draftOf { fields.append("dr", draft.description) }
    if let draft = submission.testOf { fields.append("te", draft.description) }
    // A campaign is looked at and copied after it has ended.
    if submission.keepsContent || submission.audience != nil || submission.draftOf != nil { fields.append("bf", 1) }
    if let rate = submission.ratePerSecond { fields.append("rps", rate) }
    if let brake = submission.errorBrake { fields.append("eb", "\(brake.share),\(brake.minimum)") }
    if let replayOf = submission.replayOf { fields.append("rep", replayOf.description) }
    return fields
  }
}

private final class GatheredInlineMessages {
  var results: [Result<MessageID, StoreError>?]
  var left = 0
  init(count: Int) { results = Array(repeating: nil, count: count) }
}
