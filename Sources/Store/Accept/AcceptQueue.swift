import Domain
import Loop
import RedisClient

/// Messages whose targets all live in one partition, on their way to Redis, in the order of their acceptance. One
/// script of a lane is at work at a time, and what comes meanwhile goes together with the next: a message alone waits
/// for nothing, and many share what a script costs by itself.
final class AcceptQueue {
  struct Lane: Hashable {
    var partition: Int
    var app: AppID
    /// Of inline messages: the stream that they go to.
    var stream: StreamID?
  }
  struct Entry {
    var id: MessageID
    /// Of the message, and its streams; of an inline message none.
    var keys = RedisCommand()
    /// As the script takes them for one message.
    var arguments: RedisCommand
    var deliveries = 1
    /// Seconds for which it stays listed.
    var life: Int64
    /// It may have been stored by an earlier request; never true of an inline message.
    var mayBeKnown = false
    /// When its idempotency key ends, in milliseconds of Redis' clock; nil: it has none.
    var keyedUntil: Int64?
    /// Of an inline message to a raw token: it is stored only if no device can be registered with the token.
    var unregistered: TokenBuckets?
  }
  /// What became of an entry.
  enum Stored {
    case stored
    case failed(StoreError)
    /// Nothing was done: a device may be registered with its token.
    case mayBeRegistered

    var fault: StoreError? { if case .failed(let error) = self { error } else { nil } }
  }
  private final class Waiting {
    let entry: Entry
    let done: (Stored) -> Void
    init(_ entry: Entry, _ done: @escaping (Stored) -> Void) { (self.entry, self.done) = (entry, done) }
  }
  private final class Row {
    var waiting = FIFO<Waiting>()
    var isAtWork = false
    var isDue = false
    /// The keys that scripts of an hour begin with.
    var keys: (hour: Int64, command: RedisCommand)?
    /// Of the stream of inline messages.
    let stream: String?
    init(_ lane: Lane) { stream = lane.stream?.name }
  }

  /// What one script takes, so that it stays well below a millisecond; one message alone may be more.
  private static let messagesPerScript = 16
  private static let deliveriesPerScript = 64
  private static let bytesPerScript = 32_768
  private static let inlinePerScript = 128
  private static let bytesOfInlinePerScript = 131_072
  /// Rows that are kept with nothing to do, so that their keys need not be made again.
  private static let idleRows = 4_096

  private let redis: Redis
  private let loop: EventLoop
  private let keys: Keys
  private let settings: StoreSettings
  private var rows: [Lane: Row] = [:]
  private var due: [(lane: Lane, row: Row)] = []

  init(redis: Redis, loop: EventLoop, keys: Keys, settings: StoreSettings) {
    self.redis = redis
    self.loop = loop
    self.keys = keys
    self.settings = settings
  }

  /// Returns when it is stored.
  func store(_ entry: Entry, in lane: Lane) async throws(StoreError) {
    switch await stored(entry, in: lane) {
    case .stored: return
    case .failed(let error): throw error
    case .mayBeRegistered: preconditionFailure("nobody asked whether a device has the token")
    }
  }
  func stored(_ entry: Entry, in lane: Lane) async -> Stored {
    await withUnsafeContinuation { done in store(entry, in: lane) { done.resume(returning: $0) } }
  }

  /// The same; `done` is called once, on the loop.
  func store(_ entry: Entry, in lane: Lane, done: @escaping (Stored) -> Void) {
    let row: Row
    if let known = rows[lane] {
      row = known
    } else {
      row = Row(lane)
      rows[lane] = row
    }
    row.waiting.append(Waiting(entry, done))
    if !row.isAtWork { send(row, of: lane) }
  }

