package import Domain
import RedisClient

/// A tag and how many live devices have it, by themselves or by their user.
package struct TagCount: Hashable, Sendable {
  package var tag: String
  package var devices: Int
}

extension Store {
  /// Tags counted at a time.
  private static let tagsPerStep = 200

  /// Tags that begin with `prefix` in the order of their bytes, behind `cursor`; without those that only dead or disabled
  /// devices have. Each page looks through all names of tags: a call for people, not for the path of a push.
  package func tags(
    _ app: AppID, prefix: String, limit: Int, cursor: String?
  ) async throws(StoreError) -> (items: [TagCount], next: String?) {
    var items: [TagCount] = []
    var cursor = cursor
    while true {
      let names = try await tagNames(app, prefix: prefix, after: cursor, limit: max(limit, Self.tagsPerStep) + 1)
      let more = names.count > max(limit, Self.tagsPerStep)
      let step = more ? Array(names.dropLast()) : names
      for (tag, count) in zip(step, try await liveCounts(ofTags: step, app)) where count > 0 {
        guard items.count < limit else { return (items, items.last?.tag) }
        items.append(TagCount(tag: tag, devices: count))
      }
      guard more else { return (items, nil) }
      cursor = step.last
    }
  }

  /// The first names behind `after`.
  private func tagNames(_ app: AppID, prefix: String, after: String?, limit: Int) async throws(StoreError) -> [String] {
    var names = Set<ExactText>()
    func trim() {
      guard names.count > limit else { return }
      names = Set(names.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }.prefix(limit))
    }
    for (partition, blocks) in try await blockCounts(app: app).enumerated() {
      for block in 0..<blocks {
        for tag in try await tags(beginning: prefix, block: block, partition: partition, app: app) {
          if let after, !after.utf8.lexicographicallyPrecedes(tag.utf8) { continue }
          names.insert(ExactText(tag))
          if names.count > 8 * limit { trim() }
        }
      }
    }
    trim()
    return names.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private func liveCounts(ofTags tags: [String], _ app: AppID) async throws(StoreError) -> [Int] {
    var counts = [Int](repeating: 0, count: tags.count)
    let names = [SetName(.active)] + tags.map { SetName(.tag, $0) }
    for (partition, blocks) in try await blockCounts(app: app).enumerated() {
      for block in 0..<blocks {
        let words = try await self.blocks(names, block: block, partition: partition, app: app)
        for place in tags.indices { counts[place] += SetBlock.count(words[0], and: words[place + 1]) }
      }
    }
    return counts
  }

  /// Names of attributes that devices of the app have, sorted.
  package func attributeNames(app: AppID) async throws(StoreError) -> [String] {
    var commands: [RedisCommand] = []
    for (partition, blocks) in try await blockCounts(app: app).enumerated() {
      for block in 0..<blocks {
        commands.append(RedisCommand("HKEYS", keys.setBucket(partition, app, SetName(.attribute), block: block)))
      }
    }
    let names = try await ask(commands).flatMap { $0.array ?? [] }.compactMap(\.text).compactMap(SetName.init(text:))
    return Set(names.map(\.value)).map(\.text).sorted()
  }
}
