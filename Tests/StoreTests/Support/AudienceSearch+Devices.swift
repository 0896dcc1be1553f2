import Audience
import Domain
import Store

extension AudienceSearch {
  /// Live devices by provider, from the sets.
  func deviceCounts(app: AppID) async throws(StoreError) -> [ProviderName: Int] {
    try await count(AudienceSelection(expression: .everyone), app: app, now: WallTime(milliseconds: 0)).byProvider
  }
}
