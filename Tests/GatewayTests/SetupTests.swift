import Configuration
import Domain
import Foundation
import Gateway
import Support
import TLS
import Testing

@Suite("Opening a configuration")
struct SetupTests {
  /// A folder with a configuration around these credentials of one app, and two keys.
  private func setup(_ credentials: String) throws -> Setup {
    let folder = try TemporaryDirectory()
    func write(_ name: String, _ bytes: [UInt8]) throws {
      let path = folder.file(name).path
      #expect(
        FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600]))
    }
    try write("key.p8", SigningKey.generate(.es256).pem)
    let authority = CertificateAuthority(name: "Test authority")
    let issued = authority.issueClient(name: "x", userID: "com.example.app.voip", seconds: 86_400)
    try write(
      "voip.p12",
      CertificateAuthority.pkcs12(certificate: issued.certificate, key: issued.key, password: "geheim"))
    try write("password", Array("geheim\n".utf8))
    try write("fanfare.json5", Array("{ apps: [{ id: \"shop\", credentials: [\(credentials)] }] }".utf8))
    return try Setup(file: folder.file("fanfare.json5").path)
  }

  private static let key =
    #"provider: "apns", key_file: "key.p8", key_id: "ABCDE12345", team_id: "TEAM123456", topic: "com.example.app""#
  private static let certificate =
    #"{ name: "voip", provider: "apns", certificate_file: "voip.p12", certificate_password_file: "password" }"#

  private func faults(_ credentials: String) throws -> [ConfigurationFault] {
    do {
      _ = try setup(credentials)
      return []
    } catch let faults as ConfigurationFaults { return faults.faults }
  }

  @Test("each address goes to the first credential that serves it: a certificate, a key of one app, one of the team")
  func several() throws {
    let setup = try setup(
      """
      \(Self.certificate),
      { name: "beta", \(Self.key.replacing("topic: \"com.example.app\"", with: "bundle_ids: [\"com.example.beta\"]")) },
      { name: "team", environments: ["production", "sandbox"], \(Self.key) },
      """)
    let app = try #require(setup.apps[AppID(rawValue: "shop")])
    func route(_ kind: TokenKind, _ bundleID: String?, _ environment: Domain.Environment = .production) -> String? {
      let address = Address(
        provider: .apns, token: "aa", tokenKind: kind, environment: environment, bundleID: bundleID)
      return app.credential(for: address)?.rawValue
    }
    #expect(route(.voip, nil) == "shop/voip")
    #expect(route(.voip, "com.example.app", .sandbox) == "shop/team:sandbox")
    #expect(route(.device, nil) == "shop/beta")
    #expect(route(.device, "com.example.app") == "shop/team:production")
    #expect(setup.accounts.count == 4)
  }

  @Test("a credential behind one that serves all of its addresses is a fault, as it would never be used")
  func neverUsed() throws {
    let faults = try faults("{ name: \"team\", \(Self.key) }, \(Self.certificate)")
    #expect(faults.map(\.pointer) == ["/apps/0/credentials/1"])
    #expect(faults.first?.problem.contains("shop/team") == true)
    #expect(try self.faults("\(Self.certificate), { name: \"team\", \(Self.key) }").isEmpty)
  }

  @Test("what a provider refuses is told with its place in the file")
  func refused() throws {
    let faults = try faults("{ name: \"a\", \(Self.key), token_kinds: [\"viop\"] }")
    #expect(faults.map(\.pointer) == ["/apps/0/credentials/0/token_kinds"])
  }
}
