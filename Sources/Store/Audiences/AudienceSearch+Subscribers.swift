import Audience
package import Domain

extension AudienceSearch {
  /// Devices of an app that receive, on the routes that count: exact at this moment.
  package func subscribers(
    of app: AppID, by provider: ProviderName, now: WallTime, where isMeant: (Address) -> Bool
  ) async throws(StoreError) -> Int {
    let selection = AudienceSelection(expression: .everyone, providers: [provider])
    return try await count(selection, app: app, now: now).byRoute.reduce(0) {
      $0 + (isMeant($1.key.address) ? $1.value : 0)
    }
  }
}
