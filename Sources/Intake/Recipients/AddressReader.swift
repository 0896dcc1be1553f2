import Domain
import JSON

/// Reads a token and what it is bound to.
package enum AddressReader {
  private static let longestActivityToken = 512
  private static let longestBundleID = 155
  /// Of a provider whose rules are not known.
  private static let kindsOfDevices = TokenKind.allCases.filter(\.isOfDevice)

  /// Provider, token and what the token is bound to, as a target or a device gives them.
  static func read(_ fields: Fields, _ findings: inout Findings) -> Address? {
    fields.require("provider", "`provider` is missing: it is apns, fcm, onesignal or webpush", &findings)
    fields.require("token", "`token` is missing: the provider's token of the device", &findings)
    let known = fields["provider"].flatMap {
      ProviderReader.read($0, at: fields.place.member("provider"), &findings)
    }
    let provider = known?.name
    let environment = fields.choice("environment", Environment.self, &findings) ?? .production
    let tokenKind = fields.choice("token_kind", TokenKind.self, &findings) ?? .device
    let bundleID =
      provider == .apns ? Self.bundleID(fields, &findings) : fields.text("bundle_id", .line(300), &findings)
    let activityToken = fields.text("live_activity_token", .identifier(longestActivityToken), &findings)
    guard let token = readToken(fields, known?.rules, tokenKind, &findings), let provider else { return nil }
    if provider != .apns {
      if environment == .sandbox {
        findings.refuse(
          fields.place.member("environment"), .notAllowed, "only APNs has a sandbox: leave `environment` out")
      }
      // A device that was read from here may be written again. Without rules it was compared before.
      if bundleID != nil, bundleID != token.bundleID, findings.providers != nil {
        let bound = token.bundleID.map { "this token is bound to `\($0)`" }
        findings.refuse(
          fields.place.member("bundle_id"), .notAllowed,
          "\(bound ?? "only APNs tokens are bound to a `bundle_id`"): leave it out")
      }
    }
    if activityToken != nil, provider != .fcm {
      findings.warn(
        fields.place.member("live_activity_token"), "ignored",
        "only FCM accepts it together with a device's token: register it as a separate token, with its `token_kind`")
    }
    let kinds = known?.rules?.kinds ?? kindsOfDevices
    if !kinds.contains(tokenKind) {
      let words = kinds.map(\.rawValue).joined(separator: ", ")
      findings.refuse(
        fields.place.member("token_kind"), .notAllowed,
        "a token of `\(provider.rawValue)` can be \(words), not \(tokenKind.rawValue)")
    }
    return Address(
      provider: provider, token: token.text, tokenKind: tokenKind, environment: environment,
      bundleID: bundleID ?? token.bundleID,
      liveActivityToken: activityToken)
  }

  /// As the provider's rules read it, where they are known.
  private static func readToken(
    _ fields: Fields, _ rules: TokenRules?, _ kind: TokenKind, _ findings: inout Findings
  ) -> TokenRules.Token? {
    guard let value = fields["token"] else { return nil }
    var place: Place { fields.place.member("token") }
    // Without rules it is any provider's, and was read by them before.
    let form = rules?.form ?? (findings.providers == nil ? .document : .identifier)
    let text: String
    switch value {
    case .string(let given): text = given
    case .object where form == .document: text = String(decoding: value.encoded, as: UTF8.self)
    default:
      let wanted = form == .document ? "a string or an object" : "a string"
      findings.refuse(place, .wrongType, "must be \(wanted), not \(value.article)")
      return nil
    }
    let rule = TextRule(alphabet: form == .document ? .prose : .identifier, maximum: TokenRules.longest)
    if let fault = rule.fault(in: text) {
      findings.refuse(place, fault.code, "the token \(fault.detail)")
      return nil
    }
    guard let rules else { return TokenRules.Token(text) }
    do throws(TokenRules.Fault) {
      return try rules.read(text, kind)
    } catch {
      findings.refuse(place, error.isTooLong ? .tooLong : .invalidFormat, error.detail)
      return nil
    }
  }

  static func bundleID(_ fields: Fields, _ findings: inout Findings) -> String? {
    guard let text = fields.text("bundle_id", .identifier(longestBundleID), &findings) else { return nil }
    guard isPlain(text) else {
      findings.refuse(
        fields.place.member("bundle_id"), .invalidFormat, "a bundle id may hold only letters, digits, `.` and `-`")
      return nil
    }
    return text
  }

  /// True if an app may have this bundle id.
  package static func isBundleID(_ text: String) -> Bool {
    (1...longestBundleID).contains(text.utf8.count) && isPlain(text)
  }

  private static func isPlain(_ bundleID: String) -> Bool {
    bundleID.utf8.allSatisfy {
      $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
    }
  }
}
