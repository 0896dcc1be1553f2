package import Domain
import RedisClient

/// How far an export has come.
package struct ExportPlace: Hashable, Sendable {
  var partition: Int
  var bucket: Int

  /// For a cursor.
  package var text: String { "\(partition).\(bucket)" }
  /// Nil: not a text that `text` made. Whether the place exists is not checked: one beyond the end reads nothing.
  package init?(text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let partition = Whole.read(parts[0], in: 0...Int(UInt16.max)),
      let bucket = Whole.read(parts[1], in: 0...Int(UInt32.max))
    else { return nil }
    self.init(partition: partition, bucket: bucket)
  }
  init(partition: Int, bucket: Int) {
    self.partition = partition
    self.bucket = bucket
  }
}

/// Reads all devices of an app in pages. Holds nothing but its session, on whose loop it is used. A page is read at one
/// moment, the whole is not.
package struct DeviceExport: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Devices of an app behind `after` (nil: from the start), about `limit` of them, with the place to go on from; nil:
  /// that was the last. A device that stays is told exactly once; one that comes or goes meanwhile may be told or not.
  package func page(
    _ app: AppID, after: ExportPlace?, limit: Int, tombstones: Bool
  ) async throws(StoreError) -> (devices: [StoredDevice], next: ExportPlace?) {
    var place = after ?? ExportPlace(partition: 0, bucket: 0)
    var devices: [StoredDevice] = []
    devices.reserveCapacity(limit + Keys.recordsPerBucket)
    while place.partition < settings.partitions {
      let last = try await ask(RedisCommand("GET", keys.lastNumber(place.partition, app)))
      let buckets = (try DeviceSets.numbers(given: last) + Keys.recordsPerBucket - 1) / Keys.recordsPerBucket
      while place.bucket < buckets, devices.count < limit {
        let wanted = max(1, (limit - devices.count) / Keys.recordsPerBucket)
        let end = min(buckets, place.bucket + wanted)
        try await read(
          buckets: place.bucket..<end, place.partition, app, tombstones: tombstones, into: &devices)
        place.bucket = end
      }
      if place.bucket < buckets { return (devices, place) }
      place = ExportPlace(partition: place.partition + 1, bucket: 0)
      if devices.count >= limit, place.partition < settings.partitions { return (devices, place) }
    }
    return (devices, nil)
  }

  /// Each record becomes a device on the way, and is not kept beside it: of thousands that takes longer than reading
  /// them.
  private func read(
    buckets: Range<Int>, _ partition: Int, _ app: AppID, tombstones: Bool, into devices: inout [StoredDevice]
  ) async throws(StoreError) {
    let held = try await read(
      buckets.map { (partition, keys.record(partition, app, $0 * Keys.recordsPerBucket)) })
    let words = StringTables(session).words(partition, app)
    let start = devices.count
    var unresolved: [(place: DevicePlace, bucket: RecordBucket, part: RecordBucket.Part?)] = []
    /// Of each of these how many devices stand before it.
    var before: [Int] = []
    for (number, bytes) in zip(buckets, held) {
      let bucket = RecordBucket(bytes: bytes ?? [])
      bucket.forEachPart { part in
        guard let record = try? DeviceRecord(Unpacker(bucket.bytes, part.record), words) else {
          let number = number * Keys.recordsPerBucket + part.slot
          before.append(devices.count)
          return unresolved.append((DevicePlace(partition: partition, number: number), bucket, part))
        }
        if let stored = record.visible, tombstones || stored.tombstone == nil { devices.append(stored) }
      }
    }
    guard !unresolved.isEmpty else { return }
    // They have words that this process has not learned yet. Each goes where it stands in its bucket: the order is that of
    // the registry, whichever process reads it.
    var merged: [StoredDevice] = []
    var next = start
    for (before, found) in zip(before, try await DeviceRecords(session).open(unresolved, app: app)) {
      merged += devices[next..<before]
      next = before
      if let stored = found?.record.visible, tombstones || stored.tombstone == nil { merged.append(stored) }
    }
    devices.replaceSubrange(start..., with: merged + devices[next...])
  }
}