  /// At the end of the turn: with all that still comes in it.
  private func send(_ row: Row, of lane: Lane) {
    guard !row.isDue else { return }
    row.isDue = true
    due.append((lane, row))
    guard due.count == 1 else { return }
    loop.atEndOfTurn { [self] in
      let rows = due
      due.removeAll(keepingCapacity: true)
      for (lane, row) in rows {
        row.isDue = false
        row.isAtWork = true
        send(next(of: row, lane), row, lane)
      }
    }
  }

  private func next(of row: Row, _ lane: Lane) -> [Waiting] {
    let isOfInline = lane.stream != nil
    let most = isOfInline ? Self.inlinePerScript : Self.messagesPerScript
    let mostDeliveries = isOfInline ? Self.inlinePerScript : Self.deliveriesPerScript
    let mostBytes = isOfInline ? Self.bytesOfInlinePerScript : Self.bytesPerScript
    var batch: [Waiting] = []
    var deliveries = 0
    var bytes = 0
    while let first = row.waiting.first, batch.count < most {
      deliveries += first.entry.deliveries
      bytes += first.entry.keys.size + first.entry.arguments.size
      let fits = deliveries <= mostDeliveries && bytes <= mostBytes
      guard batch.isEmpty || fits && first.entry.id.hour == batch[0].entry.id.hour else { break }
      batch.append(first)
      _ = row.waiting.popFirst()
    }
    return batch
  }

  private func send(_ batch: [Waiting], _ row: Row, _ lane: Lane) {
    store(batch, row, lane, look: batch.contains { $0.entry.mayBeKnown }) { [self] result in
      guard isOfSome(result, lane), batch.count > 1 else {
        settle(batch, result, lane)
        return goOn(row, lane)
      }
      // What is wrong with one must not refuse the others. Those that were stored are found.
      for (place, waiting) in batch.enumerated() {
        store([waiting], row, lane, look: true) { [self] result in
          settle([waiting], result, lane)
          if place == batch.count - 1 { goOn(row, lane) }
        }
      }
    }
  }

  private func store(
    _ batch: [Waiting], _ row: Row, _ lane: Lane, look: Bool, done: @escaping (Result<RedisReply, RedisFault>) -> Void
  ) {
    if lane.stream != nil {
      redis.send(Scripts.acceptInline, run(batch, lane, row), done)
    } else {
      redis.send(Scripts.acceptHere, run(batch, lane, row, look: look), done)
    }
  }

  /// What it says may be the fault of some of a batch. Of inline messages all or none are stored.
  private func isOfSome(_ result: Result<RedisReply, RedisFault>, _ lane: Lane) -> Bool {
    switch result {
    case .failure(.refused): lane.stream == nil
    case .failure: false
    case .success(let reply): reply.integer == Self.tooLate
    }
  }
  /// A script's word for a key that may have ended: nothing was done.
  private static let tooLate: Int64 = 0

  private func settle(_ batch: [Waiting], _ result: Result<RedisReply, RedisFault>, _ lane: Lane) {
    var stored = Stored.stored
    switch result {
    case .failure(let failure): stored = .failed(StoreError(failure, lane.partition))
    case .success(let reply):
      if reply.integer == Self.tooLate { stored = .failed(MessageAcceptance.keyHasEnded) }
      if let left = reply.bytes {
        let left = Set(left)
        for (place, waiting) in batch.enumerated() {
          waiting.done(left.contains(UInt8(place)) ? .mayBeRegistered : .stored)
        }
        return
      }
    }
    for waiting in batch { waiting.done(stored) }
  }

  private func goOn(_ row: Row, _ lane: Lane) {
    row.isAtWork = false
    if !row.waiting.isEmpty { return send(row, of: lane) }
    if rows.count > Self.idleRows, rows[lane] === row { rows[lane] = nil }
  }

