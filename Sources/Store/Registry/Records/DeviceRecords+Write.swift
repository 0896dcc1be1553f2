import Domain
import Loop
import RedisClient

/// One device to be written: as it must be found, and as it shall be. Thousands are on their way at a time, through
/// many hands: none of them copies it. Loop thread only.
final class DeviceWrite {
  let place: DevicePlace
  let id: DeviceID
  /// One that is about to change its token is marked first, and is that then.
  var before: FoundDevice?
  /// Others came before: it is not tried.
  var isRefused = false
  /// Nothing stands in its place, and something shall.
  let isNew: Bool
  /// Nil deletes it. Never another one: what may change while it is read is copied first, with all its texts.
  let after: DeviceRecord?
  /// For a new device: the numbers that the index had under its hash.
  let expected: [Int]
  /// Of a registration: the id that its token gives.
  let derived: DeviceID?
  let way: RegistrationWay
  /// What aliases of its token name is answered, or refused.
  let tellsAliases: Bool
  /// Of a new device of an import: refused once another one has taken this over.
  let intent: OpenIntent?
  /// Whose it is among those that are written together.
  let step: Int

  init(
    place: DevicePlace, id: DeviceID, before: FoundDevice?, after: DeviceRecord?, expected: [Int] = [],
    derived: DeviceID? = nil, way: RegistrationWay = .keeps, step: Int = 0, under intent: OpenIntent? = nil
  ) {
    (self.place, self.id, self.before, self.after) = (place, id, before, after)
    (self.expected, self.derived, self.way, self.step) = (expected, derived, way, step)
    tellsAliases = derived == id && (way == .keeps || way == .alone)
    isNew = before == nil && after != nil
    self.intent = isNew ? intent : nil
  }

  /// In its sets already, but for `active`.
  var isInSets: Bool { intent?.entersSets ?? false }

  enum Result {
    /// It was not as expected, or its sets were not filled.
    case refused
    /// Another one has taken its intent over, with its number.
    case overtaken
    case done(aliased: [AliasEntry])

    var isDone: Bool { if case .done = self { true } else { false } }
  }
}

extension DeviceWrite {
  /// Whose it will be.
  var user: String? { after?.stored.device.user }

  /// What `packed` may write as words.
  func forEachRepeatingText(_ body: (String) -> Void) { after?.forEachRepeatingText(body) }

  func enter(in intent: inout Intent) {
    if let after { intent.enter(after, at: place) }
  }

  func packed(_ words: StringTable) -> [UInt8]? { after?.packed(words) }

  /// As `writeDevices` takes it.
  fileprivate func append(
    _ packed: [UInt8]?, to arguments: inout RedisCommand, bucket: Int, index: UInt32, token: [UInt8]?, _ app: AppID
  ) {
    let tombstone = after?.stored.tombstone
    let changesTombstone = tombstone != nil || before?.record.stored.tombstone != nil
    let act: UInt8 = after == nil ? UInt8(ascii: "d") : UInt8(ascii: before == nil ? "c" : "u")
    arguments.append(length: 16) { head in
      head.append(act)
      head.append(UInt8(bucket))
      head.append(token == nil ? 0 : way == .alone ? 2 : 1)
      head.append(changesTombstone ? 1 : 0)
      head.append32(place.number)
      head.append32(Int(index))
      if let token { head += token } else { head.append32(0) }
    }
    if let before { arguments.append(before.entry) } else { arguments.append("") }
    if let packed {
      arguments.append(length: 4 + packed.count) { append(packed, to: &$0) }
    } else {
      arguments.append("")
    }
    arguments.append(expected.flatMap(raw32))
    guard changesTombstone else { return }
    if let tombstone { arguments.append(tombstone.at.milliseconds) } else { arguments.append("") }
    arguments.append(Tombstones.buriedMember(id, app))
  }

  /// As its bucket holds it.
  func append(_ packed: [UInt8], to entries: inout [UInt8]) {
    entries.append32(RecordBucket.head(place.number, length: packed.count))
    entries += packed
  }

  func note(in sets: inout SetChanges) {
    if isInSets, let after {
      sets.note(hidden: false, of: after, number: place.number)
    } else {
      sets.note(before?.record, after, number: place.number)
    }
  }

