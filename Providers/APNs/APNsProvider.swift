package import Domain

/// Apple Push Notification service, with token keys (`.p8`) and certificates.
package struct APNsProvider: PushProvider {
  package init() {}

  package var name: ProviderName { .apns }

  package var settings: [CredentialSetting] {
    [
      CredentialSetting("key_file", .secretFile, required: false, help: "the .p8 key from the developer account"),
      CredentialSetting("key_id", required: false, help: "the 10 characters shown beside the key"),
      CredentialSetting("team_id", required: false, help: "the 10 characters of the developer team"),
      CredentialSetting(
        APNsCertificate.file, .secretFile, required: false,
        help: "instead of a key: a push certificate, .p12 or PEM"),
      CredentialSetting(
        APNsCertificate.keyFile, .secretFile, required: false,
        help: "the certificate's key, if it is not part of certificate_file"),
      CredentialSetting(
        APNsCertificate.passwordFile, .secretFile, required: false, help: "a file with the password of the .p12 or key"),
      CredentialSetting("topic", required: false, help: "the bundle id for devices without one"),
      CredentialSetting(
        "bundle_ids", .texts, required: false, help: "the bundle ids of a topic-specific key (all)"),
      CredentialSetting("token_kinds", .texts, required: false, help: "kinds of token that it serves (all)"),
      CredentialSetting(
        "channels_origin", required: false, help: "host:port that manages broadcast channels (the vendor's)"),
      CredentialSetting(
        "image_key", required: false, help: "root key that carries the image to the service extension (image_url)"),
    ] + DataKeys.settings
  }

  /// Every kind has tokens of its own here: a Live Activity never goes to a device's.
  package func carries(_ pushType: PushType, to address: Address) -> Bool {
    switch address.tokenKind {
    case .fid, .subscribers: false
    case .device: pushType.kind == .alert || pushType.kind == .background
    default: pushType.tokenKinds.contains(address.tokenKind)
    }
  }

  /// Throws for settings that contradict each other, and for keys and certificates that cannot be read. Asks Apple
  /// nothing.
  package func open(_ credential: Credential) throws(CredentialFault) -> any ProviderAccount {
    let imageKey = credential.texts["image_key"] ?? "image_url"
    guard !imageKey.isEmpty, imageKey != "aps" else {
      throw CredentialFault(
        setting: "image_key", problem: "must be a name other than aps", fix: "leave it out for image_url")
    }
    let dataKeys = try DataKeys(credential) { name in
      name == "aps" || name == imageKey || name == APNsPayload.encryptedBodyKey
    }
    let (proof, coverage) = try Self.proof(of: credential)
    guard let topic = coverage.ownBundleID else { preconditionFailure("an account of APNs without a topic") }
    let host = credential.environment == .sandbox ? "api.sandbox.push.apple.com" : "api.push.apple.com"
    return APNsAccount(
      credential: credential.id, origin: credential.origin ?? Origin(host: host, port: 443),
      channelOrigin: try Self.channelOrigin(of: credential), topic: topic,
      imageKey: imageKey, dataKeys: dataKeys, proof: proof, coverage: coverage)
  }
}
