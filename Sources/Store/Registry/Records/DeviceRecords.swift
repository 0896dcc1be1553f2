package import Domain
import Loop
import RedisClient

/// Where a device is kept.
struct DevicePlace: Hashable, Comparable {
  var partition: Int
  var number: Int

  static func < (left: Self, right: Self) -> Bool {
    (left.partition, left.number) < (right.partition, right.number)
  }

  /// As users and aliases name it: two bytes and four.
  var raw: [UInt8] {
    var raw: [UInt8] = []
    raw.reserveCapacity(Self.rawLength)
    append(to: &raw)
    return raw
  }
  static let rawLength = 6
  func append(to raw: inout [UInt8]) {
    raw.append16(partition)
    raw.append32(number)
  }
  init(partition: Int, number: Int) {
    self.partition = partition
    self.number = number
  }
  init(raw: ArraySlice<UInt8>) {
    partition = from32(raw.prefix(2))
    number = from32(raw.dropFirst(2))
  }
  /// As `raw`, one behind the other.
  static func list(_ raw: [UInt8]) -> [DevicePlace] {
    stride(from: 0, to: raw.count - 5, by: 6).map { DevicePlace(raw: raw[$0..<$0 + 6]) }
  }
  var block: Int { number / SetBlock.size }
  /// Of the partition.
  var bucket: Int { number / Keys.recordsPerBucket }
}

/// A device record and what is needed to replace it: nothing may have changed between. A record has many texts, and thousands
/// of them are handed on at a time: none is copied.
final class FoundDevice {
  let place: DevicePlace
  let record: DeviceRecord
  /// As it was read: its part of the bucket.
  private let bucket: RecordBucket
  private let part: RecordBucket.Part

  fileprivate init(_ place: DevicePlace, _ record: DeviceRecord, _ bucket: RecordBucket, _ part: RecordBucket.Part) {
    (self.place, self.record, self.bucket, self.part) = (place, record, bucket, part)
  }

  var device: Device { record.stored.device }
  var packed: ArraySlice<UInt8> { bucket.bytes[part.record] }
  var entry: ArraySlice<UInt8> { bucket.bytes[part.entry] }
}

/// Where a device's number is found: a bucket, and a hash within it.
struct IndexPlace {
  var partition: Int
  var bucket: Int
  var hash: UInt32

  static let buckets = 4_096

  init(_ id: DeviceID, _ app: AppID, _ keys: Keys) {
    partition = keys.partition((app.rawValue, id.rawValue))
    let hash = ClusterHashTags.hash("index", app.rawValue, id.rawValue)
    bucket = Int(hash % UInt64(Self.buckets))
    self.hash = UInt32(hash >> 32)
  }

  /// As scripts take it.
  var rawHash: [UInt8] { raw32(Int(hash)) }

  /// Numbers under this hash, from a bucket: entries of a hash and a number, four bytes each.
  func numbers(_ held: [UInt8]) -> [Int] {
    var numbers: [Int] = []
    held.withUnsafeBytes { held in
      for at in stride(from: 0, to: held.count - 7, by: 8)
      where UInt32(bigEndian: held.loadUnaligned(fromByteOffset: at, as: UInt32.self)) == hash {
        numbers.append(Int(UInt32(bigEndian: held.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self))))
      }
    }
    return numbers
  }
}

