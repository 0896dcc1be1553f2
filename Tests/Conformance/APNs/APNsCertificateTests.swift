import APNs
import Domain
import TLS
import Testing

/// protocols/apns.md section 7.
@Suite("APNs certificates")
struct APNsCertificateTests {
  private let authority = CertificateAuthority(name: "Test authority")
  private let app = "com.example.app"

  /// A DER element of fewer than 128 bytes.
  private func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, UInt8(content.count)] + content }
  private func topics(_ list: [(String, String)]) -> [UInt8] {
    let content = list.flatMap { topic, kind in
      element(0x0c, Array(topic.utf8)) + element(0x30, element(0x0c, Array(kind.utf8)))
    }
    return [0x30, 0x81, UInt8(content.count)] + content
  }
  private static let both: [(oid: String, value: [UInt8])] = [
    ("1.2.840.113635.100.6.3.1", [5, 0]), ("1.2.840.113635.100.6.3.2", [5, 0]),
  ]

  private func credential(_ certificate: [UInt8], key: [UInt8]? = nil, password: String? = nil) -> Credential {
    var credential = Credential(
      id: CredentialID(rawValue: "shop/ios"), app: AppID(rawValue: "shop"), provider: .apns)
    credential.files["certificate_file"] = certificate
    credential.files["certificate_key_file"] = key
    credential.files["certificate_password_file"] = password.map { Array($0.utf8) }
    return credential
  }

  private func universal() -> (certificate: [UInt8], key: [UInt8]) {
    let list = [
      (app, "app"), ("\(app).voip", "voip"), ("\(app).complication", "complication"), ("\(app).location-query", "x"),
    ]
    return authority.issueClient(
      name: "Apple Push Services: \(app)", userID: app,
      extensions: Self.both + [("1.2.840.113635.100.6.3.6", topics(list))], seconds: 86_400)
  }

  private func serves(_ account: any ProviderAccount, _ kind: TokenKind, _ bundleID: String?) -> Bool {
    account.coverage.serves(Address(provider: .apns, token: "aa", tokenKind: kind, bundleID: bundleID))
  }

  @Test("a .p12 serves the topics that it lists, but never location")
  func topics() throws {
    let issued = universal()
    let file = try CertificateAuthority.pkcs12(
      certificate: issued.certificate, key: issued.key, password: "geheim", legacy: true)
    let account = try APNsProvider().open(credential(file, password: "geheim\n"))
    for (kind, bundleID) in [(TokenKind.device, nil), (.voip, app), (.complication, nil), (.voip, "\(app).voip")] {
      #expect(serves(account, kind, bundleID), "\(kind)")
    }
    for (kind, bundleID) in [(TokenKind.location, nil), (.activity, app), (.device, "com.example.other"), (.mdm, nil)] {
      #expect(!serves(account, kind, bundleID), "\(kind)")
    }
    #expect(account.facts.kind == "certificate")
    #expect(account.facts.name == "Apple Push Services: \(app)")
    #expect(account.facts.topics == [app, "\(app).voip", "\(app).complication", "\(app).location-query"])
    let left = try #require(account.facts.expiresAt?.seconds)
    #expect(left == (try Certificate(pem: issued.certificate)).notAfter)
  }

  @Test("its requests carry no authorization, and its connections show it and need no careful start")
  func requests() throws {
    let issued = universal()
    let account = try APNsProvider().open(credential(issued.certificate, key: issued.key))
    #expect(account.clientCertificate == ClientCertificate(chain: issued.certificate, key: issued.key))
    guard case .http2(cautiousStart: false) = account.wire else {
      Issue.record("a careful start")
      return
    }
    var authorization = account.makeAuthorization()
    guard case .use(let header, nil) = authorization.need(now: started) else {
      Issue.record("no header")
      return
    }
    let rendering = try account.render(.alert(), startedAt: started)
    let request = account.request(
      rendering, to: [Address(provider: .apns, token: "aa")], id: someID, authorization: header)
    #expect(!request.headers.contains { $0.name == "authorization" })
    #expect(request.headers.contains(Header("apns-topic", app)))
  }

  @Test("without a list the subject's user id is the topic: of an app, of VoIP alone, of device management")
  func subjects() throws {
    let management = "com.apple.mgmt.External.5d1c6a1e"
    for (userID, kind, bundleID) in [
      (app, TokenKind.device, app), ("\(app).voip", .voip, app), (management, .mdm, management),
    ] {
      let issued = authority.issueClient(name: "x", userID: userID)
      let account = try APNsProvider().open(credential(issued.key + issued.certificate))
      #expect(serves(account, kind, nil) && serves(account, kind, bundleID), "\(userID)")
      #expect(TokenKind.allCases.filter { serves(account, $0, nil) } == [kind])
    }
  }

  @Test("what cannot be used is refused with its setting, and no word of a secret")
  func faults() throws {
    let issued = universal()
    let p12 = try CertificateAuthority.pkcs12(certificate: issued.certificate, key: issued.key, password: "geheim")
    let other = authority.issueClient(name: "other", userID: app)
    let sandbox = authority.issueClient(name: "dev", userID: app, extensions: [Self.both[0]])
    var both = credential(p12, password: "geheim")
    both.files["key_file"] = TestKeys.apns.pem
    var topic = credential(p12, password: "geheim")
    topic.texts["topic"] = "com.example.other"
    let cases: [(Credential, String)] = [
      (credential(p12, password: "falsch"), "certificate_password_file"),
      (credential(p12), "certificate_password_file"),
      (credential(p12, key: issued.key, password: "geheim"), "certificate_key_file"),
      (credential(issued.certificate), "certificate_file"),
      (credential(issued.certificate, key: other.key), "certificate_file"),
      (credential(Array("nonsense".utf8)), "certificate_file"),
      (credential(authority.issueClient(name: "no topic").key), "certificate_file"),
      (credential(sandbox.certificate, key: sandbox.key), "certificate_file"),
      (both, "key_file"), (topic, "topic"),
    ]
    for (credential, setting) in cases {
      let fault = #expect(throws: CredentialFault.self) { try APNsProvider().open(credential) }
      #expect(fault?.setting == setting, "\(String(describing: fault))")
      #expect(fault?.fix.isEmpty == false)
      #expect(!String(describing: fault).contains("geheim") && !String(describing: fault).contains("falsch"))
    }
  }

  @Test("lists cut off or made up anywhere never crash, and add no topic that is not there")
  func brokenLists() throws {
    let list = topics([(app, "app"), ("\(app).voip", "voip")])
    for end in 0..<list.count {
      let issued = authority.issueClient(
        name: "x", userID: app, extensions: [("1.2.840.113635.100.6.3.4", Array(list.prefix(end)))])
      let account = try APNsProvider().open(credential(issued.certificate, key: issued.key))
      #expect(account.facts.topics == [app])
    }
  }

  @Test("a key may be held to bundle ids and kinds; the first of them stands for devices without one")
  func narrowKey() throws {
    var credential = ProviderUnderTest.apns.credential
    credential.texts["topic"] = nil
    credential.lists = ["bundle_ids": [app, "com.example.beta"], "token_kinds": ["device", "voip"]]
    let account = try APNsProvider().open(credential)
    #expect(serves(account, .device, nil) && serves(account, .voip, "com.example.beta"))
    #expect(!serves(account, .activity, app) && !serves(account, .device, "com.example.other"))
    credential.lists["token_kinds"] = ["viop"]
    let fault = #expect(throws: CredentialFault.self) { try APNsProvider().open(credential) }
    #expect(fault?.fix == "did you mean voip?")
  }
}
