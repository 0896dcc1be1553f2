import TLS
import Testing

@Suite("Identities of clients")
struct IdentityTests {
  private let authority = CertificateAuthority(name: "Test authority")

  @Test(
    "a PKCS#12 file gives certificate and key, with the ciphers of today and of Keychain Access",
    arguments: [false, true])
  func pkcs12(legacy: Bool) throws {
    let issued = authority.issueClient(name: "Apple Push Services: com.example.app", userID: "com.example.app")
    let file = try CertificateAuthority.pkcs12(
      certificate: issued.certificate, key: issued.key, password: "geheim", legacy: legacy)
    let identity = try Identity(pkcs12: file, password: "geheim")
    #expect(identity.certificate.userID == "com.example.app")
    #expect(identity.certificate.commonName == "Apple Push Services: com.example.app")
    #expect(identity.chain == issued.certificate)
    #expect(identity.key == issued.key)
    #expect(throws: KeyFault(reason: "the password is not the file's")) { try Identity(pkcs12: file, password: "") }
    #expect(throws: KeyFault(reason: "no PKCS#12 file")) { try Identity(pkcs12: Array(file.dropLast(9)), password: "") }
  }

  @Test("a file without a password opens with an empty one")
  func noPassword() throws {
    let issued = authority.issueClient(name: "none")
    let file = try CertificateAuthority.pkcs12(certificate: issued.certificate, key: issued.key, password: "")
    #expect(try Identity(pkcs12: file, password: "").key == issued.key)
  }

  @Test("PEM of certificate and key may be one file; another's key, none and no certificate are told apart")
  func pem() throws {
    let one = authority.issueClient(name: "one", seconds: 60)
    let two = authority.issueClient(name: "two")
    let whole = one.key + one.certificate + authority.certificatePEM
    let identity = try Identity(chain: whole, key: whole, password: nil)
    #expect(identity.key == one.key)
    #expect(identity.certificate.notAfter - identity.certificate.notBefore == 3_660)
    #expect(throws: KeyFault(reason: "the key is not the certificate's")) {
      try Identity(chain: one.certificate, key: two.key, password: nil)
    }
    #expect(throws: KeyFault(reason: "no private key in PEM form")) {
      try Identity(chain: one.certificate, key: one.certificate, password: nil)
    }
    #expect(throws: KeyFault(reason: "no certificate in PEM form")) {
      try Identity(chain: one.key, key: one.key, password: nil)
    }
  }

  @Test("extensions come back as they were put in; one that is not there is nil")
  func extensions() throws {
    let value: [UInt8] = [0x30, 0x03, 0x0c, 0x01, 0x61]
    let issued = authority.issueClient(name: "x", extensions: [("1.2.840.113635.100.6.3.6", value)], seconds: -5)
    let certificate = try Certificate(pem: issued.certificate)
    #expect(certificate.extension("1.2.840.113635.100.6.3.6") == value)
    #expect(certificate.extension("1.2.840.113635.100.6.3.4") == nil)
    #expect(certificate.userID == nil)
    #expect(certificate.notAfter > certificate.notBefore)
  }
}
