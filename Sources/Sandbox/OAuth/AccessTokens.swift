import Domain
import TLS

/// The access tokens that were given out, by whatever way. Owned by the loop.
final class AccessTokens {
  /// "Token life 1 h".
  static let lifetime: Int64 = 3600
  static let maximumTokens = 100_000
  private var expiry: [String: WallTime] = [:]

  /// A token of about the vendor's length and look.
  func issue(now: WallTime) -> (token: String, expiresIn: Int64) {
    if expiry.count >= Self.maximumTokens { expiry = expiry.filter { now < $0.value } }
    if expiry.count >= Self.maximumTokens { expiry.removeAll() }
    let token = "ya29.c." + Base64URL.encode(SecureRandom.bytes(192))
    expiry[token] = now + Self.lifetime * 1000
    return (token, Self.lifetime - 1)
  }

  func isValid(_ token: String, now: WallTime) -> Bool {
    guard let end = expiry[token] else { return false }
    return now < end
  }

  /// The token stops working.
  func revoke(_ token: String) { expiry[token] = nil }

  /// The token of an `Authorization: Bearer` header.
  static func bearer(_ authorization: String?) -> String? {
    guard let authorization, authorization.count > 7, authorization.prefix(7).lowercased() == "bearer " else {
      return nil
    }
    return String(authorization.dropFirst(7))
  }
}