  /// About how many places in sets it may change.
  fileprivate var weight: Int {
    func weight(_ record: DeviceRecord?) -> Int {
      guard let stored = record?.stored else { return 0 }
      return 8 + 2 * (stored.device.tags.count + stored.userTags.count) + stored.device.attributes.count
    }
    return weight(before?.record) + weight(after)
  }
}

extension DeviceRecords {
  /// Devices of one script: what keeps it within a millisecond.
  private static let devicesPerScript = 32
  /// … if they are new ones of an import, and the rest of their bucket of records.
  private static let enteredPerScript = 24
  /// Scripts that are made at once: what keeps that within some milliseconds.
  static let runsPerPart = 8
  /// Places in sets of one script's devices; a single device may have more.
  private static let placesPerScript = 800
  /// How often a write that others came before is tried again.
  static let writeAttempts = 20
  static let tooBusy = StoreError.unavailable("a device is being written by too many at once", retryAfter: 1)

  /// Writes devices of one app with their sets; each whole or not at all. In the order of `writes`. `lease`:
  /// only while that is held; all are of its partition.
  func write(_ writes: [DeviceWrite], app: AppID, under lease: Lease? = nil) async throws(StoreError)
    -> [DeviceWrite.Result]
  {
    var results = [DeviceWrite.Result](repeating: .done(aliased: []), count: writes.count)
    var left: [[Int]] = []
    for at in writes.indices where writes[at].isRefused { results[at] = .refused }
    let open = writes.indices.filter { !writes[$0].isRefused }
    for (partition, places) in Dictionary(grouping: open, by: { writes[$0].place.partition }) {
      let strange = places.filter { writes[$0].intent == nil }
      try await StringTables(session).learnWords(writes, strange, WordPlace(partition: partition, app: app))
      left += Self.chunks(strange, writes, size: Self.devicesPerScript)
      left += Self.chunks(places.filter { writes[$0].intent != nil }, writes, size: Self.enteredPerScript)
    }
    while !left.isEmpty {
      var asked: [(chunks: [[Int]], replies: RedisPipeline, isOwn: Bool)] = []
      // Each is made without awaiting: words learned on another connection must not be used on this one.
      for isNew in [true, false] {
        let chunks = left.filter { (writes[$0[0]].intent != nil) == isNew }
        for start in stride(from: 0, to: chunks.count, by: Self.runsPerPart) {
          await loop.giveWay()
          asked.append(
            begin(Array(chunks[start..<min(chunks.count, start + Self.runsPerPart)]), writes, isNew, app, under: lease))
        }
      }
      var answered: [(written: [Int], reply: RedisReply)] = []
      for part in asked {
        answered += zip(part.chunks, try await replies(part.replies, under: part.isOwn ? lease : nil)).map { ($0, $1) }
      }
      left = []
      for (written, reply) in answered {
        if reply.integer == -2 {
          for place in written { results[place] = .overtaken }
          continue
        }
        if reply.integer == -3 {
          for place in written { results[place] = .refused }
          continue
        }
        guard let answer = reply.array, let kind = answer.first?.integer else {
          session.registry.shelf.books = [:]
          throw .unavailable("words of the registry were lost and are learned again", retryAfter: 1)
        }
        if kind == 0 {
          for at in stride(from: 1, to: answer.count - 1, by: 2) {
            let place = written[Int(answer[at].integer ?? 1) - 1]
            results[place] = .done(aliased: AliasEntry.list((answer[at + 1].bytes ?? [])[...]))
          }
          continue
        }
        // Nothing of this run was written: the others go without those.
        let refused = Set(answer.dropFirst().compactMap { $0.integer.map { written[Int($0) - 1] } })
        for place in refused { results[place] = .refused }
        let rest = written.filter { !refused.contains($0) }
        if !rest.isEmpty { left.append(rest) }
      }
    }
    return results
  }

  /// A script for each chunk that has anything to write. Answers what each of them writes.
  private func begin(
    _ chunks: [[Int]], _ writes: [DeviceWrite], _ areNew: Bool, _ app: AppID, under lease: Lease?
  ) -> (chunks: [[Int]], replies: RedisPipeline, isOwn: Bool) {
    var rest = chunks[...]
    var all: [[Int]] = []
    let isOwn = lease != nil && !areNew
    let script = areNew ? Scripts.enterDevices : isOwn ? Scripts.writeOwnDevices : Scripts.writeDevices
    let replies = redis.begin(script) {
      while let chunk = rest.popFirst() {
        let (script, written) =
          areNew ? (entry(of: chunk.map { writes[$0] }, app), chunk) : run(chunk, writes, app, under: lease)
        guard !written.isEmpty else { continue }
        all.append(written)
        return script
      }
      return nil
    }
    return (all, replies, isOwn)
  }

