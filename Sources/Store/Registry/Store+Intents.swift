import Domain
import Loop
import RedisClient
import TLS

/// New devices of an import enter their sets in large groups, before their records: one command a set and not one a set and
/// few devices. Nobody sees them until the script that writes the record enters them into `active`, too. Everything
/// written under an intent is refused once another one has taken it over, and records while it has not entered all of its sets.
final class OpenIntent {
  let name: IntentName
  let partition: Int
  fileprivate(set) var intent = Intent()
  /// What names it and enters it into sets, on its way: the records may be sent behind that.
  fileprivate(set) var entering: [RedisPipeline] = []
  /// Scripts of those that change sets.
  fileprivate(set) var fills = 0

  init(name: IntentName, partition: Int) { (self.name, self.partition) = (name, partition) }
}

/// Of parts that are written together: names for their intents, which are of different devices and no reason for each other to take
/// over, and those that others had when they were begun.
struct OwnIntents {
  let names: [IntentName]
  /// By partition.
  fileprivate var others: [Int: [IntentName]] = [:]

  init(parts: Int, app: AppID, at now: WallTime) {
    names = (0..<parts).map { _ in IntentName(app: app, begun: now, random: SecureRandom.word()) }
  }
}

extension Store {
  /// New devices of one partition from which on it is worth it.
  private static let newcomersAtLeast = 24
  /// Steps of Redis of one script.
  private static let stepsPerFill = 160
  /// An import that is at one step for longer was cut off.
  private static let orphanedMilliseconds: Int64 = 60_000

  /// Whatever parts must know before they enter sets, for all of them at once: in a part's own time each answer would wait behind
  /// all that Redis was given by the other one, and nothing would be made meanwhile. Others' intents may end or begin later:
  /// one that is gone says nothing, and of one that is not seen the records tell.
  func foresee(_ parts: [[DeviceWrite]], _ app: AppID) async throws(StoreError) -> OwnIntents {
    var own = OwnIntents(parts: parts.count, app: app, at: loop.wallNow)
    var asked: [Int: RedisPipeline] = [:]
    var lessons: [Lesson] = []
    for part in parts {
      let new = part.indices.filter { part[$0].isNew }
      guard let partition = new.first.map({ part[$0].place.partition }) else { continue }
      if asked[partition] == nil { asked[partition] = redis.begin([RedisCommand("HKEYS", keys.intents(partition))]) }
      guard new.count >= Self.newcomersAtLeast else { continue }
      if let lesson = lesson(of: part, new, WordPlace(partition: partition, app: app)) { lessons.append(lesson) }
      await loop.giveWay()
    }
    for lesson in lessons { try await learn(lesson) }
    for (partition, pipeline) in asked {
      let names = (try await replies(pipeline).first?.array ?? []).compactMap { $0.text.flatMap(IntentName.init(raw:)) }
      own.others[partition] = names.filter { $0.app == app }
    }
    return own
  }

  /// `part`: which of `own` this is.
  func intend(
    _ writes: [DeviceWrite], _ app: AppID, _ own: OwnIntents, _ part: Int
  ) async throws(StoreError) -> OpenIntent? {
    let new = writes.indices.filter { writes[$0].isNew }
      .sorted { writes[$0].place.number < writes[$1].place.number }
    guard let partition = new.first.map({ writes[$0].place.partition }) else { return nil }
    let isWorthIt = new.count >= Self.newcomersAtLeast
    let open = OpenIntent(name: own.names[part], partition: partition)
    var hashes = Set<UInt32>(minimumCapacity: new.count)
    for at in new {
      let hash = IndexPlace(writes[at].id, app, keys).hash
      hashes.insert(hash)
      guard isWorthIt else { continue }
      writes[at].enter(in: &open.intent, hash: hash)
      writes[at].intent = open
    }
    try await takeOver(hashes, of: own.others[partition] ?? [], partition, app)
    guard isWorthIt else { return nil }
    var command = RedisCommand("HSET", keys.intents(partition), open.name.raw)
    command.append(open.intent.packed)
    // Where any of this is refused, the records are as well: nothing waits for it.
    let named = redis.begin([command])
    let filled = fill(open.intent.sets, partition, app, under: open.name)
    (open.entering, open.fills) = ([named, filled], filled.count)
    return open
  }

  /// `refused` got no records: they leave their sets, and their numbers are free again.
  func end(_ open: OpenIntent, refused: [DeviceWrite], _ app: AppID) async throws(StoreError) {
    let numbers = refused.map(\.place.number)
    if !numbers.isEmpty {
      _ = try await replies(fill(open.intent.withdrawing(numbers), open.partition, app, under: open.name))
    }
    let end = end(open.name, open.partition, free: numbers)
    _ = try await ask(Scripts.endIntent, keys: end.keys, end.arguments)
  }

