package import Domain
import JSON
import TLS

/// Firebase Cloud Messaging, HTTP v1, with a service account's key, the metadata server or a workload identity.
package struct FCMProvider: PushProvider {
  package init() {}

  package var name: ProviderName { .fcm }

  package var settings: [CredentialSetting] {
    [
      CredentialSetting(
        "service_account_file", .secretFile, required: false, help: "the service account's JSON key file"),
      CredentialSetting(
        ExternalAccount.setting, .secretFile, required: false,
        help: "instead of a key: the credential file of a workload identity"),
      CredentialSetting(
        "metadata_server", required: false,
        help: "instead of a key: \"default\", or the address of an account of the machine in the cloud"),
      CredentialSetting(
        "metadata_host", required: false, help: "another metadata server (\(MetadataServer.vendorHost))",
        variable: "GCE_METADATA_HOST"),
      CredentialSetting("project_id", required: false, help: "the project, if it is not the file's"),
      CredentialSetting("analytics_label", required: false, help: "label of all messages in the vendor's reports"),
    ] + DataKeys.settings
  }

  /// A Live Activity is reached through its device. A call is urgent data: FCM has no tokens of its own for it.
  package func carries(_ pushType: PushType, to address: Address) -> Bool {
    switch pushType.kind {
    case .alert, .background, .liveActivity, .voip: address.tokenKind == .device || address.tokenKind == .fid
    default: false
    }
  }

  /// Throws where there is no source of access tokens or more than one, and where no project is known. Asks Google
  /// nothing.
  package func open(_ credential: Credential) throws(CredentialFault) -> any ProviderAccount {
    let (source, ownProject) = try Self.source(of: credential)
    guard let project = credential.texts["project_id"] ?? ownProject else {
      throw CredentialFault(
        setting: "project_id", problem: "missing",
        fix: "set it to the id shown in Project settings, such as my-app-1a2b")
    }
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
    let dataKeys = try DataKeys(credential) { name in
      name == FCMAccount.encryptedBodyKey || name == FCMAccount.collapseKey || FCMAccount.isReserved(name)
    }
    return FCMAccount(
      credential: credential.id, origin: credential.origin ?? Origin(host: "fcm.googleapis.com", port: 443),
      project: project, analyticsLabel: label, dataKeys: dataKeys, source: source)
  }

  /// Where tokens come from, and the project that goes with it.
  private static func source(of credential: Credential) throws(CredentialFault) -> (any TokenSource, String?) {
    let key = "service_account_file"
    let given = [key, ExternalAccount.setting, "metadata_server"].filter {
      credential.files[$0] != nil || credential.texts[$0] != nil
    }
    guard given.count <= 1 else {
      throw CredentialFault(
        setting: given[1], problem: "a credential has one source of tokens, and \(given[0]) is given too",
        fix: "keep one of them")
    }
    if let file = credential.files[ExternalAccount.setting] {
      let account = try ExternalAccount(file: file)
      return (account, account.project)
    }
    if let account = credential.texts["metadata_server"] {
      let host = credential.texts["metadata_host"] ?? MetadataServer.vendorHost
      return (try MetadataServer(account: account, host: host), nil)
    }
    guard let file = credential.files[key], !file.isEmpty else {
      throw CredentialFault(
        setting: key, problem: "missing or empty",
        fix: "name the key file made under Project settings, Service accounts; or set external_account_file or "
          + "metadata_server")
    }
    let account = try ServiceAccount(file: file)
    return (account, account.project)
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