/// The records of devices and the index that leads to them: all reading and writing of the registry goes this way. Holds
/// nothing but its session, on whose loop it is used. A write succeeds only where the record is still the one that was
/// read; whoever writes tries again.
package struct DeviceRecords: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// In the order asked for; nil where there is none.
  func find(_ ids: [DeviceID], app: AppID) async throws(StoreError) -> [FoundDevice?] {
    try await lookUp(ids, app: app).map(\.found)
  }

  /// With the numbers that the index has under each id's hash, which may be other devices'.
  func lookUp(_ ids: [DeviceID], app: AppID) async throws(StoreError) -> [(found: FoundDevice?, numbers: [Int])] {
    let places = ids.map { IndexPlace($0, app, keys) }
    let held = try await read(places.map { ($0.partition, keys.index($0.partition, app, $0.bucket)) })
    return try await lookUp(ids, at: places, held: held, app: app)
  }

  /// `held`: what the index has at these places.
  func lookUp(_ ids: [DeviceID], at places: [IndexPlace], held: [[UInt8]?], app: AppID) async throws(StoreError)
    -> [(found: FoundDevice?, numbers: [Int])]
  {
    var result: [(found: FoundDevice?, numbers: [Int])] = []
    var asked: [(id: Int, place: DevicePlace)] = []
    result.reserveCapacity(ids.count)
    for (id, place) in places.enumerated() {
      let numbers = held[id].map(place.numbers) ?? []
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
    let parts = try await parts(places, app: app)
    return try await open(zip(places, parts).map { ($0, $1.bucket, $1.part) }, app: app)
  }

  /// Where records stand in their buckets, as those stand now; no part where there is none. Users and aliases may name places that
  /// this store has not.
  func parts(_ places: [DevicePlace], app: AppID) async throws(StoreError)
    -> [(bucket: RecordBucket, part: RecordBucket.Part?)]
  {
    var buckets: [(partition: Int, key: String)] = []
    // By the number that a bucket begins with: each is read once.
    var known: [DevicePlace: Int] = [:]
    var last: (place: DevicePlace, source: Int)?
    let sources: [Int?] = places.map { place in
      guard place.partition < settings.partitions else { return nil }
      if let last, last.place.partition == place.partition, last.place.bucket == place.bucket { return last.source }
      let begin = DevicePlace(partition: place.partition, number: place.bucket * Keys.recordsPerBucket)
      let source = known[begin] ?? buckets.count
      if source == buckets.count {
        buckets.append((place.partition, keys.record(place.partition, app, place.number)))
        known[begin] = source
      }
      last = (place, source)
      return source
    }
    let held = try await read(buckets).map { RecordBucket(bytes: $0 ?? []) }
    return zip(places, sources).map { place, source in
      source.map { (held[$0], held[$0].part(of: place.number)) } ?? (RecordBucket(bytes: []), nil)
    }
  }

  /// Reads records; words that this process does not know are learned on the way. What cannot be read counts as none.
  func open(
    _ parts: [(place: DevicePlace, bucket: RecordBucket, part: RecordBucket.Part?)], app: AppID
  ) async throws(StoreError) -> [FoundDevice?] {
    var found: [FoundDevice?] = []
    found.reserveCapacity(parts.count)
    var unresolved: [Int] = []
    var known: (partition: Int, words: StringTable)?
    for (place, bucket, part) in parts {
      if found.count.isMultiple(of: 32) {
        await loop.giveWay()
        // Words are good until the next await.
        known = nil
      }
      if known?.partition != place.partition {
        known = (place.partition, StringTables(session).words(place.partition, app))
      }
      let device = part.flatMap { open($0, of: bucket, place, known?.words ?? StringTable()) }
      if device == nil, part != nil { unresolved.append(found.count) }
      found.append(device)
    }
    guard !unresolved.isEmpty else { return found }
    for partition in Set(unresolved.map { parts[$0].place.partition }) {
      try await StringTables(session).loadWords(WordPlace(partition: partition, app: app))
    }
    for at in unresolved {
      let (place, bucket, part) = parts[at]
      found[at] = part.flatMap { open($0, of: bucket, place, StringTables(session).words(place.partition, app)) }
    }
    return found
  }

  private func open(_ part: RecordBucket.Part, of bucket: RecordBucket, _ place: DevicePlace, _ words: StringTable)
    -> FoundDevice?
  {
    guard let record = try? DeviceRecord(Unpacker(bucket.bytes, part.record), words) else { return nil }
    return FoundDevice(place, record, bucket, part)
  }

  /// The devices with these numbers, in order; nil where there is none, or one that got its number after `bornBefore`.
  package func devices(
    numbers: [Int], partition: Int, app: AppID, bornBefore: WallTime?
  ) async throws(StoreError) -> [StoredDevice?] {
    try await records(numbers.map { DevicePlace(partition: partition, number: $0) }, app: app).map { found in
      guard let found else { return nil }
      if let bornBefore, found.record.bornAt > bornBefore { return nil }
      return found.record.visible
    }
  }
}
