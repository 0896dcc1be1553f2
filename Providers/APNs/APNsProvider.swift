package import Domain
import TLS

/// Apple Push Notification service with token credentials (`.p8`).
package struct APNsProvider: PushProvider {
  package init() {}

  package var name: ProviderName { .apns }

  package var settings: [CredentialSetting] {
    [
      CredentialSetting("key_file", .secretFile, required: true, help: "the .p8 key from the developer account"),
      CredentialSetting("key_id", required: true, help: "the 10 characters shown beside the key"),
      CredentialSetting("team_id", required: true, help: "the 10 characters of the developer team"),
      CredentialSetting("topic", required: true, help: "the bundle id that devices without one of their own get"),
      CredentialSetting(
        "image_key", required: false, help: "root key that carries the image to the service extension (image_url)"),
    ]
  }

  /// Every kind has tokens of its own here: a Live Activity never goes to a device's.
  package func carries(_ errand: Errand, to address: Address) -> Bool {
    switch address.tokenKind {
    case .fid: false
    case .device: errand.kind == .alert || errand.kind == .background
    default: errand.tokenKinds.contains(address.tokenKind)
    }
  }

  package func open(_ credential: Credential) throws(CredentialFault) -> any ProviderAccount {
    let keyID = try Self.identifier("key_id", in: credential, names: "the key")
    let teamID = try Self.identifier("team_id", in: credential, names: "the team (Membership details)")
    guard let topic = credential.texts["topic"], !topic.isEmpty, Header.isSafeValue(topic), !topic.contains(" ") else {
      throw CredentialFault(
        setting: "topic", problem: "missing or not a bundle id", fix: "set it to the app's bundle id, com.example.app")
    }
    let imageKey = credential.texts["image_key"] ?? "image_url"
    guard !imageKey.isEmpty, imageKey != "aps" else {
      throw CredentialFault(
        setting: "image_key", problem: "must be a name other than aps", fix: "leave it out for image_url")
    }
    guard let pem = credential.files["key_file"], !pem.isEmpty else {
      throw CredentialFault(
        setting: "key_file", problem: "missing or empty", fix: "name the .p8 file downloaded with the key")
    }
    let key: SigningKey
    do { key = try SigningKey(pem: pem, for: .es256) } catch {
      throw CredentialFault(
        setting: "key_file", problem: "no P-256 private key in PKCS#8 PEM: \(error.reason)",
        fix: "use the .p8 file as downloaded, unchanged")
    }
    let host = credential.environment == .sandbox ? "api.sandbox.push.apple.com" : "api.push.apple.com"
    return APNsAccount(
      credential: credential.id, origin: credential.origin ?? Origin(host: host, port: 443), topic: topic,
      imageKey: imageKey, key: key, keyID: keyID, teamID: teamID)
  }

  private static func identifier(_ setting: String, in credential: Credential, names thing: String)
    throws(CredentialFault) -> String
  {
    let text = credential.texts[setting] ?? ""
    let fits =
      text.utf8.count == 10
      && text.utf8.allSatisfy {
        ($0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z")) || ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9"))
      }
    guard fits else {
      throw CredentialFault(
        setting: setting, problem: text.isEmpty ? "missing" : "not 10 characters of A–Z and 0–9",
        fix: "copy the id of \(thing) from the developer account")
    }
    return text
  }
}
