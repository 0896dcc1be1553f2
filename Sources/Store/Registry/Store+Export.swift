package import Domain
import RedisClient

/// How far an export has come.
package struct ExportPlace: Hashable, Sendable {
  var partition: Int
  var bucket: Int

  /// For a cursor.
  package var text: String { "\(partition).\(bucket)" }
  package init?(text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let partition = parts[0], let bucket = parts[1], partition >= 0, bucket >= 0 else {
      return nil
    }
    self.init(partition: partition, bucket: bucket)
  }
  init(partition: Int, bucket: Int) {
    self.partition = partition
    self.bucket = bucket
  }
}

extension Store {
  /// Devices of an app behind `after` (nil: from the start), about `limit` of them, with the place to go on from; nil: that
  /// was the last. A device that stays is told exactly once; one that comes or goes meanwhile may be told or not.
  package func export(
    _ app: AppID, after: ExportPlace?, limit: Int, tombstones: Bool
  ) async throws(StoreError) -> (devices: [StoredDevice], next: ExportPlace?) {
    var place = after ?? ExportPlace(partition: 0, bucket: 0)
    var devices: [StoredDevice] = []
    devices.reserveCapacity(limit + Keys.recordsPerBucket)
    while place.partition < settings.partitions {
      let last = try await ask(RedisCommand("GET", keys.lastNumber(place.partition, app))).integer ?? 0
      let buckets = (Int(last) + Keys.recordsPerBucket - 1) / Keys.recordsPerBucket
      while place.bucket < buckets, devices.count < limit {
        let wanted = max(1, (limit - devices.count) / Keys.recordsPerBucket)
        let end = min(buckets, place.bucket + wanted)
        devices += try await records(inBuckets: place.bucket..<end, place.partition, app).compactMap { found in
          let stored = found.record.stored
          return tombstones || stored.tombstone == nil ? stored : nil
        }
        place.bucket = end
      }
      if place.bucket < buckets { return (devices, place) }
      place = ExportPlace(partition: place.partition + 1, bucket: 0)
      if devices.count >= limit, place.partition < settings.partitions { return (devices, place) }
    }
    return (devices, nil)
  }

  private func records(inBuckets buckets: Range<Int>, _ partition: Int, _ app: AppID) async throws(StoreError)
    -> [FoundDevice]
  {
    let held = try await read(
      buckets.map { (partition, keys.record(partition, app, $0 * Keys.recordsPerBucket)) })
    var parts: [(place: DevicePlace, bucket: RecordBucket, part: RecordBucket.Part?)] = []
    for (number, bytes) in zip(buckets, held) {
      let bucket = RecordBucket(bytes: bytes ?? [])
      for part in bucket.parts {
        let number = number * Keys.recordsPerBucket + part.slot
        parts.append((DevicePlace(partition: partition, number: number), bucket, part))
      }
    }
    return try await open(parts, app: app).compactMap { $0 }
  }
}
