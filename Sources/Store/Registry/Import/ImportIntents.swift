import Domain
import Loop
import RedisClient
import TLS

/// What new devices of an import are written under, from when they have numbers. Everything is refused once another one has taken it
/// over, as their numbers are that one's then.
///
/// Many enter their sets in large groups, before their records: one command a set and not one a set and few devices. Nobody sees them
/// until the script that writes the record enters them into `active`, too. Records are refused while not all of the sets are entered.
final class OpenIntent {
  let name: IntentName
  let partition: Int
  fileprivate(set) var intent: Intent
  /// Those that others had when the numbers were given.
  fileprivate let others: [IntentName]
  /// What tells the sets and enters them, on its way: the records may be sent behind that.
  fileprivate(set) var entering: [RedisPipeline] = []
  /// As it must be told beside the intent before records are written (`IntentName.progress`).
  fileprivate(set) var progress = 0

  init(name: IntentName, partition: Int, _ intent: Intent, others: [IntentName]) {
    (self.name, self.partition, self.intent, self.others) = (name, partition, intent, others)
  }

  var hasOthers: Bool { !others.isEmpty }

  /// Its devices enter their sets before their records, but for `active`.
  var entersSets: Bool { progress > 0 }
}

/// Intents of imports: the numbers that a step of an import will fill, noted before its records are written. Holds nothing but
/// its session, on whose loop it is used. An intent without a record is fine while its import runs.
struct ImportIntents: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// New devices of one partition from which on they enter their sets before their records.
  private static let newcomersAtLeast = 24
  /// Steps of Redis of one script.
  private static let stepsPerFill = 160
  /// An import that is at one step for longer was cut off.
  private static let orphanedMilliseconds: Int64 = 60_000

  /// Has parts learn the words of their new devices before they begin, all of them at once: in a part's own time each answer would
  /// wait behind all that Redis was given by the other one, and nothing would be made meanwhile.
  func foresee(_ parts: [DevicePart], _ app: AppID) async throws(StoreError) {
    var lessons: [Lesson] = []
    for part in parts {
      guard let partition = part.intent?.partition else { continue }
      let new = part.writes.indices.filter { part.writes[$0].isNew }
      if let lesson = StringTables(session).lesson(of: part.writes, new, WordPlace(partition: partition, app: app)) {
        lessons.append(lesson)
      }
      await loop.giveWay()
    }
    for lesson in lessons { try await StringTables(session).learn(lesson) }
  }

  /// Takes over what others intend for the same devices; and where new ones are many, they enter their sets.
  func intend(_ writes: [DeviceWrite], under open: OpenIntent, _ app: AppID) async throws(StoreError) {
    try await takeOver(besides: open)
    let new = writes.filter(\.isNew).sorted { $0.place.number < $1.place.number }
    guard new.count >= Self.newcomersAtLeast else { return }
    for write in new { write.enter(in: &open.intent) }
    var told = [
      ScriptRun(keys: [keys.intents(open.partition)], [.text(open.name.raw), .bytes(open.intent.packed)])
    ][...]
    // Where any of this is refused, the records are as well: nothing waits for it.
    let named = redis.begin(Scripts.intend) { told.popFirst() }
    let filled = fill(open.intent.sets, open.partition, app, under: open.name)
    (open.entering, open.progress) = ([named, filled], 1 + filled.count)
  }

  /// Newcomers whose numbers are not among `stored` got no records: they leave their sets, and their numbers are free again.
  func end(_ open: OpenIntent, stored: Set<Int>) async throws(StoreError) {
    let rest = open.intent.newcomers.map(\.number).filter { !stored.contains($0) }
    let places = rest.map { DevicePlace(partition: open.partition, number: $0) }
    let parts = try await DeviceRecords(session).parts(places, app: open.name.app)
    let lost = zip(rest, parts).filter { $1.part == nil }.map(\.0)
    // Nobody has seen their numbers.
    try await end(open.intent, lost, open.partition, under: open.name, freeSince: WallTime(milliseconds: 0))
  }

  /// `lost` leave their sets, and their numbers are free again; the intent goes. Nothing of this is done if it is another's.
  private func end(
    _ intent: Intent, _ lost: [Int], _ partition: Int, under name: IntentName, freeSince: WallTime
  ) async throws(StoreError) {
    if !lost.isEmpty {
      let withdrawn = fill(intent.withdrawing(lost), partition, name.app, under: name)
      guard try await replies(withdrawn, partition: partition).allSatisfy({ $0.integer == 1 }) else { return }
    }
    _ = try await ask(
      Scripts.endIntent, keys: [keys.intents(partition), keys.freeNumbers(partition, name.app)],
      [.text(name.raw), .number(freeSince.milliseconds)] + lost.map { .number(Int64($0)) }, partition: partition)
  }

  /// Changes sets as long as the intent is there.
  private func fill(
    _ sets: [SetChanges], _ partition: Int, _ app: AppID, under name: IntentName
  ) -> RedisPipeline {
    let words = StringTables(session).words(partition, app)
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

  /// Takes over what others intend for the same devices, and what is too old: of two imports of one device the later one goes on, and
  /// leaves nothing of the other behind. Intents may have ended since; of what began later the records tell.
  func takeOver(besides open: OpenIntent) async throws(StoreError) {
    guard open.hasOthers else { return }
    let partition = open.partition
    let hashes = Set(open.intent.subjects.map(\.hash))
    for name in open.others {
      let held = try await ask(RedisCommand("HGET", keys.intents(partition), name.raw), partition: partition)
      guard let bytes = held.bytes, let other = try? Intent(subjectsOf: bytes) else { continue }
      let isShared = other.subjects.contains { hashes.contains($0.hash) }
      if isShared || isOrphaned(name, loop.wallNow) { try await undo(name, partition) }
    }
  }

  private func isOrphaned(_ name: IntentName, _ now: WallTime) -> Bool {
    now.milliseconds - name.begun.milliseconds > Self.orphanedMilliseconds
  }

  /// Brings to their ends what imports left behind in a partition that were cut off.
  func undoOrphans(_ partition: Int, now: WallTime) async throws(StoreError) {
    let names = try await ask(RedisCommand("HKEYS", keys.intents(partition)), partition: partition)
    for name in (names.array ?? []).compactMap({ $0.text.flatMap(IntentName.init(raw:)) })
    where isOrphaned(name, now) {
      try await undo(name, partition)
    }
  }

  /// New devices that have no record leave sets and users, and their numbers are free again; others leave users whose they are not, and
  /// what they must know of their own users and those of them is settled.
  private func undo(_ old: IntentName, _ partition: Int) async throws(StoreError) {
    let app = old.app
    let name = IntentName(app: app, begun: loop.wallNow, random: SecureRandom.word())
    let held = try await ask(
      Scripts.takeIntent, keys: [keys.intents(partition)], [.text(old.raw), .text(name.raw)], partition: partition)
    guard let bytes = held.bytes else { return }
    // One that cannot be read is left to `reindex`.
    let intent = (try? Intent(packed: bytes)) ?? Intent()
    let places = intent.subjects.map { DevicePlace(partition: partition, number: $0.number) }
    let parts = try await DeviceRecords(session).parts(places, app: app)
    let found = try await DeviceRecords(session).open(zip(places, parts).map { ($0, $1.bucket, $1.part) }, app: app)
    var left: [(user: String, place: DevicePlace)] = []
    var joined: [String] = []
    for (subject, (place, device)) in zip(intent.subjects, zip(places, found)) {
      for user in subject.users {
        if device?.device.isOf(user) ?? false { joined.append(user) } else { left.append((user, place)) }
      }
    }
    try await UserIndex(session).leave(left, app: app)
    try await UserIndex(session).settle(joined, app: app)
    let lost = zip(intent.newcomers, parts).filter { $1.part == nil }.map(\.0.number)
    // Whoever had the intent may be at it still, and takes its numbers out of users' entries: no other device has them for a while.
    try await end(intent, lost, partition, under: name, freeSince: loop.wallNow)
  }

  /// What is intended at the moment: numbers of an app, and a text that is another one once anything else is intended.
  func intended(_ partition: Int, _ app: AppID) async throws(StoreError) -> (numbers: Set<Int>, edition: [UInt8]) {
    let held = try await ask(RedisCommand("HGETALL", keys.intents(partition)), partition: partition)
    var numbers = Set<Int>()
    var edition: [UInt8] = []
    for (name, packed) in pairs(held.array ?? []) {
      edition += name
      guard IntentName(raw: String(decoding: name, as: UTF8.self))?.app == app else { continue }
      if let intent = try? Intent(subjectsOf: packed) { numbers.formUnion(intent.newcomers.map(\.number)) }
    }
    return (numbers, edition)
  }
}
