package import Domain
import RedisClient

/// Where a device is kept.
struct DevicePlace: Hashable {
  var partition: Int
  var number: Int

  /// As users and aliases name it: two bytes and four.
  var raw: [UInt8] { [UInt8(partition >> 8), UInt8(partition & 255)] + raw32(number) }
  init(partition: Int, number: Int) {
    self.partition = partition
    self.number = number
  }
  init(raw: ArraySlice<UInt8>) {
    partition = from32(raw.prefix(2))
    number = from32(raw.dropFirst(2))
  }
  var block: Int { number / SetBlock.size }
  /// Its field in the bucket of records.
  var field: String { String(number % Keys.recordsPerBucket) }
}

/// A device record and what is needed to replace it: nothing may have changed between.
struct FoundDevice {
  var place: DevicePlace
  var record: DeviceRecord
  var packed: [UInt8]
  var device: Device { record.stored.device }
}

/// Where a device's number is found: a bucket, and a hash within it.
struct IndexPlace {
  var partition: Int
  var bucket: Int
  var hash: [UInt8]

  static let buckets = 4_096

  init(_ id: DeviceID, _ app: AppID, _ keys: Keys) {
    partition = keys.partition((app.rawValue, id.rawValue))
    let hash = Slots.hash("index", app.rawValue, id.rawValue)
    bucket = Int(hash % UInt64(Self.buckets))
    self.hash = raw32(Int(hash >> 32))
  }

  /// Numbers under this hash, from a bucket: entries of a hash and a number, four bytes each.
  func numbers(_ held: [UInt8]) -> [Int] {
    var numbers: [Int] = []
    for at in stride(from: 0, to: held.count - 7, by: 8) where held[at..<at + 4].elementsEqual(hash) {
      numbers.append(from32(held[at + 4..<at + 8]))
    }
    return numbers
  }
}

extension Store {
  /// In the order asked for; nil where there is none.
  func find(_ ids: [DeviceID], app: AppID) async throws(StoreError) -> [FoundDevice?] {
    try await lookUp(ids, app: app).map(\.found)
  }

  /// With the numbers that the index has under each id's hash, which may be other devices'.
  func lookUp(_ ids: [DeviceID], app: AppID) async throws(StoreError) -> [(found: FoundDevice?, numbers: [Int])] {
    let places = ids.map { IndexPlace($0, app, keys) }
    let held = try await ask(places.map { RedisCommand("GET", keys.index($0.partition, app, $0.bucket)) })
    var result: [(found: FoundDevice?, numbers: [Int])] = []
    var asked: [(id: Int, place: DevicePlace)] = []
    for (id, place) in places.enumerated() {
      let numbers = held[id].bytes.map(place.numbers) ?? []
      result.append((nil, numbers))
      for number in numbers { asked.append((id, DevicePlace(partition: place.partition, number: number))) }
    }
    let records = try await records(asked.map(\.place), app: app)
    for (entry, record) in zip(asked, records) where record?.device.id == ids[entry.id] {
      result[entry.id].found = record
    }
    return result
  }

  /// By their numbers, in order; nil where there is none.
  func records(_ places: [DevicePlace], app: AppID) async throws(StoreError) -> [FoundDevice?] {
    guard !places.isEmpty else { return [] }
    var commands: [RedisCommand] = []
    var last: DevicePlace?
    for place in places {
      let bucket = place.number / Keys.recordsPerBucket
      if let last, last.partition == place.partition, last.number / Keys.recordsPerBucket == bucket {
        commands[commands.count - 1].append(place.field)
      } else {
        commands.append(RedisCommand("HMGET", keys.record(place.partition, app, place.number), place.field))
      }
      last = place
    }
    let replies = try await ask(commands)
    var packed: [[UInt8]?] = []
    packed.reserveCapacity(places.count)
    for reply in replies { for item in reply.array ?? [] { packed.append(item.bytes) } }
    guard packed.count == places.count else { throw .unavailable("a bucket of records is no hash", retryAfter: 10) }
    return try await open(packed, places, app: app)
  }

  /// Reads records; words that this process does not know are learned on the way. What cannot be read counts as none.
  func open(_ packed: [[UInt8]?], _ places: [DevicePlace], app: AppID) async throws(StoreError) -> [FoundDevice?] {
    var found = [FoundDevice?](repeating: nil, count: places.count)
    var odd: [Int] = []
    for (at, packed) in packed.enumerated() {
      guard let packed else { continue }
      found[at] = open(packed, places[at], app)
      if found[at] == nil { odd.append(at) }
    }
    guard !odd.isEmpty else { return found }
    for partition in Set(odd.map { places[$0].partition }) {
      try await loadWords(WordPlace(partition: partition, app: app))
    }
    for at in odd { found[at] = packed[at].flatMap { open($0, places[at], app) } }
    return found
  }

  private func open(_ packed: [UInt8], _ place: DevicePlace, _ app: AppID) -> FoundDevice? {
    let words = shelf.books[WordPlace(partition: place.partition, app: app)] ?? WordBook()
    guard let record = try? DeviceRecord(packed: packed, words) else { return nil }
    return FoundDevice(place: place, record: record, packed: packed)
  }

  /// The devices with these numbers, in order; nil where there is none, or one that got its number after `bornBefore`.
  package func devices(
    numbers: [Int], partition: Int, app: AppID, bornBefore: WallTime?
  ) async throws(StoreError) -> [StoredDevice?] {
    try await records(numbers.map { DevicePlace(partition: partition, number: $0) }, app: app).map { found in
      guard let found else { return nil }
      if let bornBefore, found.record.bornAt > bornBefore { return nil }
      return found.record.stored
    }
  }
}
