import TLS
import Testing

@Suite("Keys and signatures")
struct KeyTests {
  private let message = Array("header.claims".utf8)

  @Test("ES256 signs in JOSE form, and the public half verifies")
  func es256() throws {
    let (key, pem) = SigningKey.generate(.es256)
    let verifier = try VerifyingKey(pem: key.publicKeyPEM, for: .es256)
    // Short integers need padding: among many signatures some r or s starts with a zero byte.
    for _ in 0..<600 {
      let signature = key.sign(message)
      #expect(signature.count == 64)
      #expect(verifier.verifies(signature, of: message))
    }
    let again = try SigningKey(pem: pem, for: .es256)
    #expect(verifier.verifies(again.sign(message), of: message))
  }

  @Test("RS256 signs deterministically, and the public half verifies")
  func rs256() throws {
    let (key, pem) = SigningKey.generate(.rs256)
    let verifier = try VerifyingKey(pem: key.publicKeyPEM, for: .rs256)
    let signature = key.sign(message)
    #expect(signature.count == 256)
    #expect(verifier.verifies(signature, of: message))
    #expect(try SigningKey(pem: pem, for: .rs256).sign(message) == signature)
  }

  @Test("a changed message or signature does not verify")
  func forged() throws {
    let (key, _) = SigningKey.generate(.es256)
    let verifier = try VerifyingKey(pem: key.publicKeyPEM, for: .es256)
    var signature = key.sign(message)
    #expect(!verifier.verifies(signature, of: message + [0]))
    #expect(!verifier.verifies(Array(signature.dropLast()), of: message))
    #expect(!verifier.verifies([], of: message))
    #expect(!verifier.verifies([UInt8](repeating: 0, count: 64), of: message))
    signature[63] ^= 1
    #expect(!verifier.verifies(signature, of: message))
  }

  @Test("the signed example of RFC 7515, appendix A.3, verifies")
  func joseExample() throws {
    let x = try #require(Base64URL.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))
    let y = try #require(Base64URL.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
    // SubjectPublicKeyInfo of an uncompressed point on P-256.
    let prefix: [UInt8] = [
      0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
      0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]
    let base64 = Base64URL.encode(prefix + x + y).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 } + "=="
    var pem = "-----BEGIN PUBLIC KEY-----\n"
    for start in stride(from: 0, to: base64.count, by: 64) {
      pem += String(base64[start..<min(start + 64, base64.count)]) + "\n"
    }
    pem += "-----END PUBLIC KEY-----\n"
    let signed =
      "eyJhbGciOiJFUzI1NiJ9"
      + ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    let signature = try #require(
      Base64URL.decode("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"))
    let verifier = try VerifyingKey(pem: Array(pem.utf8), for: .es256)
    #expect(verifier.verifies(signature, of: Array(signed.utf8)))
  }

  @Test("a key of the wrong kind, or none, is refused with a reason")
  func wrongKind() {
    let (_, elliptic) = SigningKey.generate(.es256)
    #expect(throws: KeyFault(reason: "not an RSA key of at least 2048 bits")) {
      try SigningKey(pem: elliptic, for: .rs256)
    }
    for pem in [[], Array("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".utf8)] {
      #expect(throws: KeyFault(reason: "no unencrypted private key in PEM form")) {
        try SigningKey(pem: pem, for: .es256)
      }
    }
    #expect(throws: KeyFault.self) { try VerifyingKey(pem: elliptic, for: .es256) }
  }
}
