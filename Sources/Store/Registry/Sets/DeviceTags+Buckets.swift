import Domain
import RedisClient

/// Where a list of very many tags has come to, as the store keeps them: by buckets, which are the same in all partitions.
struct TagPlace: Hashable {
  var bucket: Int
  /// Of the bucket the last one that has been told.
  var behind: String?

  init(bucket: Int, behind: String? = nil) {
    self.bucket = bucket
    self.behind = behind
  }

  /// For a cursor. No tag begins with a space.
  var text: String { " \(bucket)" + (behind.map { " " + $0 } ?? "") }
  init?(text: String) {
    // By bytes: a mark that a tag begins with would make another character of the space.
    let parts = text.utf8.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard parts.count >= 2, parts[0].isEmpty, let bucket = Whole.read(parts[1], in: 0...SetName.tagBuckets)
    else { return nil }
    self.init(bucket: bucket, behind: parts.count > 2 ? parts[2] : nil)
  }
}

extension DeviceTags {
  /// Buckets that tell how full all are.
  private static let sampledBuckets = 32
  private static let sampledBlocks = 8
  /// Buckets that are looked through together, at most.
  private static let bucketsAtOnce = 64

  /// About how many names of tags a look through all partitions meets.
  func tagEstimate(_ app: AppID) async throws(StoreError) -> Int {
    let blocks = try await DeviceSets(session).blockCounts(app: app)
    guard let first = blocks.first, first > 0 else { return 0 }
    var lengths: [RedisCommand] = []
    let sampled = min(first, Self.sampledBlocks)
    for block in 0..<sampled {
      for bucket in 0..<Self.sampledBuckets {
        lengths.append(RedisCommand("HLEN", keys.setBucket(0, app, bucket: String(bucket), block: block)))
      }
    }
    let sum = try await ask(lengths).reduce(0) { $0 + Int($1.integer ?? 0) }
    return sum * SetName.tagBuckets / Self.sampledBuckets * first / sampled * blocks.count
  }

  /// `names`: about how many there are; a page looks through no more than `TagListing.longest` of them.
  func tags(
    _ app: AppID, prefix: String, limit: Int, from start: TagPlace, of names: Int
  ) async throws(StoreError) -> (items: [TagCount], next: String?) {
    let blocks = try await DeviceSets(session).blockCounts(app: app)
    var (items, place): ([TagCount], TagPlace) = ([], start)
    let last = place.bucket + max(1, session.registry.tagListingLimit * SetName.tagBuckets / max(1, names))
    // As many as hold a page, or more while they hold nothing of it.
    let usual = max(1, min(Self.bucketsAtOnce, limit * SetName.tagBuckets / max(1, names)))
    var width = usual
    while place.bucket < SetName.tagBuckets {
      guard place.bucket < last else { return (items, place.text) }
      let buckets = place.bucket..<min(SetName.tagBuckets, last, place.bucket + width)
      let found = try await self.names(.tag, beginning: prefix, inBuckets: buckets, blocks, app)
        .filter { name in place.behind.map { name.bucket > place.bucket || name.follows($0) } ?? true }
      var told = 0
      while told < found.count {
        let step = found[told..<min(found.count, told + limit - items.count)]
        for (name, count) in zip(step, try await liveCounts(ofTags: step.map(\.tag), app)) where count > 0 {
          items.append(TagCount(tag: name.tag, devices: count))
        }
        told += step.count
        if items.count == limit, let last = found[..<told].last {
          return (items, TagPlace(bucket: last.bucket, behind: last.tag).text)
        }
      }
      place = TagPlace(bucket: buckets.upperBound)
      width = found.isEmpty ? min(Self.bucketsAtOnce, width * 2) : usual
    }
    return (items, nil)
  }

  private struct BucketName {
    var bucket: Int
    var tag: String

    func follows(_ other: String) -> Bool { other.utf8.lexicographicallyPrecedes(tag.utf8) }
  }

  /// Bucket by bucket, in the order of their bytes there.
  private func names(
    _ kind: SetKind, beginning prefix: String, inBuckets buckets: Range<Int>, _ blocks: [Int], _ app: AppID
  ) async throws(StoreError) -> [BucketName] {
    var runs: [(keys: [String], arguments: [RedisArgument])] = []
    var sources: [Int] = []
    for bucket in buckets {
      for (partition, count) in blocks.enumerated() {
        for block in 0..<count {
          runs.append(
            (
              [keys.setBucket(partition, app, bucket: String(bucket), block: block)],
              [.text(SetName(kind, prefix).text)]
            ))
          sources.append(bucket)
        }
      }
    }
    var byBucket: [Int: Set<ExactText>] = [:]
    for (bucket, reply) in zip(sources, try await ask(Scripts.scanNames, runs)) {
      for name in (reply.array ?? []).compactMap({ $0.text.flatMap(SetName.init(text:)) }) {
        byBucket[bucket, default: []].insert(name.value)
      }
    }
    return byBucket.sorted { $0.key < $1.key }.flatMap { bucket, names in
      names.map { BucketName(bucket: bucket, tag: $0.text) }
        .sorted { $0.tag.utf8.lexicographicallyPrecedes($1.tag.utf8) }
    }
  }
}
