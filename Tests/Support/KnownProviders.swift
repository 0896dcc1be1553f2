import APNs
package import Domain
import FCM
import OneSignal
import WebPush

/// What tokens of the shipped providers are like.
package let knownProviders: [ProviderName: TokenRules] = [
  .apns: APNsProvider().tokens, .fcm: FCMProvider().tokens, .oneSignal: OneSignalProvider().tokens,
  .webPush: WebPushProvider().tokens,
]
