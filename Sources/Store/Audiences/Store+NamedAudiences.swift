package import Domain
import RedisClient

/// An expression that an app keeps under a name.
package struct NamedAudience: Hashable, Sendable {
  package var name: String
  /// Canonical; it may name other audiences.
  package var expression: String
  package init(name: String, expression: String) {
    self.name = name
    self.expression = expression
  }
}

/// Named audiences: texts by name. Whether they can be read, and lead to nobody but others, is the caller's to check.
extension Store {
  package static let maximumNamedAudiences = 1_000

  /// The expressions of these names, in order; nil where there is none.
  package func audiences(_ names: [String], app: AppID) async throws(StoreError) -> [String?] {
    guard !names.isEmpty else { return [] }
    let reply = try await ask(RedisCommand(words: ["HMGET", keys.audiences(app)] + names))
    return (reply.array ?? []).map(\.text)
  }

  /// All of an app, by name.
  package func audiences(app: AppID) async throws(StoreError) -> [NamedAudience] {
    pairs(try await ask(RedisCommand("HGETALL", keys.audiences(app))).array ?? []).map { name, expression in
      NamedAudience(
        name: String(decoding: name, as: UTF8.self), expression: String(decoding: expression, as: UTF8.self))
    }.sorted { $0.name < $1.name }
  }

  /// True if there was none of this name; nil if the app has as many as it may have, and nothing was kept.
  package func keep(_ audience: NamedAudience, app: AppID) async throws(StoreError) -> Bool? {
    let key = keys.audiences(app)
    let known = try await ask([RedisCommand("HLEN", key), RedisCommand("HEXISTS", key, audience.name)])
    if known[1].integer == 0, known[0].integer ?? 0 >= Self.maximumNamedAudiences { return nil }
    return try await ask(RedisCommand("HSET", key, audience.name, audience.expression)).integer == 1
  }

  /// True if there was one.
  package func removeAudience(_ name: String, app: AppID) async throws(StoreError) -> Bool {
    try await ask(RedisCommand("HDEL", keys.audiences(app), name)).integer == 1
  }
}
