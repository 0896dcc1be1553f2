package import Domain
import JSON
import TLS

/// Firebase Cloud Messaging, HTTP v1, with a service-account key.
package struct FCMProvider: PushProvider {
  package init() {}

  package var name: ProviderName { .fcm }

  package var settings: [CredentialSetting] {
    [
      CredentialSetting(
        "service_account_file", .secretFile, required: true, help: "the service account's JSON key file"),
      CredentialSetting("project_id", required: false, help: "another project than the key file's own"),
      CredentialSetting("analytics_label", required: false, help: "label of all messages in the vendor's reports"),
    ]
  }

  /// A Live Activity is reached through its device.
  package func carries(_ errand: Errand, to address: Address) -> Bool {
    switch errand.kind {
    case .alert, .background, .liveActivity: address.tokenKind == .device || address.tokenKind == .fid
    default: false
    }
  }

  package func open(_ credential: Credential) throws(CredentialFault) -> any ProviderAccount {
    guard let file = credential.files["service_account_file"], !file.isEmpty else {
      throw CredentialFault(
        setting: "service_account_file", problem: "missing or empty",
        fix: "name the key file made under Project settings, Service accounts")
    }
    let serviceAccount = try ServiceAccount(file: file)
    let project = credential.texts["project_id"] ?? serviceAccount.project
    guard Self.isProject(project) else {
      throw CredentialFault(
        setting: "project_id", problem: "no project id",
        fix: "use the id shown in Project settings, such as my-app-1a2b")
    }
    let label = credential.texts["analytics_label"]
    if let label, !Self.isLabel(label) {
      throw CredentialFault(
        setting: "analytics_label", problem: "not 1 to 50 of letters, digits and -_.~%", fix: "shorten or leave it out")
    }
    return FCMAccount(
      credential: credential.id, origin: credential.origin ?? Origin(host: "fcm.googleapis.com", port: 443),
      project: project, analyticsLabel: label, serviceAccount: serviceAccount)
  }

  private static func isProject(_ text: String) -> Bool {
    (1...100).contains(text.utf8.count) && text.utf8.allSatisfy { isWord($0) || "-:.".utf8.contains($0) }
  }
  private static func isLabel(_ text: String) -> Bool {
    (1...50).contains(text.utf8.count) && text.utf8.allSatisfy { isWord($0) || "-_.~%".utf8.contains($0) }
  }
  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