  /// Of one partition, by number; about `size` each, and none ends within a bucket of records, which would be read and
  /// written once more.
  private static func chunks(_ places: [Int], _ writes: [DeviceWrite], size: Int) -> [[Int]] {
    var chunks: [[Int]] = []
    var room = 0
    var bucket = -1
    // As many as needed, of equal size.
    let count = (places.count + size - 1) / size
    let size = (places.count + count - 1) / max(1, count)
    for place in places.sorted(by: { writes[$0].place.number < writes[$1].place.number }) {
      let weight = writes[place].isInSets ? 0 : writes[place].weight
      let isFull = chunks.last.map { $0.count >= size && writes[place].place.bucket != bucket } ?? true
      if isFull || weight > room {
        chunks.append([])
        room = placesPerScript
      }
      chunks[chunks.count - 1].append(place)
      bucket = writes[place].place.bucket
      room -= weight
    }
    return chunks
  }

  func append(
    _ sets: [SetChanges], of partition: Int, to script: inout ScriptRun, between: RedisCommand, _ app: AppID
  ) {
    let words = StringTables(session).words(partition, app)
    var runs = SetRuns()
    for block in sets {
      for (bucket, change) in block.byBucket {
        runs.append(change, in: bucket, block: block.block, partition, app, keys, words)
      }
    }
    runs.write(to: &script, between: between)
  }

  /// The script for devices of one partition, and those of `chunk` that it writes: what is there already is left alone.
  private func run(_ chunk: [Int], _ writes: [DeviceWrite], _ app: AppID, under lease: Lease?) -> (
    script: ScriptRun, written: [Int]
  ) {
    let partition = writes[chunk[0]].place.partition
    let words = StringTables(session).words(partition, app)
    var written: [Int] = []
    var buckets: [Int] = []
    var devices = ScriptRun()
    var sets: [SetChanges] = []
    for at in chunk {
      let packed = writes[at].packed(words)
      let token = writes[at].tellsAliases ? TokenOwners(session).alias(writes[at].id, app) : nil
      if let packed, let before = writes[at].before, before.packed.elementsEqual(packed) { continue }
      written.append(at)
      let place = writes[at].place
      if buckets.last != place.bucket { buckets.append(place.bucket) }
      let index = IndexPlace(writes[at].id, app, keys)
      devices.keys.append(keys.index(partition, app, index.bucket))
      if let token { devices.keys.append(token.key) }
      writes[at].append(
        packed, to: &devices.arguments, bucket: buckets.count, index: index.hash, token: token?.hash, app)
      if sets.last?.block != place.block { sets.append(SetChanges(block: place.block)) }
      writes[at].note(in: &sets[sets.count - 1])
    }
    var script = ScriptRun()
    if let lease {
      script.keys.append(keys.lease(lease.partition))
      script.arguments.append(fence(lease).next().text)
    }
    script.keys.append(keys.freeNumbers(partition, app))
    script.keys.append(keys.buried(partition))
    script.keys.append(keys.words(partition, app))
    for bucket in buckets { script.keys.append(keys.record(partition, app, bucket * Keys.recordsPerBucket)) }
    script.keys.append(devices.keys)
    script.arguments.append(written.count)
    script.arguments.append(words.count)
    script.arguments.append(loop.wallNow.milliseconds)
    script.arguments.append(buckets.count)
    append(sets, of: partition, to: &script, between: devices.arguments, app)
    return (script, written)
  }

  /// Writes a device as `change` of what is stored, again and again until nothing came between. `change` answers nil to
  /// leave it as it is. Returns what stood there before and what stands there now; nil: there is no such device.
  func rewrite(
    _ id: DeviceID, app: AppID, _ change: (DeviceRecord) -> DeviceRecord?
  ) async throws(StoreError) -> (before: DeviceRecord, after: DeviceRecord)? {
    for _ in 0..<Self.writeAttempts {
      guard let found = try await find([id], app: app)[0] else { return nil }
      guard let new = change(found.record) else { return (found.record, found.record) }
      let write = DeviceWrite(place: found.place, id: id, before: found, after: new)
      if try await self.write([write], app: app)[0].isDone { return (found.record, new) }
    }
    throw Self.tooBusy
  }
}
