import Domain
import Loop
import RedisClient

/// One device to be written: as it must be found, and as it shall be.
struct DeviceWrite {
  var place: DevicePlace
  var id: DeviceID
  var before: FoundDevice?
  /// Nil deletes it.
  var after: DeviceRecord?
  /// For a new device: the numbers that the index had under its hash.
  var expected: [Int] = []
}

extension DeviceWrite {
  /// About how many places in sets it may change.
  fileprivate var weight: Int {
    [before?.record, after].reduce(0) { sum, record in
      guard let stored = record?.stored else { return sum }
      return sum + 8 + 2 * (stored.device.tags.count + stored.userTags.count) + stored.device.attributes.count
    }
  }
}

extension Store {
  /// Devices of one script: what keeps it within a millisecond.
  private static let devicesPerScript = 40
  /// Places in sets of one script's devices; a single device may have more.
  private static let placesPerScript = 1_200
  /// How often a write that others came before is tried again.
  static let writeAttempts = 20
  static let tooBusy = StoreError.unavailable("a device is being written by too many at once", retryAfter: 1)

  /// Writes devices of one app with their sets; each whole or not at all. False where a device was not as expected.
  /// `lease`: only while that is held; all are of its partition.
  func write(_ writes: [DeviceWrite], app: AppID, under lease: Lease? = nil) async throws(StoreError) -> [Bool] {
    var done = [Bool](repeating: true, count: writes.count)
    var left: [[Int]] = []
    for (_, places) in Dictionary(grouping: writes.indices, by: { writes[$0].place.partition }) {
      let partition = writes[places[0]].place.partition
      try await learnWords(places.compactMap { writes[$0].after }, WordPlace(partition: partition, app: app))
      left += Self.chunks(places, writes)
    }
    while !left.isEmpty {
      let runs = left.map { chunk in
        var run = run(chunk.map { writes[$0] }, app)
        if let lease {
          run.keys.insert(keys.lease(lease.partition), at: 0)
          run.arguments.insert(.text(lease.owner), at: 0)
        }
        return run
      }
      let script = lease == nil ? Scripts.writeDevices : Scripts.writeOwnDevices
      let replies = try await ask(script, runs, partition: lease?.partition ?? 0)
      var again: [[Int]] = []
      for (chunk, reply) in zip(left, replies) {
        guard let odd = reply.array else {
          shelf.books = [:]
          throw .unavailable("words of the registry were lost and are learned again", retryAfter: 1)
        }
        guard !odd.isEmpty else { continue }
        // Nothing of this run was written: the others go without those.
        let refused = Set(odd.compactMap { $0.integer.map { chunk[Int($0) - 1] } })
        for place in refused { done[place] = false }
        let rest = chunk.filter { !refused.contains($0) }
        if !rest.isEmpty { again.append(rest) }
      }
      left = again
    }
    return done
  }

  private static func chunks(_ places: [Int], _ writes: [DeviceWrite]) -> [[Int]] {
    var chunks: [[Int]] = []
    var room = 0
    for place in places {
      let weight = writes[place].weight
      if chunks.isEmpty || chunks[chunks.count - 1].count >= devicesPerScript || weight > room {
        chunks.append([])
        room = placesPerScript
      }
      chunks[chunks.count - 1].append(place)
      room -= weight
    }
    return chunks
  }

  private struct SetPlace: Hashable {
    var block: Int
    var name: SetName
  }

  /// Packs without awaiting: words learned on another connection must not be used on this one.
  private func run(_ writes: [DeviceWrite], _ app: AppID) -> (keys: [String], arguments: [RedisArgument]) {
    let partition = writes[0].place.partition
    let words = shelf.books[WordPlace(partition: partition, app: app)] ?? WordBook()
    let now = loop.wallNow
    var names = [keys.freeNumbers(partition, app), keys.buried(partition), keys.words(partition, app)]
    var arguments: [RedisArgument] = [
      .number(Int64(writes.count)), .number(Int64(words.count)), .number(now.milliseconds),
    ]
    var changes: [SetPlace: (add: [UInt8], remove: [UInt8])] = [:]
    for write in writes.sorted(by: { $0.place.number < $1.place.number }) {
      let index = IndexPlace(write.id, app, keys)
      names.append(keys.record(partition, app, write.place.number))
      names.append(keys.index(partition, app, index.bucket))
      let act = write.after == nil ? "d" : write.before == nil ? "c" : "u"
      arguments += [
        .text(act), .text(write.place.field), .bytes(write.before?.packed ?? []),
        .bytes(write.after?.packed(words) ?? []), .bytes(index.hash), .bytes(raw32(write.place.number)),
        .bytes(write.expected.flatMap(raw32)),
      ]
      let tombstone = write.after?.stored.tombstone
      let wasBuried = write.before?.record.stored.tombstone != nil
      arguments.append(tombstone.map { .number($0.at.milliseconds) } ?? (wasBuried ? "-" : ""))
      arguments.append(tombstone != nil || wasBuried ? .bytes(Self.buriedMember(write.id, app)) : "")
      let before = write.before?.record.sets ?? []
      let after = write.after?.sets ?? []
      let offset = write.place.number % SetBlock.size
      let number = [UInt8(offset >> 8), UInt8(offset & 255)]
      let block = write.place.block
      for name in after where !before.contains(name) {
        changes[SetPlace(block: block, name: name), default: ([], [])].add += number
      }
      for name in before where !after.contains(name) {
        changes[SetPlace(block: block, name: name), default: ([], [])].remove += number
      }
    }
    for (place, change) in changes {
      names.append(keys.setBucket(partition, app, place.name, block: place.block))
      names.append(keys.set(partition, app, place.name, block: place.block))
      arguments.append(.text(place.name.text))
      arguments.append(.bytes(change.add))
      arguments.append(.bytes(change.remove))
    }
    return (names, arguments)
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
      if try await self.write([write], app: app)[0] { return (found.record, new) }
    }
    throw Self.tooBusy
  }

  /// A number that no record ever had may be used again at once.
  func giveBack(_ place: DevicePlace, _ app: AppID) async throws(StoreError) {
    _ = try await ask(
      Scripts.free,
      keys: [keys.freeNumbers(place.partition, app), keys.record(place.partition, app, place.number)],
      [.number(Int64(place.number)), .text(place.field), 0], partition: place.partition)
  }
}
