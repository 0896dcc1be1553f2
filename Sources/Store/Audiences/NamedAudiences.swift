package import Domain
import RedisClient

/// An expression that an app keeps under a name.
package struct NamedAudience: Hashable, Sendable {
  package var name: String
  /// Canonical; it may name other audiences.
  package var expression: String
  /// `name` is well formed and `expression` canonical: the caller has checked both.
  package init(name: String, expression: String) {
    self.name = name
    self.expression = expression
  }
}

/// Named audiences of an app. Holds nothing but its session, on whose loop it is used. That an expression parses, and
/// that names form no circle, is the caller's to check.
package struct NamedAudiences: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// Named audiences of one app; one more is refused as `full`.
  package static let maximum = 1_000

  /// The expressions of these names, in order; nil where there is none.
  package func find(_ names: [String], app: AppID) async throws(StoreError) -> [String?] {
    try await NamedTexts(session).texts(names, in: keys.audiences(app))
  }

  /// All of an app, by name.
  package func all(app: AppID) async throws(StoreError) -> [NamedAudience] {
    try await NamedTexts(session).texts(in: keys.audiences(app)).filter { !$0.name.isEmpty }
      .map { NamedAudience(name: $0.name, expression: $0.text) }
  }

  /// Counts the changes of an app's audiences. Read it before the expressions that a change is checked against: `keep`
  /// and `remove` do nothing once it has grown.
  package func edition(app: AppID) async throws(StoreError) -> Int64 {
    try await ask(RedisCommand("HGET", keys.audiences(app), "")).integer ?? 0
  }

  /// What became of one named audience.
  package enum Change: Hashable, Sendable {
    case added, replaced, removed
    /// There was none to remove.
    case missing
    /// The app has as many as it may have.
    case full
    /// Others came between: nothing was done.
    case crossed
  }

  /// Only while the app's audiences are those of `edition`, so that two changes at once never make a circle.
  package func keep(_ audience: NamedAudience, app: AppID, edition: Int64) async throws(StoreError) -> Change {
    try await change(
      app,
      [.number(edition), .text(audience.name), .text(audience.expression), .number(Int64(Self.maximum))])
  }

  /// Does nothing where the audiences are no longer those of `edition`, as `keep`.
  package func remove(_ name: String, app: AppID, edition: Int64) async throws(StoreError) -> Change {
    try await change(app, [.number(edition), .text(name)])
  }

  private func change(_ app: AppID, _ arguments: [RedisArgument]) async throws(StoreError) -> Change {
    let answer = try await ask(
      Scripts.changeAudience, keys: [keys.audiences(app)], arguments, partition: keys.partition((app.rawValue, "")))
    return switch answer.text {
    case "added": .added
    case "replaced": .replaced
    case "removed": .removed
    case "missing": .missing
    case "full": .full
    default: .crossed
    }
  }
}
