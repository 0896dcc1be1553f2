package import Domain

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

/// Named audiences. Whether they can be read, and lead to nobody but others, is the caller's to check.
extension Store {
  package static let maximumNamedAudiences = 1_000

  /// The expressions of these names, in order; nil where there is none.
  package func audiences(_ names: [String], app: AppID) async throws(StoreError) -> [String?] {
    try await texts(names, in: keys.audiences(app))
  }

  /// All of an app, by name.
  package func audiences(app: AppID) async throws(StoreError) -> [NamedAudience] {
    try await texts(in: keys.audiences(app)).map { NamedAudience(name: $0.name, expression: $0.text) }
  }

  /// True if there was none of this name; nil if the app has as many as it may have, and nothing was kept.
  package func keep(_ audience: NamedAudience, app: AppID) async throws(StoreError) -> Bool? {
    try await keep(
      audience.expression, as: audience.name, in: keys.audiences(app), limit: Self.maximumNamedAudiences)
  }

  /// True if there was one.
  package func removeAudience(_ name: String, app: AppID) async throws(StoreError) -> Bool {
    try await removeText(name, in: keys.audiences(app))
  }
}
