import Domain
import Gateway

/// Accounts of all providers with keys made on the spot: enough to render, good for nothing else.
enum SampleAccounts {
  static func make() -> [SampleRequests.Source] {
    Providers.all.map { provider in
      var credential = Credential(
        id: CredentialID(rawValue: "sample/\(provider.name.rawValue)"), app: AppID(rawValue: "sample"),
        provider: provider.name)
      let sample = provider.sample
      credential.texts = sample.texts
      credential.files = sample.files
      guard let account = try? provider.open(credential) else {
        preconditionFailure("a sample account of \(provider.name.rawValue) does not open")
      }
      return (CredentialRoute(credential: credential.id, provider: provider.name, environment: .production), account)
    }
  }
}
