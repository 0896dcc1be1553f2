import Domain
import RedisClient

/// Reads the sets of an app. Holds nothing but its session, on whose loop it is used. Blocks are not of one moment.
struct DeviceSets: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// The words of one block of several sets, in the order of their names, all of one moment.
  func blocks(_ names: [SetName], block: Int, partition: Int, app: AppID) async throws(StoreError) -> [[UInt64]] {
    try await stored(names, block: block, partition: partition, app: app).map(SetBlock.words)
  }

  /// The same as `SetBlock` reads them.
  func stored(_ names: [SetName], block: Int, partition: Int, app: AppID) async throws(StoreError) -> [RedisReply] {
    guard !names.isEmpty else { return [] }
    var read: [String] = []
    for name in names {
      read.append(keys.setBucket(partition, app, name, block: block))
      read.append(keys.set(partition, app, name, block: block))
    }
    let reply = try await ask(Scripts.readSets, keys: read, names.map { .text($0.text) }, partition: partition)
    guard let sets = reply.array, sets.count == names.count else {
      throw .unusable(
        "a set of \(app.rawValue) in partition \(partition) cannot be read: see `fanfare devices reindex`")
    }
    return sets
  }

  /// How many blocks the numbers of an app fill, by partition.
  func blockCounts(app: AppID) async throws(StoreError) -> [Int] {
    let last = try await ask((0..<settings.partitions).map { RedisCommand("GET", keys.lastNumber($0, app)) })
    return try last.map { reply throws(StoreError) in
      (try Self.numbers(given: reply) + SetBlock.size - 1) / SetBlock.size
    }
  }
  func blockCount(partition: Int, app: AppID) async throws(StoreError) -> Int {
    let last = try await ask(RedisCommand("GET", keys.lastNumber(partition, app)), partition: partition)
    return (try Self.numbers(given: last) + SetBlock.size - 1) / SetBlock.size
  }
  /// How many numbers a partition has given to devices of an app.
  static func numbers(given last: RedisReply) throws(StoreError) -> Int {
    let count = Int(last.integer ?? 0)
    guard count <= Int(UInt32.max) else { throw .unusable("the last number of devices is damaged: it is \(count)") }
    return max(0, count)
  }

  /// Values of the sets of these kinds that have members in a block; `kinds` without those that are many.
  func values(
    _ kinds: [SetKind], block: Int, partition: Int, app: AppID
  ) async throws(StoreError) -> [SetKind: [String]] {
    let replies = try await ask(
      kinds.map { RedisCommand("HKEYS", keys.setBucket(partition, app, SetName($0), block: block)) },
      partition: partition)
    var values: [SetKind: [String]] = [:]
    for (kind, reply) in zip(kinds, replies) {
      values[kind] = (reply.array ?? []).compactMap { $0.text.flatMap(SetName.init(text:)) }
        .filter { $0.kind == kind }.map(\.value.text)
    }
    return values
  }

  /// Buckets of tags that one script looks through, and that one command asks for.
  private static let (bucketsPerScan, bucketsPerQuestion) = (4, 128)

  /// Tags that begin with `prefix` and have members in a block, in no order.
  func tags(beginning prefix: String, block: Int, partition: Int, app: AppID) async throws(StoreError) -> [String] {
    try await names(beginning: [SetName(.tag, prefix)], block: block, partition: partition, app: app).map(\.value.text)
  }

  /// Sets of tags, of their keys, or of activities whose names begin with one of these, in no order.
  func names(
    beginning prefixes: [SetName], block: Int, partition: Int, app: AppID
  ) async throws(StoreError) -> [SetName] {
    let buckets = (0..<SetName.tagBuckets).map { keys.setBucket(partition, app, bucket: String($0), block: block) }
    let groups = stride(from: 0, to: buckets.count, by: Self.bucketsPerQuestion).map {
      buckets[$0..<min(buckets.count, $0 + Self.bucketsPerQuestion)]
    }
    // Of a small app most are not there.
    let there = try await ask(groups.map { RedisCommand(words: ["EXISTS"] + $0) })
    let arguments = prefixes.map { RedisArgument.text($0.text) }
    var runs: [(keys: [String], arguments: [RedisArgument])] = []
    for (group, reply) in zip(groups, there) where reply.integer != 0 {
      for first in stride(from: group.startIndex, to: group.endIndex, by: Self.bucketsPerScan) {
        runs.append((Array(group[first..<min(group.endIndex, first + Self.bucketsPerScan)]), arguments))
      }
    }
    let replies = try await ask(Scripts.scanNames, runs)
    return replies.flatMap { $0.array ?? [] }.compactMap { $0.text.flatMap(SetName.init(text:)) }
  }
}
