import Configuration
import Domain
import Testing

@Suite("What an app says of registrations by phones and pages")
struct RegistrationTests {
  private let folder = Folder()

  init() {
    folder.write("keys/google")
    folder.write("keys/secret", "a secret with\nlines, and more of it\r\n\n")
    folder.write("keys/public", "-----BEGIN PUBLIC KEY-----\n", mode: 0o644)
    folder.write("keys/loose", "-----BEGIN PUBLIC KEY-----\n", mode: 0o664)
    folder.write("keys/open", mode: 0o644)
  }

  private func text(_ registration: String) -> String {
    "{ \(Folder.app.replacing(#"id: "shop","#, with: #"id: "shop", registration: { \#(registration) },"#)) }"
  }

  @Test("what is left out has its default: anonymous, bounded, and no pages")
  func defaults() throws {
    for entry in [
      try folder.parse("{ \(Folder.app) }").apps[0], try folder.parse(text("")).apps[0],
      try folder.parse(text("keys: [], anonymous: {}, origins: []")).apps[0],
    ] {
      let rules = entry.app.registration
      #expect(rules.allowsAnonymous && !rules.decidesAnonymous && rules.origins.isEmpty && rules.identity == nil)
      #expect(rules.anonymousTags == 20 && rules.anonymousAttributes == 20 && rules.anonymousDevices == 1_000)
      #expect(rules.tokenLifetime == 3_600_000)
      #expect(entry.identityKeys.isEmpty)
    }
  }

  @Test("keys, bounds and origins are read; a secret's bytes stay as they are, without line ends behind them")
  func read() throws {
    let entry = try folder.parse(
      text(
        """
        keys: [{ id: "2026-11", algorithm: "HS256", secret_file: "keys/secret" },
               { id: "B_1.a", algorithm: "ES256", public_key_file: "keys/public" }],
        token_lifetime: "5m", anonymous: { allowed: false, tags: 0, attributes: 3, devices_per_address: 7 },
        origins: ["https://www.example.com", "http://localhost:3000", "https://[::1]:8443", "http://example.com:443"],
        """)
    ).apps[0]
    #expect(
      entry.identityKeys.map(\.key) == [
        IdentityKey(
          id: "2026-11", algorithm: .hs256, content: Array("a secret with\nlines, and more of it".utf8)),
        IdentityKey(id: "B_1.a", algorithm: .es256, content: Array("-----BEGIN PUBLIC KEY-----\n".utf8)),
      ])
    #expect(entry.identityKeys.map(\.place) == ["/apps/0/registration/keys/0", "/apps/0/registration/keys/1"])
    let rules = entry.app.registration
    #expect(!rules.allowsAnonymous && rules.decidesAnonymous && rules.tokenLifetime == 300_000)
    #expect(rules.anonymousTags == 0 && rules.anonymousAttributes == 3 && rules.anonymousDevices == 7)
    #expect(
      rules.origins == [
        "https://www.example.com", "http://localhost:3000", "https://[::1]:8443", "http://example.com:443",
      ])
  }

  @Test(
    "what cannot be is refused with its place and what to write",
    arguments: [
      (#"keys: [{ algorithm: "HS256", secret_file: "keys/secret" }]"#, "/keys/0/id", "a-z"),
      (#"keys: [{ id: "a b", algorithm: "HS256", secret_file: "keys/secret" }]"#, "/keys/0/id", "a-z"),
      (#"keys: [{ id: "k", secret_file: "keys/secret" }]"#, "/keys/0/algorithm", "ES256"),
      (#"keys: [{ id: "k", algorithm: "none", secret_file: "keys/secret" }]"#, "/keys/0/algorithm", "Choose one"),
      (#"keys: [{ id: "k", algorithm: "RS256", secret_file: "keys/secret" }]"#, "/keys/0/algorithm", ""),
      (#"keys: [{ id: "k", algorithm: "HS256" }]"#, "/keys/0/secret_file", "Add it"),
      (#"keys: [{ id: "k", algorithm: "ES256" }]"#, "/keys/0/public_key_file", "Add it"),
      (
        #"keys: [{ id: "k", algorithm: "HS256", public_key_file: "keys/public" }]"#, "/keys/0/public_key_file",
        "Give secret_file"
      ),
      (
        #"keys: [{ id: "k", algorithm: "ES256", secret_file: "keys/secret" }]"#, "/keys/0/secret_file",
        "Give public_key_file"
      ),
      (#"keys: [{ id: "k", algorithm: "HS256", secret_file: "keys/open" }]"#, "/keys/0/secret_file", "chmod 600"),
      (
        #"keys: [{ id: "k", algorithm: "ES256", public_key_file: "keys/loose" }]"#, "/keys/0/public_key_file",
        "chmod go-w"
      ),
      (#"keys: [{ id: "k", algorithm: "HS256", secret_file: "keys/none" }]"#, "/keys/0/secret_file", "Put the file"),
      (#"keys: [{ id: "k", algorithm: "HS256", secret_file: "keys/secret", kid: 1 }]"#, "/keys/0/kid", ""),
      ("token_lifetime: \"25h\"", "/token_lifetime", ""), ("token_lifetime: \"1s\"", "/token_lifetime", ""),
      ("anonymous: true", "/anonymous", "{ … }"), ("anonymous: { allowed: false }", "/anonymous/allowed", "Add keys"),
      ("anonymous: { tags: -1 }", "/anonymous/tags", ""),
      ("anonymous: { attributes: 101 }", "/anonymous/attributes", ""),
      ("anonymous: { devices_per_address: 0 }", "/anonymous/devices_per_address", ""),
      (#"origins: ["*"]"#, "/origins/0", "as browsers do"), (#"origins: ["null"]"#, "/origins/0", "as browsers do"),
      (#"origins: ["www.example.com"]"#, "/origins/0", ""), (#"origins: ["https://example.com/"]"#, "/origins/0", ""),
      (#"origins: ["https://Example.com"]"#, "/origins/0", ""),
      (#"origins: ["https://example.com:443"]"#, "/origins/0", ""),
      (#"origins: ["http://example.com:80"]"#, "/origins/0", ""),
      (#"origins: ["https://a@example.com"]"#, "/origins/0", ""),
      (#"origins: ["https://*.example.com"]"#, "/origins/0", ""),
      (#"origins: ["ftp://example.com"]"#, "/origins/0", ""), (#"origins: ["https://"]"#, "/origins/0", ""),
      (#"origins: "https://example.com""#, "/origins", "[ … ]"),
    ])
  func faults(_ registration: String, _ pointer: String, _ fix: String) {
    let faults = folder.faults(text(registration))
    #expect(faults.map(\.pointer).contains("/apps/0/registration" + pointer), "\(faults)")
    #expect(faults.contains { $0.fix.contains(fix) }, "\(faults)")
  }

  @Test("two keys of an app have different ids")
  func twice() {
    let key = #"{ id: "k", algorithm: "HS256", secret_file: "keys/secret" }"#
    #expect(folder.faults(text("keys: [\(key), \(key)]")).map(\.pointer) == ["/apps/0/registration/keys/1/id"])
  }
}
