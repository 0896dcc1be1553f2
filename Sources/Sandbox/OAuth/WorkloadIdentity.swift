import Domain
import JSON
import TLS

/// Workload identity federation: a token of another issuer in, a federated access token out; with that, the service
/// account's own.
final class WorkloadIdentity {
  static let exchangePath = "/v1/token"
  static let audience =
    "//iam.googleapis.com/projects/1000000001/locations/global/workloadIdentityPools/sandbox/providers/sandbox"
  static let subjectTypes: Set<String> = [
    "urn:ietf:params:oauth:token-type:jwt", "urn:ietf:params:oauth:token-type:id_token",
  ]
  static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
  private static let grant = "urn:ietf:params:oauth:grant-type:token-exchange"
  private static let longestLife: Int64 = 3600

  private let key: VerifyingKey
  private let account: String
  private let tokens: AccessTokens
  let impersonationPath: String

  init(key: VerifyingKey, account: String, tokens: AccessTokens) {
    self.key = key
    self.account = account
    self.tokens = tokens
    impersonationPath = "/v1/projects/-/serviceAccounts/\(account):generateAccessToken"
  }

  /// What stands in the file that the credential file names as its source.
  static func subjectToken(_ key: SigningKey, now: WallTime, life: Int64) -> String {
    let head = Base64URL.encode(Array(#"{"alg":"ES256","typ":"JWT"}"#.utf8))
    let claims = JSONValue.object([
      JSONMember("iss", .string("https://sandbox.invalid")), JSONMember("sub", .string("fanfare")),
      JSONMember("aud", .string(audience)), JSONMember("iat", .integer(now.seconds)),
      JSONMember("exp", .integer(now.seconds + life)),
    ])
    let signed = "\(head).\(Base64URL.encode(claims.encoded))"
    return "\(signed)." + Base64URL.encode(key.sign(Array(signed.utf8)))
  }

  // MARK: Exchange

  func exchange(_ form: [String: String], now: WallTime) -> Examination {
    var examination = Examination(valid: false, answer: VendorAnswer(status: 200))
    if let (word, description) = fault(form, &examination, now) {
      examination.answer = TokenEndpoint.refusal(word, description)
      return examination
    }
    let (token, seconds) = tokens.issue(now: now)
    examination.valid = true
    examination.answer.headers = TokenEndpoint.headers
    examination.answer.body =
      JSONValue.object([
        JSONMember("access_token", .string(token)), JSONMember("issued_token_type", .string(Self.accessTokenType)),
        JSONMember("token_type", .string("Bearer")), JSONMember("expires_in", .integer(seconds)),
      ]).encoded
    return examination
  }

  private func fault(_ form: [String: String], _ examination: inout Examination, _ now: WallTime) -> (String, String)? {
    guard form["grant_type"] == Self.grant else {
      return ("unsupported_grant_type", "Invalid grant_type: \(form["grant_type"] ?? "")")
    }
    guard form["requested_token_type"] == Self.accessTokenType else {
      return ("invalid_request", "Invalid requested_token_type.")
    }
    guard Self.subjectTypes.contains(form["subject_token_type"] ?? "") else {
      return ("invalid_request", "Invalid subject_token_type.")
    }
    guard form["audience"] == Self.audience else { return ("invalid_target", "The audience is unknown.") }
    let scopes = (form["scope"] ?? "").split(separator: " ").map(String.init)
    guard scopes.contains(where: TokenEndpoint.scopes.contains) else { return ("invalid_scope", "Invalid scope.") }
    let parts = (form["subject_token"] ?? "").split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let claims = Base64URL.decode(parts[1]).flatMap({ try? JSON.parse($0) }),
      let signature = Base64URL.decode(parts[2]), key.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8)),
      claims["aud"]?.string == Self.audience
    else { return ("invalid_grant", "The subject token is not valid.") }
    examination.token = claims["sub"]?.string ?? ""
    guard claims["exp"]?.integer ?? 0 > now.seconds else { return ("invalid_grant", "The subject token has expired.") }
    return nil
  }

  // MARK: Impersonation

  func impersonate(authorization: String?, body: [UInt8], now: WallTime) -> Examination {
    var examination = Examination(valid: false, answer: VendorAnswer(status: 200))
    examination.token = account
    guard let token = AccessTokens.bearer(authorization), tokens.isValid(token, now: now) else {
      examination.answer = FCMError.unauthenticated.answer
      return examination
    }
    let asked = try? JSON.parse(body)
    let scopes = asked?["scope"]?.array?.compactMap(\.string) ?? []
    let life = asked?["lifetime"].flatMap { FCMShapeCheck.seconds($0) } ?? Self.longestLife
    guard scopes.contains(where: TokenEndpoint.scopes.contains), (1...Self.longestLife).contains(life) else {
      examination.answer =
        FCMError.fields([FieldViolation(field: "scope", description: "scope or lifetime is invalid.")]).answer
      return examination
    }
    let (own, seconds) = tokens.issue(now: now)
    examination.valid = true
    examination.answer.headers = TokenEndpoint.headers
    let end = WallTime(seconds: now.seconds + min(seconds, life))
    examination.answer.body =
      JSONValue.object([
        JSONMember("accessToken", .string(own)), JSONMember("expireTime", .string(end.rfc3339)),
      ]).encoded
    return examination
  }
}
