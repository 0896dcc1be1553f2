package import Domain

/// OneSignal's create-notification call, for subscription ids and aliases, and its calls for Live Activities.
package struct OneSignalProvider: PushProvider {
  package init() {}

  package var name: ProviderName { .oneSignal }

  static let defaultSlice = 2_000
  static let largestSlice = 20_000
  static let currentKeys = "os_v2_"
  private static let organisationKeys = "os_v2_org_"

  package var settings: [CredentialSetting] {
    [
      CredentialSetting("app_id", required: true, help: "the OneSignal app id, a UUID"),
      CredentialSetting("api_key_file", .secretFile, required: true, help: "a file that holds the app API key"),
      CredentialSetting(
        "legacy_key", .flag, required: false,
        help: "true for a REST API key of the old kind (by itself: keys that start with \(Self.currentKeys) are new)"),
      CredentialSetting(
        "slice_limit", required: false,
        help: "recipients in one request, 1 to \(Self.largestSlice) (\(Self.defaultSlice))"),
    ]
  }

  /// An activity is started at devices and updated under its own id.
  package func carries(_ pushType: PushType, to address: Address) -> Bool {
    switch (pushType.kind, pushType.event) {
    case (.alert, _), (.background, _): address.tokenKind == .device || address.tokenKind == .subscribers
    case (.liveActivity, .start): address.tokenKind == .device
    case (.liveActivity, _): address.tokenKind == .activity
    case (.voip, _): address.tokenKind == .voip
    default: false
    }
  }

  /// Throws for organisation keys, and for `legacy_key` beside a key of the current form. Asks OneSignal nothing.
  package func open(_ credential: Credential) throws(CredentialFault) -> any ProviderAccount {
    guard let appID = UUIDBytes(credential.texts["app_id"] ?? "") else {
      throw CredentialFault(setting: "app_id", problem: "missing or no UUID", fix: "copy it from Settings, Keys & IDs")
    }
    let key = try Self.key(of: credential)
    let legacy = credential.texts["legacy_key"].map { $0 == "true" } ?? !key.hasPrefix(Self.currentKeys)
    guard !legacy || !key.hasPrefix(Self.currentKeys) else {
      throw CredentialFault(
        setting: "legacy_key", problem: "the key is a current one", fix: "leave it out: the key's form tells its kind")
    }
    guard !key.hasPrefix(Self.organisationKeys) else {
      throw CredentialFault(
        setting: "api_key_file", problem: "it holds an organisation key, which sends nothing",
        fix: "use an app API key from Settings, Keys & IDs")
    }
    var limit = Self.defaultSlice
    if let text = credential.texts["slice_limit"] {
      guard let number = Whole.read(text, in: 1...Self.largestSlice) else {
        throw CredentialFault(
          setting: "slice_limit", problem: "not a number from 1 to \(Self.largestSlice)",
          fix: "leave it out for \(Self.defaultSlice)")
      }
      limit = number
    }
    return OneSignalAccount(
      credential: credential.id, origin: credential.origin ?? Origin(host: "api.onesignal.com", port: 443),
      recipientLimit: limit, appID: appID, authorization: (legacy ? "Basic " : "Key ") + key, isLegacy: legacy)
  }

  /// The file's text; a line end behind it is not part of the key.
  private static func key(of credential: Credential) throws(CredentialFault) -> String {
    var bytes = credential.files["api_key_file"] ?? []
    while let last = bytes.last, last == 0x0a || last == 0x0d || last == 0x20 { bytes.removeLast() }
    let key = String(decoding: bytes, as: UTF8.self)
    guard !key.isEmpty, key.utf8.count <= 1024, Header.isSafeValue(key), !key.contains(" ") else {
      throw CredentialFault(
        setting: "api_key_file", problem: "missing, empty or not a single word",
        fix: "put the key alone into a file that only Fanfare's user can read")
    }
    return key
  }
}
