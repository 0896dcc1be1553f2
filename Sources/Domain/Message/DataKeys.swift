/// The names under which an app finds what its platform has no field for. A credential may name them otherwise.
package struct DataKeys: Hashable, Sendable {
  /// The credential's setting that names the link; `link` without it.
  package static let linkSetting = "link_key"
  /// The credential's setting that names the buttons; `buttons` without it.
  package static let buttonsSetting = "buttons_key"

  package let link: String
  package let buttons: String

  /// For the list of a provider that carries links and buttons as data.
  package static let settings = [
    CredentialSetting(linkSetting, required: false, help: "the name under which the app finds the link (link)"),
    CredentialSetting(
      buttonsSetting, required: false, help: "the name under which the app finds the buttons (buttons)"),
  ]

  /// `taken`: names that mean something else there.
  package init(_ credential: Credential, taken: (String) -> Bool) throws(CredentialFault) {
    link = try Self.key(Self.linkSetting, "link", credential, taken)
    buttons = try Self.key(Self.buttonsSetting, "buttons", credential, taken)
    guard link != buttons else {
      throw CredentialFault(
        setting: Self.buttonsSetting, problem: "`link_key` has this name", fix: "leave it out for buttons")
    }
  }

  private static func key(
    _ setting: String, _ name: String, _ credential: Credential, _ taken: (String) -> Bool
  ) throws(CredentialFault) -> String {
    let key = credential.texts[setting] ?? name
    guard !key.isEmpty, key.utf8.count <= 64, !taken(key) else {
      throw CredentialFault(
        setting: setting, problem: "must be a name of at most 64 bytes that is not reserved",
        fix: "leave it out for \(name)")
    }
    return key
  }
}
