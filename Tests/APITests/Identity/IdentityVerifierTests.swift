import Domain
import JSON
import Support
import TLS
import Testing

@testable import API

@Suite("An identity token names a user if a key of the app has signed it, and for a short time")
struct IdentityVerifierTests {
  private static let secret = Array("a secret of thirty-two characters".utf8)
  private static let older = Array("another one, that is being replaced".utf8)
  private let signing = SigningKey.generate(.es256).key
  private let now = WallTime(seconds: 1_795_262_400)

  private func verifier(app: String = "shop") throws -> IdentityVerifier {
    try IdentityVerifier(
      [
        IdentityKey(id: "2026", algorithm: .hs256, content: Self.secret),
        IdentityKey(id: "2025", algorithm: .hs256, content: Self.older),
        IdentityKey(id: "backend", algorithm: .es256, content: signing.publicKeyPEM),
      ], app: AppID(rawValue: app), lifetime: 3_600_000)
  }

  /// The user, or the word that the refusal names, or all of it.
  private func outcome(_ token: String, at later: Int64 = 0) throws -> Result<String, IdentityFault> {
    let verifier = try verifier()
    do throws(IdentityFault) {
      return .success(try verifier.user(in: token, now: now + later))
    } catch {
      return .failure(error)
    }
  }
  private func refusal(_ token: String, at later: Int64 = 0) throws -> String {
    switch try outcome(token, at: later) {
    case .success(let user): "accepted for \(user)"
    case .failure(let fault): fault.isExpired ? "expired" : fault.detail
    }
  }

  // MARK: Signatures

  /// RFC 7515 appendices A.1 and A.3: what is signed, the signature, and the key.
  private static let payload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

