import Domain

extension Intake {
  /// APNs tokens have no fixed length; this much hex is taken (protocols/apns.md section 12).
  private static let longestHexToken = 512
  private static let longestToken = 4_096
  private static let longestAliasPart = 128

  /// Provider, token and what the token is bound to, as a target or a device gives them.
  static func readAddress(_ fields: Fields, _ findings: inout Findings) -> Address? {
    for name in ["provider", "token"] where !fields.has(name) {
      findings.refuse(fields.place.member(name), .required, "`\(name)` is missing")
    }
    let provider = fields["provider"].flatMap {
      readProvider($0, at: fields.place.member("provider"), &findings)
    }
    let environment = fields.choice("environment", Environment.self, &findings) ?? .production
    let tokenKind = fields.choice("token_kind", TokenKind.self, &findings) ?? .device
    let bundleID = readBundleID(fields, &findings)
    let activityToken = fields.text("live_activity_token", .identifier(longestHexToken), &findings)
    guard let token = readToken(fields, of: provider, tokenKind, &findings), let provider else { return nil }
    if provider != .apns {
      if environment == .sandbox {
        findings.refuse(
          fields.place.member("environment"), .notAllowed, "only APNs has a sandbox: leave `environment` out")
      }
      if bundleID != nil {
        findings.refuse(
          fields.place.member("bundle_id"), .notAllowed, "only APNs tokens are bound to a `bundle_id`: leave it out")
      }
    }
    if activityToken != nil, provider != .fcm {
      findings.warn(
        fields.place.member("live_activity_token"), "ignored",
        "only FCM accepts it together with a device's token: register it as a separate token, with its `token_kind`")
    }
    let kinds = tokenKinds[provider] ?? TokenKind.allCases.filter(\.isOfDevice)
    if !kinds.contains(tokenKind) {
      let words = kinds.map(\.rawValue).joined(separator: ", ")
      findings.refuse(
        fields.place.member("token_kind"), .notAllowed,
        "a token of `\(provider.rawValue)` can be \(words), not \(tokenKind.rawValue)")
    }
    return Address(
      provider: provider, token: token, tokenKind: tokenKind, environment: environment, bundleID: bundleID,
      liveActivityToken: activityToken)
  }

  /// What tokens of the known providers can be; any kind for others. A channel is named in `to.channel` only.
  private static let tokenKinds: [ProviderName: [TokenKind]] = [
    .apns: TokenKind.allCases.filter { $0 != .fid && $0.isOfDevice },
    .fcm: [.device, .fid],
    .oneSignal: [.device, .voip, .activity],
  ]

  private static func readToken(
    _ fields: Fields, of provider: ProviderName?, _ kind: TokenKind, _ findings: inout Findings
  ) -> String? {
    guard let value = fields["token"] else { return nil }
    let place = fields.place.member("token")
    guard case .string(let token) = value else {
      findings.refuse(place, .wrongType, "must be a string, not \(value.article)")
      return nil
    }
    if let fault = TextRule.identifier(longestToken).fault(in: token) {
      findings.refuse(place, fault.code, "the token \(fault.detail)")
      return nil
    }
    switch provider {
    case .apns:
      guard token.utf8.count.isMultiple(of: 2), token.utf8.allSatisfy({ $0.isHexDigit }) else {
        findings.refuse(place, .invalidFormat, "an APNs token is an even number of hex digits, the bytes of the token")
        return nil
      }
      guard token.utf8.count <= longestHexToken else {
        findings.refuse(
          place, .tooLong, "the token has \(token.utf8.count) hex digits; the limit is \(longestHexToken)")
        return nil
      }
      return token.lowercased()
    // An activity goes by the id that its start gave it.
    case .oneSignal where kind == .activity: return token
    case .oneSignal: return readSubscription(token, at: place, &findings)
    default: return token
    }
  }

  /// A subscription id, or `alias:<label>:<id>`.
  private static func readSubscription(_ token: String, at place: Place, _ findings: inout Findings) -> String? {
    if token.hasPrefix("alias:") {
      let parts = token.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
      let label = parts.count == 3 ? parts[1] : ""[...].utf8
      let labelIsWord = label.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
      if parts.count == 3, !label.isEmpty, !parts[2].isEmpty, labelIsWord,
        label.count <= longestAliasPart, parts[2].count <= longestAliasPart
      {
        return token
      }
      findings.refuse(
        place, .invalidFormat,
        "an alias is `alias:<label>:<id>`: the label has letters, digits and `_`, each part has "
          + "1–\(longestAliasPart) bytes"
      )
      return nil
    }
    guard let id = UUIDBytes(token) else {
      findings.refuse(place, .invalidFormat, "a OneSignal token is a subscription id (a UUID) or `alias:<label>:<id>`")
      return nil
    }
    return id.description
  }

  static func readBundleID(_ fields: Fields, _ findings: inout Findings) -> String? {
    guard let text = fields.text("bundle_id", .identifier(155), &findings) else { return nil }
    let isPlain = text.utf8.allSatisfy {
      $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
    }
    guard isPlain else {
      findings.refuse(
        fields.place.member("bundle_id"), .invalidFormat, "a bundle id may hold only letters, digits, `.` and `-`")
      return nil
    }
    return text
  }
}