  private func end(_ name: IntentName, _ partition: Int, free: [Int]) -> (keys: [String], arguments: [RedisArgument]) {
    (
      keys: [keys.intents(partition), keys.freeNumbers(partition, name.app)],
      arguments: [.text(name.raw)] + free.map { .number(Int64($0)) }
    )
  }

  /// Changes sets as long as the intent is there.
  private func fill(
    _ sets: [SetChanges], _ partition: Int, _ app: AppID, under name: IntentName
  ) -> RedisPipeline {
    let words = words(partition, app)
    var rest = sets.lazy.flatMap { sets in sets.byBucket.lazy.map { (sets.block, $0) } }.makeIterator()
    return redis.begin(Scripts.fillSets) {
      var sum = SetRuns()
      while sum.weight < Self.stepsPerFill, let (block, (bucket, change)) = rest.next() {
        sum.append(change, in: bucket, block: block, partition, app, keys, words)
      }
      guard !sum.isEmpty else { return nil }
      var run = ScriptRun()
      run.keys.append(keys.intents(partition))
      run.arguments.append(name.raw)
      sum.write(to: &run)
      return run
    }
  }

  // MARK: Imports that were cut off

  /// Takes over what others intend for devices with one of these hashes, and what is too old: of two imports of one device the
  /// later one goes on, and leaves nothing of the other behind.
  private func takeOver(
    _ hashes: Set<UInt32>, of others: [IntentName], _ partition: Int, _ app: AppID
  ) async throws(StoreError) {
    for name in others {
      let held = try await ask(RedisCommand("HGET", keys.intents(partition), name.raw), partition: partition)
      guard let bytes = held.bytes, let intent = try? Intent(packed: bytes) else { continue }
      let isShared = intent.newcomers.contains { hashes.contains($0.hash) }
      if isShared || isOrphaned(name, loop.wallNow) { try await undo(name, partition) }
    }
  }

  private func isOrphaned(_ name: IntentName, _ now: WallTime) -> Bool {
    now.milliseconds - name.begun.milliseconds > Self.orphanedMilliseconds
  }

  /// Undoes what imports left behind in a partition that were cut off.
  func undoOrphans(_ partition: Int, now: WallTime) async throws(StoreError) {
    let names = try await ask(RedisCommand("HKEYS", keys.intents(partition)), partition: partition)
    for name in (names.array ?? []).compactMap({ $0.text.flatMap(IntentName.init(raw:)) })
    where isOrphaned(name, now) {
      try await undo(name, partition)
    }
  }

  private func undo(_ old: IntentName, _ partition: Int) async throws(StoreError) {
    let app = old.app
    let name = IntentName(app: app, begun: loop.wallNow, random: SecureRandom.word())
    let held = try await ask(
      Scripts.takeIntent, keys: [keys.intents(partition)], [.text(old.raw), .text(name.raw)], partition: partition)
    guard let bytes = held.bytes else { return }
    var lost: [Intent.Newcomer] = []
    // One that cannot be read is left to `reindex`.
    if let intent = try? Intent(packed: bytes) {
      let places = intent.newcomers.map { DevicePlace(partition: partition, number: $0.number) }
      let parts = try await parts(places, app: app)
      lost = zip(intent.newcomers, parts).filter { $1.part == nil }.map(\.0)
      let withdrawn = fill(intent.withdrawing(lost.map(\.number)), partition, app, under: name)
      guard try await replies(withdrawn, partition: partition).allSatisfy({ $0.integer == 1 }) else { return }
      let joined = lost.compactMap { newcomer in
        newcomer.user.map { ($0, DevicePlace(partition: partition, number: newcomer.number)) }
      }
      try await leave(joined, app: app)
    }
    let end = end(name, partition, free: lost.map(\.number))
    _ = try await ask(Scripts.endIntent, keys: end.keys, end.arguments, partition: partition)
  }

  /// What is intended at the moment: numbers of an app, and a text that is another one once anything else is intended.
  func intended(_ partition: Int, _ app: AppID) async throws(StoreError) -> (numbers: Set<Int>, edition: [UInt8]) {
    let held = try await ask(RedisCommand("HGETALL", keys.intents(partition)), partition: partition)
    var numbers = Set<Int>()
    var edition: [UInt8] = []
    for (name, packed) in pairs(held.array ?? []) {
      edition += name
      guard IntentName(raw: String(decoding: name, as: UTF8.self))?.app == app else { continue }
      if let intent = try? Intent(packed: packed) { numbers.formUnion(intent.newcomers.map(\.number)) }
    }
    return (numbers, edition)
  }
}
