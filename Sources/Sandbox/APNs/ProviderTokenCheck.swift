import Domain
import JSON
import TLS

/// Verifies provider tokens (JWT, ES256) against the key of the sandbox. Remembers verified ones, as many connections
/// share one.
struct ProviderTokenCheck {
  enum Finding: Hashable {
    case signed(issuedAt: Int64)
    case invalid
  }
  static let maximumAge: Int64 = 3600
  private static let remembered = 64

  private let key: VerifyingKey
  private let keyID: String
  private let teamID: String
  private var findings: [String: Finding] = [:]

  init(key: VerifyingKey, keyID: String, teamID: String) {
    self.key = key
    self.keyID = keyID
    self.teamID = teamID
  }

  mutating func finding(_ token: String) -> Finding {
    if let known = findings[token] { return known }
    if findings.count >= Self.remembered { findings.removeAll() }
    let finding = check(token)
    findings[token] = finding
    return finding
  }

  private func check(_ token: String) -> Finding {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { return .invalid }
    guard header["alg"]?.string == "ES256", header["kid"]?.string == keyID, claims["iss"]?.string == teamID,
      let issuedAt = claims["iat"]?.integer, key.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8))
    else { return .invalid }
    return .signed(issuedAt: issuedAt)
  }

  private static func object(_ part: String) -> JSONValue? {
    guard let bytes = Base64URL.decode(part), let value = try? JSON.parse(bytes), value.object != nil else {
      return nil
    }
    return value
  }
}

/// What a connection remembers of its provider tokens. The first one binds; new values may follow at most every 20
/// minutes; after an expired one the connection stays unusable.
struct APNsConnectionTrust {
  static let refreshFloor: Int64 = 20 * 60 * 1000

  private(set) var current: String?
  private var since = WallTime(milliseconds: 0)
  private var expired = false

  /// Nil: the request may pass.
  mutating func refusal(authorization: String?, _ check: inout ProviderTokenCheck, now: WallTime) -> APNsReason? {
    guard let authorization, let token = Self.bearer(authorization) else { return .missingProviderToken }
    guard !expired else { return .expiredProviderToken }
    guard case .signed(let issuedAt) = check.finding(token) else { return .invalidProviderToken }
    let age = now.seconds - issuedAt
    guard age <= ProviderTokenCheck.maximumAge else {
      expired = true
      return .expiredProviderToken
    }
    guard age >= -ProviderTokenCheck.maximumAge else { return .invalidProviderToken }
    guard token != current else { return nil }
    if current != nil, now - since < Self.refreshFloor { return .tooManyProviderTokenUpdates }
    current = token
    since = now
    return nil
  }

  private static func bearer(_ authorization: String) -> String? {
    guard authorization.count > 7, authorization.prefix(7).lowercased() == "bearer " else { return nil }
    return String(authorization.dropFirst(7))
  }
}
