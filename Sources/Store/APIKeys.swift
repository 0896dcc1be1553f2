package import Domain

package enum Scope: String, Hashable, Sendable, CaseIterable {
  case send, devices, read, admin, register
}

package struct APIKey: Hashable, Sendable {
  /// Shown in lists and logs; not the secret.
  package var id: String
  package var app: AppID
  package var scopes: Set<Scope>
  package var note: String
  package var createdAt: WallTime
}

extension Store {
  /// Makes a key; the secret (`fk_…`) is returned once and stored hashed.
  package func createKey(app: AppID, scopes: Set<Scope>, note: String, now: WallTime) async throws(StoreError) -> (
    key: APIKey, secret: String
  ) { preconditionFailure("not built yet") }
  /// The key of a presented secret; cached for a few seconds, so that a revocation is seen soon.
  package func key(forSecret secret: String) async throws(StoreError) -> APIKey? {
    preconditionFailure("not built yet")
  }
  package func keys(app: AppID) async throws(StoreError) -> [APIKey] { preconditionFailure("not built yet") }
  package func revokeKey(_ id: String, app: AppID) async throws(StoreError) -> Bool {
    preconditionFailure("not built yet")
  }
}
