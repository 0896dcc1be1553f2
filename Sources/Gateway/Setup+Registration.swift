import Domain
package import Store

extension Setup {
  /// What keys of scope `register` allow that nobody has decided. Such a key stands in an app, where anybody finds it.
  package func risks(ofKeysIn store: Store) async throws(StoreError) -> [Risk] {
    var risks: [Risk] = []
    for app in apps.values.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
      guard app.registration.identity == nil, !app.registration.decidesAnonymous else { continue }
      let keys = try await store.keyring.keys(app: app.id)
      guard let key = keys.first(where: { $0.scopes == [.register] }) else { continue }
      risks.append(
        Risk(
          code: "unsigned_registration",
          text: "whoever takes the key \(key.id) out of the app can register devices for \(app.id.rawValue) "
            + "without identity tokens: set registration.keys of the app, or accept it with "
            + "registration.anonymous.allowed"))
    }
    return risks
  }
}
