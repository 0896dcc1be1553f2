import Domain
import JSON
import TLS
import Testing

@testable import Sandbox

@Suite struct TokenEndpointTests {
  private static let key = SigningKey.generate(.rs256).key
  private let now = WallTime(seconds: 1_767_220_000)
  private let tokens = AccessTokens()

  private func endpoint() throws -> TokenEndpoint {
    TokenEndpoint(
      key: try VerifyingKey(pem: Self.key.publicKeyPEM, for: .rs256), account: "a@b", keyID: "k1",
      audiences: ["https://localhost:1/token"], tokens: tokens)
  }

  private func form(
    kid: String = "k1", issuer: String = "a@b", audience: String = "https://localhost:1/token", life: Int64 = 3600,
    issuedAt: Int64 = 1_767_220_000, scope: String = "https://www.googleapis.com/auth/firebase.messaging",
    grant: String = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer", spoil: Bool = false
  ) -> [UInt8] {
    let head = Base64URL.encode(Array(#"{"alg":"RS256","typ":"JWT","kid":"\#(kid)"}"#.utf8))
    let claims = Base64URL.encode(
      Array(
        #"{"iss":"\#(issuer)","scope":"\#(scope)","aud":"\#(audience)","iat":\#(issuedAt),"exp":\#(issuedAt + life)}"#
          .utf8))
    let signature = Base64URL.encode(Self.key.sign(Array("\(head).\(claims)\(spoil ? "x" : "")".utf8)))
    return Array("grant_type=\(grant)&assertion=\(head).\(claims).\(signature)".utf8)
  }

  private func answer(_ body: [UInt8]) throws -> JSONValue {
    let examination = try endpoint().examine(
      method: "POST", contentType: "application/x-www-form-urlencoded", body: body, now: now)
    return try JSON.parse(examination.answer.body)
  }

  @Test("a good assertion earns a token that works for an hour")
  func good() throws {
    let answer = try answer(form())
    #expect(answer["token_type"]?.string == "Bearer")
    #expect(answer["expires_in"]?.integer == 3599)
    let token = try #require(answer["access_token"]?.string)
    #expect(tokens.isValid(token, now: now))
    #expect(!tokens.isValid(token, now: now + 3_600_000))
    #expect(!tokens.isValid("ya29.other", now: now))
  }

  @Test("a bad assertion is refused in the vendor's words")
  func bad() throws {
    let signature = "Invalid JWT Signature."
    for body in [form(spoil: true), form(kid: "old"), form(issuer: "x@y")] {
      let answer = try answer(body)
      #expect(answer["error"]?.string == "invalid_grant")
      #expect(answer["error_description"]?.string == signature)
    }
    for body in [form(life: 3601), form(issuedAt: 1_767_210_000), form(issuedAt: 1_767_230_000)] {
      #expect(try answer(body)["error_description"]?.string?.contains("short-lived") == true)
    }
    #expect(try answer(form(audience: "https://elsewhere/token"))["error"]?.string == "invalid_grant")
    #expect(try answer(form(scope: "openid"))["error"]?.string == "invalid_scope")
    #expect(try answer(form(grant: "password"))["error"]?.string == "unsupported_grant_type")
    #expect(try answer(Array("grant_type=%zz".utf8))["error"]?.string == "unsupported_grant_type")
  }
}
