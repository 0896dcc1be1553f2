import APNs
import Domain
import FCM
import OneSignal
import WebPush

@testable import API
@testable import Store

/// What the targets have in common: the providers that ship, an account of each, and a moment.
enum FuzzWorld {
  static let now = WallTime(seconds: 1_780_000_000)
  static let app = AppID(rawValue: "shop")
  static let providers: [any PushProvider] = [APNsProvider(), FCMProvider(), OneSignalProvider(), WebPushProvider()]
  static let rules = Dictionary(uniqueKeysWithValues: providers.map { ($0.name, $0.tokens) })

  /// In the order of `providers`, each with the account of its sample.
  static let accounts: [any ProviderAccount] = providers.map { provider in
    var credential = Credential(id: CredentialID(rawValue: provider.name.rawValue), app: app, provider: provider.name)
    (credential.texts, credential.files) = (provider.sample.texts, provider.sample.files)
    do throws(CredentialFault) {
      return try provider.open(credential)
    } catch {
      fatalError("the sample of \(provider.name.rawValue): \(error)")
    }
  }

  static let key = APIKey(
    id: "key", app: app, name: "fuzz", scopes: [.admin], createdAt: now, addresses: [], secrets: [])
}
