import Domain
import Loop
import RedisClient

/// A device record and what is needed to replace it: nothing may have changed between.
struct FoundDevice {
  var number: Int
  var record: DeviceRecord
  var packed: [UInt8]
  var indexValue: [UInt8]
}

/// Reading and writing single records. A device's number is found through buckets of 8-byte hashes of ids.
extension Store {
  private static let indexBuckets = 4_096

  private func indexPlace(_ id: DeviceID, _ app: AppID) -> (bucket: Int, field: [UInt8]) {
    let hash = Slots.hash("index", app.rawValue, id.rawValue)
    let field = (0..<8).map { UInt8(truncatingIfNeeded: hash >> UInt64(56 - 8 * $0)) }
    return (Int(hash % UInt64(Self.indexBuckets)), field)
  }

  private func numbers(_ value: [UInt8]) -> [Int] {
    stride(from: 0, to: value.count - 3, by: 4).map { from32(value[$0..<$0 + 4]) }
  }

  /// In the order asked for; nil where there is none.
  func find(_ ids: [DeviceID], app: AppID) async throws(StoreError) -> [FoundDevice?] {
    let values = try await ask(
      ids.map { id in
        let place = indexPlace(id, app)
        var command = RedisCommand("HGET", keys.index(partition(of: id, in: app), app, place.bucket))
        command.append(place.field)
        return command
      })
    var asked: [(id: Int, number: Int)] = []
    var commands: [RedisCommand] = []
    for (place, value) in values.enumerated() {
      for number in numbers(value.bytes ?? []) {
        asked.append((place, number))
        let home = partition(of: ids[place], in: app)
        commands.append(RedisCommand("HGET", keys.record(home, app, number), String(number % 32)))
      }
    }
    var found = [FoundDevice?](repeating: nil, count: ids.count)
    for (entry, reply) in zip(asked, try await ask(commands)) {
      guard let packed = reply.bytes, let record = try? DeviceRecord(packed: packed),
        record.stored.device.id == ids[entry.id]
      else { continue }
      found[entry.id] = FoundDevice(
        number: entry.number, record: record, packed: packed, indexValue: values[entry.id].bytes ?? [])
    }
    return found
  }

  /// Writes a device as `change` of what is stored, again and again until nothing came between. `change` answers nil to
  /// leave it as it is. Returns what stood there before and what stands there now.
  func rewrite(
    _ id: DeviceID, app: AppID, _ change: (StoredDevice?) -> StoredDevice?
  ) async throws(StoreError) -> (before: StoredDevice?, after: StoredDevice?) {
    for _ in 0..<Self.rewriteAttempts {
      let found = try await find([id], app: app)[0]
      guard let new = change(found?.record.stored) else { return (found?.record.stored, found?.record.stored) }
      if try await write(id, app: app, from: found, to: new) { return (found?.record.stored, new) }
    }
    throw .unavailable("a device is being written by too many at once", retryAfter: 1)
  }
  private static let rewriteAttempts = 20

  /// False: it was not as found. `new` nil deletes it.
  func write(_ id: DeviceID, app: AppID, from found: FoundDevice?, to new: StoredDevice?) async throws(StoreError)
    -> Bool
  {
    let home = partition(of: id, in: app)
    let place = indexPlace(id, app)
    let index = keys.index(home, app, place.bucket)
    var number = found?.number ?? 0
    var oldIndex = found?.indexValue ?? []
    let now = loop.wallNow
    if found == nil {
      guard new != nil else { return true }
      let before = now.milliseconds - settings.retentionSeconds * 1000
      number = Int(
        try await ask(
          Scripts.allocate, keys: [keys.lastNumber(home, app), keys.freeNumbers(home, app)], [.number(before)],
          partition: home
        ).integer ?? 0)
      var command = RedisCommand("HGET", index)
      command.append(place.field)
      // A collision of hashes, or a device that another has just made: the record tells.
      oldIndex = try await ask(command).bytes ?? []
      if !oldIndex.isEmpty, try await find([id], app: app)[0] != nil {
        try await giveBack(number, home, app)
        return false
      }
    }
    var newIndex = oldIndex
    if found == nil { newIndex += raw32(number) }
    if new == nil { newIndex = numbers(oldIndex).filter { $0 != number }.flatMap(raw32) }
    let record = new.map { DeviceRecord($0, bornAt: found?.record.bornAt ?? now).packed } ?? []
    let oldSets = found.map { DeviceSets.names(of: $0.record.stored) } ?? []
    let newSets = new.map { DeviceSets.names(of: $0) } ?? []
    let leave = oldSets.subtracting(newSets).sorted()
    let sets = leave + newSets.subtracting(oldSets).sorted()
    let block = number / DeviceSets.blockSize
    let reply = try await ask(
      Scripts.writeDevice,
      keys: [
        keys.record(home, app, number), index, keys.setSizes(home, app), keys.freeNumbers(home, app),
        keys.buried(home),
      ] + sets.map { keys.set(home, app, $0, block: block) },
      [
        .number(Int64(number % 32)), .bytes(found?.packed ?? []), .bytes(record), .bytes(place.field),
        .bytes(oldIndex), .bytes(newIndex), .number(Int64(number % DeviceSets.blockSize)),
        .number(Int64(DeviceSets.setLimit)), .number(now.milliseconds), .number(Int64(number)),
        .number(Int64(leave.count)), new?.tombstone.map { .number($0.at.milliseconds) } ?? "",
        .bytes(Self.buriedMember(id, app)),
      ] + sets.map { .text($0) }, partition: home)
    if reply.integer == 1 { return true }
    if found == nil { try await giveBack(number, home, app) }
    return false
  }

  /// A number that no record ever had may be used again at once.
  private func giveBack(_ number: Int, _ partition: Int, _ app: AppID) async throws(StoreError) {
    _ = try await ask(
      Scripts.free, keys: [keys.freeNumbers(partition, app)], [.number(Int64(number)), 0], partition: partition)
  }
}
