import Domain
import RedisClient

/// What an app keeps under names of its own: a hash for each kind of thing. Holds nothing but its session, on whose loop it
/// is used. Whether a text can be read is the caller's to check.
struct NamedTexts: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  typealias NamedText = (name: String, text: String)

  /// In the order of the names; nil where there is none.
  func texts(_ names: [String], in key: String) async throws(StoreError) -> [String?] {
    guard !names.isEmpty else { return [] }
    return (try await ask(RedisCommand(words: ["HMGET", key] + names)).array ?? []).map(\.text)
  }

  /// All, by name.
  func texts(in key: String) async throws(StoreError) -> [NamedText] {
    pairs(try await ask(RedisCommand("HGETALL", key)).array ?? []).map { name, text in
      (String(decoding: name, as: UTF8.self), String(decoding: text, as: UTF8.self))
    }.sorted { $0.name < $1.name }
  }

  /// True if there was none of this name; nil if there are `limit`, and nothing was kept.
  func keep(_ text: String, as name: String, in key: String, limit: Int) async throws(StoreError) -> Bool? {
    let reply = try await ask(Scripts.keepNamed, keys: [key], [.text(name), .text(text), .number(Int64(limit))])
    return reply.integer == -1 ? nil : reply.integer == 1
  }

  /// True if there was one.
  func remove(_ name: String, in key: String) async throws(StoreError) -> Bool {
    try await ask(RedisCommand("HDEL", key, name)).integer == 1
  }
}
