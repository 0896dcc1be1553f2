/// A secret that an app makes for each of its installations and keeps there. Who knows it may say which tokens the installation
/// has now; nobody can find it by guessing, and it is stored nowhere: the ids of devices are derived from it, one-way.
package struct InstallationID: Hashable, Sendable {
  package let text: String

  /// Bytes of UTF-8: 22 letters of base64url hold 128 random bits.
  package static let shortest = 22
  /// Bytes of UTF-8.
  package static let longest = 128
  /// Fewer different characters are no random text of this length.
  private static let leastVariety = 8

  /// Nil: it could be guessed.
  package init?(_ text: String) {
    guard (Self.shortest...Self.longest).contains(text.utf8.count), Set(text.utf8).count >= Self.leastVariety else {
      return nil
    }
    self.text = text
  }

  /// What tells tokens of one installation apart. A new one of the same kind takes the place of the one before; environment
  /// and bundle id are the app's own. Activities are told apart by name.
  package func slot(of device: Device) -> String {
    let kind =
      switch device.address.tokenKind {
      // The provider replaces one by the other.
      case .fid: TokenKind.device
      default: device.address.tokenKind
      }
    let activity = kind == .activity ? device.activityID ?? "" : ""
    return [device.address.provider.rawValue, kind.rawValue, activity].joined(separator: "\0")
  }
}