  @Test("the tokens of RFC 7515 verify, and no other byte of them does")
  func vectors() throws {
    let octets = try #require(
      Base64URL.decode(
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"))
    let point = try #require(
      Base64URL.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU").flatMap { x in
        Base64URL.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0").map { y in [4] + x + y }
      })
    let vectors: [(OpenedIdentityKey, head: String, signature: String)] = [
      (
        .hs256(octets), "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
      ),
      (
        .es256(try VerifyingKey(point: point)), "eyJhbGciOiJFUzI1NiJ9",
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
      ),
    ]
    for (key, head, text) in vectors {
      let message = Array("\(head).\(Self.payload)".utf8)
      let signature = try #require(Base64URL.decode(text))
      #expect(key.verifies(signature, of: message), "\(key.algorithm)")
      for index in signature.indices {
        var other = signature
        other[index] ^= 1
        #expect(!key.verifies(other, of: message), "\(key.algorithm), byte \(index)")
      }
      #expect(!key.verifies(signature, of: message + [0]))
      for wrong in [[], Array(signature.dropLast()), signature + [0], [UInt8](repeating: 0, count: 64)] {
        #expect(!key.verifies(wrong, of: message), "\(key.algorithm), \(wrong.count) bytes")
      }
    }
  }

  @Test("tokens that PyJWT has made, as the page on registration shows it, name their users")
  func foreign() throws {
    let pem = """
      -----BEGIN PUBLIC KEY-----
      MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE6eWrproX9gTI3fB7xq5e73pRisz1
      xuxwPgAjCnBX6nmIK1dKYNEJA/hwf4x2I42jdkAJqfGpS1xU+htlYzuDvA==
      -----END PUBLIC KEY-----
      """
    let verifier = try IdentityVerifier(
      [
        IdentityKey(id: "2026", algorithm: .hs256, content: Self.secret),
        IdentityKey(id: "backend", algorithm: .es256, content: Array(pem.utf8)),
      ], app: AppID(rawValue: "shop"), lifetime: 300_000)
    let hmac = [
      "eyJhbGciOiJIUzI1NiIsImtpZCI6IjIwMjYiLCJ0eXAiOiJKV1QifQ",
      "eyJzdWIiOiJhbmEiLCJpYXQiOjE3OTUyNjI0MDAsImV4cCI6MTc5NTI2MjcwMH0", "ccBog3E5zMdeSXBeTUKQK6SaxVkLiW0iHiuUO7z6Z9M",
    ]
    let curve = [
      "eyJhbGciOiJFUzI1NiIsImtpZCI6ImJhY2tlbmQiLCJ0eXAiOiJKV1QifQ",
      "eyJzdWIiOiJcdTAwYzRubmEiLCJpYXQiOjE3OTUyNjI0MDAsImV4cCI6MTc5NTI2MjcwMCwiYXVkIjpbInNob3AiXX0",
      "eRKNrkRMMKd5riJwcLgJ4d7sX0HSvBYTRk5mYJjIpyLylIankJDpxvljIoi2Y9OvtyvytkneVPmc73LpNDZ-dQ",
    ]
    #expect(try verifier.user(in: hmac.joined(separator: "."), now: now) == "ana")
    #expect(try verifier.user(in: curve.joined(separator: "."), now: now) == "Änna")
  }

  @Test("each key of the app verifies its own tokens, so that one can replace another")
  func several() throws {
    var token = SignedIdentity(now: now)
    #expect(try outcome(token.signed(Self.secret)) == .success("ana"))
    token.key = "2025"
    #expect(try outcome(token.signed(Self.older)) == .success("ana"))
    #expect(try refusal(token.signed(Self.secret)).contains("signature"))
    (token.key, token.algorithm) = ("backend", "ES256")
    #expect(try outcome(token.signed(signing)) == .success("ana"))
    #expect(try refusal(token.signed(SigningKey.generate(.es256).key)).contains("signature"))
    for key in ["2024", "", "2026 "] {
      token.key = key
      #expect(try refusal(token.signed(Self.secret)).contains("registration.keys"), "\(key)")
    }
    token.key = nil
    #expect(try refusal(token.signed(Self.secret)).contains("no `kid`"))
  }

  @Test("the key knows its algorithm, and the token chooses none")
  func confusion() throws {
    var token = SignedIdentity(now: now)
    // Signed with the public key's text as a secret: what verifiers that believe `alg` take for HS256.
    token.key = "backend"
    #expect(try refusal(token.signed(signing.publicKeyPEM)).contains("`alg` is not ES256"))
    token.algorithm = "ES256"
    #expect(try refusal(token.signed(signing.publicKeyPEM)).contains("signature"))
    token.key = "2026"
    #expect(try refusal(token.signed(signing)).contains("`alg` is not HS256"))
    for algorithm in ["none", "None", "NONE", "nOnE", "HS384", "HS512", "RS256", "ES256K", "hs256", ""] {
      token.algorithm = algorithm
      for text in ["\(token.input).", token.signed(Self.secret), token.signed(signing)] {
        #expect(try refusal(text).contains("`alg` is not HS256"), "\(algorithm)")
      }
    }
    token.algorithm = nil
    #expect(try refusal("\(token.input).").contains("`alg` is not HS256"))
    token.algorithm = "HS256"
    #expect(try refusal("\(token.input).").contains("signature"), "no signature at all")
    for header in [
      ("crit", .array(["b64"])), ("crit", .array([])), ("b64", .bool(false)), ("jwk", .make([("kty", "oct")])),
    ] as [(String, JSONValue)] {
      token.header = [header]
      let text = try refusal(token.signed(Self.secret))
      #expect(text == "accepted for ana" ? header.0 != "crit" : text.contains("crit"), "\(header): \(text)")
    }
    // A key that a token brings along is not used.
    token.header = [("jwk", .make([("kty", "oct"), ("k", .string(Base64URL.encode(Self.older)))]))]
    #expect(try refusal(token.signed(Self.older)).contains("signature"))
  }

  @Test("keys that are none, or too short for their algorithm, are refused")
  func badKeys() {
    let pem = SigningKey.generate(.es256).pem
    for (algorithm, content) in [
      (.hs256, Array("short".utf8)), (.hs256, [UInt8](repeating: 7, count: 31)), (.hs256, []),
      (.es256, Array("no key".utf8)), (.es256, pem), (.es256, SigningKey.generate(.rs256).key.publicKeyPEM),
    ] as [(IdentityAlgorithm, [UInt8])] {
      #expect(throws: IdentityVerifier.KeyFailure.self) {
        try IdentityVerifier(
          [IdentityKey(id: "k", algorithm: algorithm, content: content)], app: AppID(rawValue: "shop"), lifetime: 60_000
        )
      }
    }
  }

  // MARK: Claims

  @Test("it holds from `iat` to `exp`, with a minute for clocks that differ, and no longer than the app allows")
  func times() throws {
    var token = SignedIdentity(now: now)
    let text = token.signed(Self.secret)
    for (later, expected) in [
      (-60_000, "accepted for ana"), (-60_001, "future"), (0, "accepted for ana"), (300_000, "accepted for ana"),
      (359_999, "accepted for ana"), (360_000, "expired"), (86_400_000, "expired"),
    ] as [(Int64, String)] {
      #expect(try refusal(text, at: later).contains(expected), "\(later)")
    }
    func with(_ signed: JSONValue?, _ expires: JSONValue?) throws -> String {
      (token.signedAt, token.expiresAt) = (signed, expires)
      return try refusal(token.signed(Self.secret))
    }
    let seconds = now.seconds
    #expect(try with(.integer(seconds), .integer(seconds + 3_600)) == "accepted for ana")
    #expect(try with(.integer(seconds), .integer(seconds + 3_601)).contains("3600 seconds"))
    // The last moments of a token that was made for a year are no better than its first.
    #expect(try with(.integer(seconds - 31_536_000), .integer(seconds + 10)).contains("3600 seconds"))
    #expect(try with(.double(Double(seconds) - 0.5), .double(Double(seconds) + 0.5)) == "accepted for ana")
    #expect(try with(nil, .integer(seconds + 60)).contains("`iat` and `exp`"))
    #expect(try with(.integer(seconds), nil).contains("`iat` and `exp`"))
    for wrong in [
      .string("\(seconds + 60)"), .integer(-1), .integer(.max), .integer(.min), .unsigned(.max), .double(1e300), .null,
      .double(-1e300), .bool(true), .array([.integer(seconds + 60)]), .object([]), .integer(253_402_300_800),
    ] as [JSONValue] {
      #expect(try with(.integer(seconds), wrong).contains("`exp` is not a time"), "\(wrong)")
      #expect(try with(wrong, .integer(seconds + 60)).contains("`iat` is not a time"), "\(wrong)")
    }
    #expect(try with(.integer(0), .integer(253_402_300_799)).contains("3600 seconds"))
    token = SignedIdentity(now: now)
    for (earliest, expected) in [(seconds + 60, "accepted for ana"), (seconds + 61, "`nbf`")] {
      token.claims = [("nbf", .integer(earliest))]
      #expect(try refusal(token.signed(Self.secret)).contains(expected))
    }
  }

  @Test("it is for this app if it says for which one, and its subject is a user")
  func subject() throws {
    var token = SignedIdentity(now: now)
    for (audience, isRight) in [
      ("shop", true), (.array(["web", "shop"]), true), ("Shop", false), ("", false), (.array([]), false),
      (.array([.array(["shop"])]), false), (.integer(1), false), (.null, false),
    ] as [(JSONValue, Bool)] {
      token.claims = [("aud", audience)]
      #expect(try refusal(token.signed(Self.secret)).contains(isRight ? "accepted for ana" : "`aud`"), "\(audience)")
    }
    token.claims = []
    for user in [
      nil, "", "a\nb", .string(String(repeating: "u", count: 257)), .integer(7), .null, .array(["ana"]), .object([]),
    ] as [JSONValue?] {
      token.user = user
      #expect(try refusal(token.signed(Self.secret)).contains("`sub`"), "\(String(describing: user))")
    }
    token.user = .string("Änna 7/é")
    #expect(try outcome(token.signed(Self.secret)) == .success("Änna 7/é"))
  }

  // MARK: Bad input

  @Test("what is no token is refused: cut, padded, of other letters, of other parts, huge and nested")
  func malformed() throws {
    let good = SignedIdentity(now: now).signed(Self.secret)
    let parts = good.split(separator: ".").map(String.init)
    let dots = String(repeating: ".", count: 4_000)
    for text in [
      "", ".", "..", "...", dots, good + ".", "." + good, good + ".x", "\(parts[0]).\(parts[1])", good + "=",
      "\(parts[0])=.\(parts[1]).\(parts[2])", "\(parts[0]) .\(parts[1]).\(parts[2])", good.replacing(".", with: ","),
      "\(parts[0]).\(parts[1]).+/+/", "Bearer " + good,
    ] {
      #expect(try refusal(text).contains("JWT") || refusal(text).contains("JSON"), "\(text.prefix(60))")
    }
    for cut in 0..<good.utf8.count {
      #expect(try !refusal(String(good.prefix(cut))).hasPrefix("accepted"), "cut at \(cut)")
    }
    #expect(try refusal(good + String(repeating: "A", count: 4_096)).contains("4096 bytes"))
    #expect(try refusal(String(repeating: "A", count: 10 << 20)).contains("4096 bytes"))

    func signed(_ head: String, _ body: String) -> String {
      let input = "\(Base64URL.encode(Array(head.utf8))).\(Base64URL.encode(Array(body.utf8)))"
      return "\(input).\(Base64URL.encode(Digest.hmacSHA256(Array(input.utf8), key: Self.secret)))"
    }
    let head = #"{"alg":"HS256","kid":"2026"}"#
    let seconds = now.seconds
    let body = #"{"sub":"ana","iat":\#(seconds),"exp":\#(seconds + 60)}"#
    #expect(try refusal(signed(head, body)) == "accepted for ana")
    let deep = String(repeating: "[", count: 900) + String(repeating: "]", count: 900)
    for (head, body, word) in [
      (deep, body, "header"), (#"{"alg":"HS256","kid":"2026","x":\#(deep)}"#, body, "header"),
      (#"{"alg":"HS256","kid":"2026","kid":"2025"}"#, body, "header"), ("[]", body, "header"), ("null", body, "header"),
      (#"{"alg":"HS256","kid":["2026"]}"#, body, "kid"), (#"{"alg":["HS256"],"kid":"2026"}"#, body, "alg"),
      ("\u{FEFF}" + head, body, "header"), (head + " x", body, "header"), ("", body, "header"),
      (head, deep, "payload"), (head, #"{"sub":"ana","x":\#(deep)}"#, "payload"), (head, "[]", "payload"),
      (head, #""ana""#, "payload"), (head, "", "payload"), (head, String(body.dropLast()), "payload"),
      (head, #"{"sub":"ana","sub":"bob","iat":1,"exp":2}"#, "payload"),
      (head, #"{"x":[\#((0..<900).map { _ in "0" }.joined(separator: ","))]}"#, "payload"),
    ] {
      #expect(try refusal(signed(head, body)).contains(word), "\(head.prefix(60)) \(body.prefix(60))")
    }
  }

  @Test("whatever a stranger sends, it is refused and nothing falls over")
  func random() throws {
    var random = Seeded()
    let good = Array(SignedIdentity(now: now).signed(Self.secret).utf8)
    for _ in 0..<3_000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0x20...0x7e, using: &random)
        case 1: bytes.remove(at: place)
        default: bytes.insert(UInt8.random(in: 0x20...0x7e, using: &random), at: place)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      guard bytes != good else { continue }
      #expect(try !refusal(text).hasPrefix("accepted"), "seed \(random.seed): \(text)")
    }
  }
}
