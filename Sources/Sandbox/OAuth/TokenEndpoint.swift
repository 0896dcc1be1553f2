import Domain
import JSON
import TLS

/// The OAuth 2.0 token endpoint of a service account: a signed assertion in, an access token out.
final class TokenEndpoint {
  static let path = "/token"
  /// What clients may call it: this one on its port, or the vendor's.
  static func audiences(port: Int) -> Set<String> {
    Set(
      ["localhost", "127.0.0.1", "[::1]"].map { "https://\($0):\(port)\(path)" }
        + ["https://oauth2.googleapis.com/token"])
  }
  static let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  static let maximumLife: Int64 = 3600
  /// Clocks may differ by this many seconds.
  static let skew: Int64 = 300
  static let scopes = [
    "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
  ]

  private let key: VerifyingKey
  private let account: String
  private let keyID: String
  private let audiences: Set<String>
  private let tokens: AccessTokens

  init(key: VerifyingKey, account: String, keyID: String, audiences: Set<String>, tokens: AccessTokens) {
    self.key = key
    self.account = account
    self.keyID = keyID
    self.audiences = audiences
    self.tokens = tokens
  }

  func examine(method: String, contentType: String?, body: [UInt8], now: WallTime) -> Examination {
    var examination = Examination(valid: false, answer: VendorAnswer(status: 200))
    guard method == "POST" else {
      examination.answer = VendorAnswer(status: 405, reason: "method_not_allowed", headers: [Header("allow", "POST")])
      return examination
    }
    guard let contentType, contentType.lowercased().hasPrefix("application/x-www-form-urlencoded") else {
      examination.answer = Self.refusal("invalid_request", "The content type must be application/x-www-form-urlencoded")
      return examination
    }
    let form = FormFields.read(body)
    guard form["grant_type"] == Self.grant else {
      examination.answer = Self.refusal("unsupported_grant_type", "Invalid grant_type: \(form["grant_type"] ?? "")")
      return examination
    }
    if let (word, description) = fault(form["assertion"] ?? "", &examination, now) {
      examination.answer = Self.refusal(word, description)
      return examination
    }
    let (token, seconds) = tokens.issue(now: now)
    examination.valid = true
    examination.answer.headers = Self.headers
    examination.answer.body =
      JSONValue.object([
        JSONMember("access_token", .string(token)), JSONMember("expires_in", .integer(seconds)),
        JSONMember("token_type", .string("Bearer")),
      ]).encoded
    return examination
  }

  private func fault(_ assertion: String, _ examination: inout Examination, _ now: WallTime) -> (String, String)? {
    let parts = assertion.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let header = Base64URL.decode(parts[0]).flatMap({ try? JSON.parse($0) }),
      let claims = Base64URL.decode(parts[1]).flatMap({ try? JSON.parse($0) }),
      let signature = Base64URL.decode(parts[2])
    else { return ("invalid_grant", "Bad Request: the assertion is no JWT.") }
    examination.token = claims["iss"]?.string ?? ""
    guard header["alg"]?.string == "RS256", header["kid"] == nil || header["kid"]?.string == keyID,
      claims["iss"]?.string == account, key.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8))
    else { return ("invalid_grant", "Invalid JWT Signature.") }
    guard let audience = claims["aud"]?.string, audiences.contains(audience) else {
      return ("invalid_grant", "Invalid JWT: Failed audience check.")
    }
    guard let issued = claims["iat"]?.integer, let expires = claims["exp"]?.integer,
      issued <= now.seconds + Self.skew, expires > now.seconds - Self.skew, expires - issued <= Self.maximumLife,
      expires > issued
    else {
      return (
        "invalid_grant",
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."
      )
    }
    let asked = (claims["scope"]?.string ?? "").split(separator: " ").map(String.init)
    guard asked.contains(where: Self.scopes.contains) else {
      return ("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
    }
    return nil
  }

  static let headers = [Header("content-type", "application/json; charset=utf-8")]

  static func refusal(_ word: String, _ description: String, status: Int = 400) -> VendorAnswer {
    VendorAnswer(
      status: status, reason: word, headers: headers,
      body: JSONValue.object([
        JSONMember("error", .string(word)), JSONMember("error_description", .string(description)),
      ]).encoded)
  }

  /// The answer of a rule, in the form of all that gives out access tokens.
  static func answer(_ reply: Rule.Reply, to examination: Examination) -> VendorAnswer {
    guard reply.status != 200 else { return reply.filling(examination.answer) }
    let word = reply.reason ?? (reply.status < 500 ? "invalid_grant" : "internal_failure")
    let description = word == "invalid_grant" ? "Invalid JWT Signature." : "Played by a rule of the sandbox."
    var answer = refusal(word, description, status: reply.status)
    if let wait = reply.retryAfter { answer.headers.append(Header("retry-after", wait)) }
    return reply.filling(answer)
  }
}
