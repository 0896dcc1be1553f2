import APNs
import Domain
import FCM
import OneSignal
import WebPush

/// The providers of this build. A fourth one is its folder under Providers/ and its line here.
enum Providers {
  static let all: [any PushProvider] = [
    APNsProvider(),
    FCMProvider(),
    OneSignalProvider(),
    WebPushProvider(),
  ]

  static let byName: [ProviderName: any PushProvider] = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
  static let terms: [ProviderName: ProviderTerms] = byName.mapValues { ProviderTerms($0) }
}
