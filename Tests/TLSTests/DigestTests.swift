import Domain
import TLS
import Testing

@Suite("Digests and encodings")
struct DigestTests {
  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  @Test("SHA-256 of the standard's example")
  func sha256() {
    #expect(
      hex(Digest.sha256(Array("abc".utf8))) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(hex(Digest.sha256([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  }

  @Test("HMAC-SHA-256 of RFC 4231, case 2, and with an empty key")
  func hmac() {
    let text = Array("what do ya want for nothing?".utf8)
    #expect(
      hex(Digest.hmacSHA256(text, key: Array("Jefe".utf8)))
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(
      hex(Digest.hmacSHA256([], key: [])) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test("constant-time equality agrees with equality")
  func equality() {
    #expect(Digest.equal([1, 2, 3], [1, 2, 3]))
    #expect(!Digest.equal([1, 2, 3], [1, 2, 4]))
    #expect(!Digest.equal([1, 2, 3], [1, 2]))
    #expect(Digest.equal([], []))
  }

  @Test("version 5 UUIDs of RFC 9562's example")
  func uuid() throws {
    let dns = try #require(UUIDBytes("6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
    let made = UUIDBytes.v5(namespace: dns, name: Array("www.example.com".utf8))
    #expect(made.description == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
  }

  @Test(
    "Base64URL both ways",
    arguments: [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE")])
  func base64(plain: String, encoded: String) {
    #expect(Base64URL.encode(Array(plain.utf8)) == encoded)
    #expect(Base64URL.decode(encoded) == Array(plain.utf8))
  }

  @Test("Base64URL refuses what is not its own", arguments: ["Zg==", "Z", "Zh", "Zm9+", "Zm9/", "Zm 9", "Zé", "Zm8\n"])
  func foreign(text: String) { #expect(Base64URL.decode(text) == nil) }

  @Test("Base64URL uses the URL's alphabet")
  func alphabet() {
    #expect(Base64URL.encode([0xFB, 0xFF, 0xFE]) == "-__-")
    #expect(Base64URL.decode("-__-") == [0xFB, 0xFF, 0xFE])
  }

  @Test("random bytes come in the asked number and differ")
  func random() {
    #expect(SecureRandom.bytes(0).isEmpty)
    #expect(SecureRandom.bytes(32).count == 32)
    #expect(SecureRandom.bytes(32) != SecureRandom.bytes(32))
    #expect(SecureRandom.word() != SecureRandom.word())
  }
}
