package import Domain
import TLS

extension ProviderName {
  /// As configurations and devices' tokens name it.
  package static let webPush = Self(rawValue: "webpush")
}

/// Browsers' push services (RFC 8030), with an own key (RFC 8292) and messages that only the browser can read (RFC 8291).
package struct WebPushProvider: PushProvider {
  package init() {}

  package var name: ProviderName { .webPush }

  package var settings: [CredentialSetting] {
    [
      CredentialSetting(
        "key_file", .secretFile, required: true,
        help: "the VAPID key: a P-256 key in PEM, or its private number in base64url"),
      CredentialSetting(
        "subject", required: true, help: "whom a push service writes to about this sender: mailto: or https:"),
      CredentialSetting(
        "services", .each(of: PushService.usual), required: false,
        help:
          "the push services that subscriptions may name, each with its own connections and circuit breaker (all usual ones)"
      ),
    ]
  }

  /// A subscription shows notifications; a background push wakes the site's service worker.
  package func carries(_ pushType: PushType, to address: Address) -> Bool {
    (pushType.kind == .alert || pushType.kind == .background) && address.tokenKind == .device
  }

  /// One account per push service: `services` names one host here. Asks no service anything.
  package func open(_ credential: Credential) throws(CredentialFault) -> any ProviderAccount {
    let name = credential.texts["services"] ?? ""
    guard let service = PushService(name) else {
      throw CredentialFault(
        setting: "services", problem: "\"\(name)\" is not a host, with a port or without",
        fix: "leave it out for \(PushService.usual.joined(separator: ", "))")
    }
    return WebPushAccount(
      credential: credential.id, service: service,
      key: try Self.key(of: credential), subject: try Self.subject(of: credential))
  }

  private static func key(of credential: Credential) throws(CredentialFault) -> SigningKey {
    let bytes = credential.files["key_file"] ?? []
    do throws(KeyFault) {
      let text = String(decoding: bytes, as: UTF8.self).trimmed
      if let scalar = Base64URL.decode(text), !scalar.isEmpty { return try SigningKey(scalar: scalar) }
      return try SigningKey(pem: bytes, for: .es256)
    } catch {
      throw CredentialFault(
        setting: "key_file", problem: "no VAPID key: \(error.reason)",
        fix:
          "make one by `openssl ecparam -name prime256v1 -genkey -noout`, or keep the one that the site subscribes with"
      )
    }
  }

  /// RFC 8292, section 2.1: a way to reach the sender. Services refuse a machine's own name.
  private static func subject(of credential: Credential) throws(CredentialFault) -> String {
    let text = credential.texts["subject"] ?? ""
    guard text.utf8.count <= 255, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), hasTarget(text) else {
      throw CredentialFault(
        setting: "subject", problem: "not a mailto: or https: address that the services can reach",
        fix: "write mailto:push@example.com")
    }
    return text
  }

  private static func hasTarget(_ text: String) -> Bool {
    if text.hasPrefix("mailto:") {
      let parts = text.dropFirst("mailto:".count).split(separator: "@", omittingEmptySubsequences: false)
      return parts.count == 2 && !parts[0].isEmpty && isPublic(parts[1])
    }
    guard text.hasPrefix("https://") else { return false }
    return isPublic(text.dropFirst("https://".count).prefix { !"/:?#".contains($0) })
  }

  private static func isPublic(_ text: some StringProtocol) -> Bool {
    let host = text.lowercased()
    return PushService.isHost(host) && host.contains(".") && !host.hasSuffix(".localhost")
  }
}

extension String {
  /// Without white space at its ends.
  fileprivate var trimmed: String {
    func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }
    let bytes = utf8.drop(while: isSpace)
    guard let last = bytes.lastIndex(where: { !isSpace($0) }) else { return "" }
    return String(decoding: bytes[...last], as: UTF8.self)
  }
}
