import Domain
import TLS

/// The access tokens that the token endpoint gave out. Owned by the loop.
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

  /// Every token given out so far stops working.
  func revokeAll() { expiry.removeAll() }
}
