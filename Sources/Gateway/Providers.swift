import APNs
package import Domain
import FCM
import OneSignal
import WebPush

/// The providers of this build. A fourth one is its folder under Providers/ and its line here.
package enum Providers {
  package static let all: [any PushProvider] = [
    APNsProvider(),
    FCMProvider(),
    OneSignalProvider(),
    WebPushProvider(),
  ]

  package static let byName: [ProviderName: any PushProvider] = Dictionary(
    uniqueKeysWithValues: all.map { ($0.name, $0) })
  package static let terms: [ProviderName: ProviderTerms] = byName.mapValues { ProviderTerms($0) }
}
