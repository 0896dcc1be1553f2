import APNs
package import Domain
import FCM
import OneSignal
import WebPush

/// The providers of this build. A fourth one is its folder under Providers/ and its line here.
package enum Providers {
  /// In the order in which help and reports name them.
  package static let all: [any PushProvider] = [
    APNsProvider(),
    FCMProvider(),
    OneSignalProvider(),
    WebPushProvider(),
  ]

  /// By the name that configurations, tokens' routes and metrics use.
  package static let byName: [ProviderName: any PushProvider] = Dictionary(
    uniqueKeysWithValues: all.map { ($0.name, $0) })
  /// What the configuration's reader has to know of each provider.
  package static let terms: [ProviderName: ProviderTerms] = byName.mapValues { ProviderTerms($0) }
}