  private func keys(of row: Row, _ lane: Lane, _ hour: Int64) -> RedisCommand {
    if let known = row.keys, known.hour == hour { return known.command }
    let (partition, app) = (lane.partition, lane.app)
    var command = RedisCommand()
    command.append(keys.sequence(partition))
    command.append(keys.ready(partition))
    command.append(keys.waiting(partition))
    command.append(keys.inlineMessages(partition))
    command.append(keys.listing(partition, app, hour))
    command.append(keys.hours(partition, app))
    command.append(keys.keyed(partition, hour))
    command.append(keys.hourEnds(partition, app))
    if let stream = row.stream {
      command.append(keys.stream(partition, stream))
    } else {
      command.append(keys.segment(partition, hour))
      command.append(keys.segments(partition))
    }
    row.keys = (hour, command)
    return command
  }

  private func run(_ batch: [Waiting], _ lane: Lane, _ row: Row) -> ScriptRun {
    let (partition, hour) = (lane.partition, batch[0].entry.id.hour)
    var run = ScriptRun()
    run.keys = keys(of: row, lane, hour)
    let asked = batch.indices.filter { batch[$0].entry.unregistered != nil }
    for place in asked { batch[place].entry.unregistered?.appendKeys(to: &run.keys) }
    var (life, size) = (Int64(0), 128 + 24 * batch.count)
    for waiting in batch {
      life = max(life, waiting.entry.life)
      size += waiting.entry.arguments.size
    }
    run.arguments.reserve(bytes: size)
    run.arguments.append(hour)
    run.arguments.append(life)
    run.arguments.append(keys.wakeup)
    run.arguments.append(partition)
    run.arguments.append(row.stream ?? "")
    run.arguments.append(length: batch.count * InlineMessages.rawIDLength) { wire in
      for waiting in batch { waiting.entry.id.appendRaw(to: &wire) }
    }
    appendKeyed(batch, to: &run.arguments)
    run.arguments.append(length: asked.count * (1 + TokenBuckets.hashLength)) { wire in
      for place in asked {
        wire.append(UInt8(place))
        batch[place].entry.unregistered?.appendHashes(to: &wire)
      }
    }
    for waiting in batch { run.arguments.append(waiting.entry.arguments) }
    return run
  }

  /// As `keyed` takes them (`Lua/Parts`).
  private func appendKeyed(_ batch: [Waiting], to arguments: inout RedisCommand) {
    let keyed = batch.filter { $0.entry.keyedUntil != nil }
    arguments.append(settings.idempotencySeconds)
    arguments.append(keyed.compactMap(\.entry.keyedUntil).min() ?? 0)
    arguments.append(length: keyed.count * InlineMessages.rawIDLength) { wire in
      for waiting in keyed { waiting.entry.id.appendRaw(to: &wire) }
    }
  }

  private func run(_ batch: [Waiting], _ lane: Lane, _ row: Row, look: Bool) -> ScriptRun {
    let (partition, hour) = (lane.partition, batch[0].entry.id.hour)
    var run = ScriptRun()
    var size = 512
    for waiting in batch { size += waiting.entry.keys.size + waiting.entry.arguments.size + 24 }
    run.keys.reserve(bytes: size)
    run.arguments.reserve(bytes: size)
    run.keys.append(keys(of: row, lane, hour))
    run.arguments.append(hour)
    run.arguments.append(settings.retentionSeconds)
    run.arguments.append(batch.reduce(0) { max($0, $1.entry.life) })
    run.arguments.append(keys.wakeup)
    run.arguments.append(partition)
    run.arguments.append(look ? "1" : "0")
    run.arguments.append(batch.count)
    run.arguments.append(batch.reduce(0) { $0 + $1.entry.deliveries })
    appendKeyed(batch, to: &run.arguments)
    for waiting in batch { run.arguments.append(waiting.entry.id.raw) }
    for waiting in batch {
      run.keys.append(waiting.entry.keys)
      run.arguments.append(waiting.entry.arguments.count + 1)
      run.arguments.append(waiting.entry.arguments)
    }
    run.keys.append(keys.tallies(partition))
    return run
  }
}
