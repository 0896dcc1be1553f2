package import Domain
import Loop
import RedisClient

/// A tag and how many live devices have it, by themselves or by their user.
package struct TagCount: Hashable, Sendable {
  package var tag: String
  package var devices: Int
}

/// The names that a page was taken from: pages behind it need not look for them again.
struct TagListing {
  var app: AppID
  var prefix: String
  /// In the order of their bytes.
  var names: [String]
  var at: WallTime

  /// Names that come later are not in pages before a listing is begun anew, or is as old as this.
  static let milliseconds: Int64 = 60_000
  /// Where an app has more of them, in all partitions together, a page looks through no more than this either.
  static let longest = 50_000
}

/// Lists the tags and attributes of an app's devices with their counts. The listing that was made last stands in the session;
/// used on its loop. Counts of many tags are estimates.
package struct DeviceTags: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Tags counted at a time, and those of one script.
  private static let tagsPerStep = 50
  private static let tagsPerScript = 40

  /// Tags that begin with `prefix`, behind `cursor`; without those that only dead or disabled devices have. The first page
  /// looks through all names of tags, in short scripts; those behind it, within a minute, only at what they tell: counts are
  /// of the moment of their page, names of the first one's. They come in the order of their bytes.
  ///
  /// Where an app has very many, such as one tag for each device, no page looks through all: they come as the store keeps
  /// them, and a page may be short, or empty, though there is a `next`.
  package func page(
    _ app: AppID, prefix: String, limit: Int, cursor: String?
  ) async throws(StoreError) -> (items: [TagCount], next: String?) {
    if let cursor {
      if let place = TagPlace(text: cursor) {
        return try await tags(app, prefix: prefix, limit: limit, from: place, of: try await tagEstimate(app))
      }
    } else {
      let names = try await tagEstimate(app)
      if names > session.registry.tagListingLimit {
        return try await tags(app, prefix: prefix, limit: limit, from: TagPlace(bucket: 0), of: names)
      }
    }
    let names = try await tagNames(app, prefix: prefix, cursor: cursor)
    var items: [TagCount] = []
    var place = cursor.map { Self.place(behind: $0, in: names) } ?? 0
    while place < names.count {
      let step = Array(names[place..<min(names.count, place + max(limit, Self.tagsPerStep))])
      for (tag, count) in zip(step, try await liveCounts(ofTags: step, app)) where count > 0 {
        guard items.count < limit else { return (items, items.last?.tag) }
        items.append(TagCount(tag: tag, devices: count))
      }
      place += step.count
    }
    return (items, nil)
  }

  /// The different tags that devices have. Nil: more than `most` as far as can be told without looking through them.
  package func names(app: AppID, atMost most: Int) async throws(StoreError) -> Set<ExactText>? {
    guard try await tagEstimate(app) / settings.partitions <= most else { return nil }
    return try await names(app, beginning: "")
  }

  /// Of each tag whether a device that is active has it.
  package func areUsed(_ tags: [String], app: AppID) async throws(StoreError) -> [Bool] {
    try await liveCounts(ofTags: tags, app).map { $0 > 0 }
  }

  private func names(_ app: AppID, beginning prefix: String) async throws(StoreError) -> Set<ExactText> {
    var names = Set<ExactText>()
    for (partition, blocks) in try await DeviceSets(session).blockCounts(app: app).enumerated() {
      for block in 0..<blocks {
        let found = try await DeviceSets(session).tags(beginning: prefix, block: block, partition: partition, app: app)
        for tag in found { names.insert(ExactText(tag)) }
      }
    }
    return names
  }

  private static func place(behind cursor: String, in names: [String]) -> Int {
    var (low, high) = (0, names.count)
    while low < high {
      let middle = (low + high) / 2
      if cursor.utf8.lexicographicallyPrecedes(names[middle].utf8) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private func tagNames(_ app: AppID, prefix: String, cursor: String?) async throws(StoreError) -> [String] {
    let now = loop.wallNow
    if cursor != nil, let known = session.registry.tagListing, known.app == app,
      ExactText(known.prefix) == ExactText(prefix),
      (0...TagListing.milliseconds).contains(now.milliseconds - known.at.milliseconds)
    {
      return known.names
    }
    let sorted = try await names(app, beginning: prefix).map(\.text).sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
    session.registry.tagListing = TagListing(app: app, prefix: prefix, names: sorted, at: now)
    return sorted
  }

  func liveCounts(ofTags tags: [String], _ app: AppID) async throws(StoreError) -> [Int] {
    var counts = [Int](repeating: 0, count: tags.count)
    for (partition, blocks) in try await DeviceSets(session).blockCounts(app: app).enumerated() {
      for block in 0..<blocks {
        for start in stride(from: 0, to: tags.count, by: Self.tagsPerScript) {
          let some = start..<min(tags.count, start + Self.tagsPerScript)
          let names = [SetName(.active)] + tags[some].map { SetName(.tag, $0) }
          let sets = try await DeviceSets(session).stored(names, block: block, partition: partition, app: app)
          let active = SetBlock.words(sets[0])
          for (place, set) in zip(some, sets.dropFirst()) { counts[place] += SetBlock.count(set, and: active) }
        }
      }
    }
    return counts
  }

  /// Names of attributes that devices of the app have, sorted.
  package func attributeNames(app: AppID) async throws(StoreError) -> [String] {
    var commands: [RedisCommand] = []
    for (partition, blocks) in try await DeviceSets(session).blockCounts(app: app).enumerated() {
      for block in 0..<blocks {
        commands.append(RedisCommand("HKEYS", keys.setBucket(partition, app, SetName(.attribute), block: block)))
      }
    }
    let names = try await ask(commands).flatMap { $0.array ?? [] }.compactMap(\.text).compactMap(SetName.init(text:))
    return Set(names.map(\.value)).map(\.text).sorted()
  }
}
