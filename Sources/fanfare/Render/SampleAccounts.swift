import Domain
import JSON
import TLS

/// Accounts of all providers with keys made on the spot: enough to render, good for nothing else.
enum SampleAccounts {
  static let bundleID = "com.example.app"
  private static let project = "sample-project"

  static func make() -> [SampleRequests.Source] {
    Providers.all.compactMap { provider in
      var credential = Credential(
        id: CredentialID(rawValue: "sample/\(provider.name.rawValue)"), app: AppID(rawValue: "sample"),
        provider: provider.name)
      credential.texts = texts(of: provider.name)
      credential.files = files(of: provider.name)
      guard let account = try? provider.open(credential) else {
        preconditionFailure("a sample account of \(provider.name.rawValue) does not open")
      }
      return (CredentialRoute(credential: credential.id, provider: provider.name, environment: .production), account)
    }
  }

  private static func texts(of provider: ProviderName) -> [String: String] {
    switch provider {
    case .apns: ["key_id": "SAMPLEKEY0", "team_id": "SAMPLETEAM", "topic": bundleID]
    case .oneSignal: ["app_id": "00000000-0000-4000-8000-000000000000"]
    default: [:]
    }
  }

  private static func files(of provider: ProviderName) -> [String: [UInt8]] {
    switch provider {
    case .apns: ["key_file": SigningKey.generate(.es256).pem]
    case .fcm: ["service_account_file": serviceAccount]
    case .oneSignal: ["api_key_file": Array("os_v2_app_sample".utf8)]
    default: [:]
    }
  }

  private static var serviceAccount: [UInt8] {
    JSONValue.object([
      JSONMember("type", .string("service_account")), JSONMember("project_id", .string(project)),
      JSONMember("private_key_id", .string("sample")),
      JSONMember("private_key", .string(String(decoding: SigningKey.generate(.rs256).pem, as: UTF8.self))),
      JSONMember("client_email", .string("sample@\(project).iam.gserviceaccount.com")),
      JSONMember("token_uri", .string("https://oauth2.googleapis.com/token")),
    ]).encoded
  }
}
