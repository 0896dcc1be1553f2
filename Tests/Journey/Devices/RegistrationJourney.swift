import Domain
import Foundation
import JSON
import Support
import TLS
import Testing

/// Phones and browsers that register themselves, with identity tokens as a backend signs them.
extension Journeys {
  /// A token in the three parts of a JWT.
  private func token(
    _ user: String, key: String, algorithm: String, signedAt: Int64 = 0, _ sign: ([UInt8]) -> [UInt8]
  ) -> String {
    let now = Int64(Date().timeIntervalSince1970) + signedAt
    let parts = [
      #"{"alg":"\#(algorithm)","typ":"JWT","kid":"\#(key)"}"#, #"{"sub":"\#(user)","iat":\#(now),"exp":\#(now + 300)}"#,
    ]
    let input = parts.map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
    return "\(input).\(Base64URL.encode(sign(Array(input.utf8))))"
  }

  private func keep(_ content: [UInt8], as name: String, in world: World) throws {
    let file = world.directory.file(name)
    try Data(content).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
  }

  @Test("phones register with identity tokens of two keys and without; a key goes by SIGHUP; `strict` asks to decide")
  func signedRegistration() async throws {
    let world = try await World()
    let signing = SigningKey.generate(.es256)
    let secret = Array(Base64URL.encode(SecureRandom.bytes(32)).utf8)
    try keep(secret + [0x0a], as: "identity-secret", in: world)
    try keep(signing.key.publicKeyPEM, as: "identity.pub", in: world)
    let key = try await world.key(scopes: "register")

    // Nobody has decided yet whether unsigned registrations are meant.
    func check() async throws -> (code: Int32, text: String) {
      let run = try ChildProcess(World.program, ["check", "--config", world.directory.file("fanfare.json5").path])
      return (await run.waitForExit(), run.text)
    }
    #expect(try await check().text.contains("WARN\tunsigned_registration"))
    try world.edit { $0.replacing("apps: [", with: "strict: true,\n apps: [") }
    let refused = try world.serve()
    #expect(await refused.waitForExit() == 3 && refused.text.contains("unsigned_registration: "), "\(refused.text)")
    #expect(try await check().text.contains("FAIL\tunsigned_registration"))
    try world.edit { $0.replacing("strict: true,", with: "") }

    let keys = #"""
      keys: [{ id: "2025", algorithm: "HS256", secret_file: "identity-secret" },
             { id: "2026", algorithm: "ES256", public_key_file: "identity.pub" }]
      """#
    try world.edit { $0.replacing("register_tags:", with: "registration: { \(keys) },\n register_tags:") }
    #expect(try await !check().text.contains("unsigned_registration"))
    let gateway = try await world.gateway()
    let app = try await Client(base: gateway.client.base, key: key, loop: world.loop)
    func register(_ number: Int, _ identity: String? = nil, _ more: String = "") async throws -> Client.Answer {
      try await app.post(
        "/v1/devices", #"{"provider":"apns","token":"\#(Tokens.apns(number))"\#(more)}"#,
        headers: identity.map { [Header("fanfare-identity", $0)] } ?? [])
    }
    func users(_ user: String) async throws -> Int {
      try await gateway.client.get("/v1/users/\(user)").json["devices"]?.array?.count ?? 0
    }
    func old(_ user: String, _ signedAt: Int64 = 0) -> String {
      token(user, key: "2025", algorithm: "HS256", signedAt: signedAt) { Digest.hmacSHA256($0, key: secret) }
    }
    func new(_ user: String) -> String { token(user, key: "2026", algorithm: "ES256") { signing.key.sign($0) } }

    #expect(try await register(1).status == 201)
    #expect(try await register(1, nil, #","user":"ana""#).json["code"]?.string == "identity_required")
    #expect(try await register(1, old("ana")).status == 200)
    #expect(try await register(2, new("ana")).status == 201)
    #expect(try await register(3, old("ana", -3_600)).json["code"]?.string == "identity_expired")
    let confused = token("ana", key: "2026", algorithm: "HS256") {
      Digest.hmacSHA256($0, key: signing.key.publicKeyPEM)
    }
    #expect(try await register(3, confused).json["code"]?.string == "invalid_identity")
    let none = token("ana", key: "2025", algorithm: "none") { _ in [] }
    #expect(try await register(3, none).json["code"]?.string == "invalid_identity")
    #expect(try await users("ana") == 2)
    let alias = try await app.post("/v1/devices", #"{"provider":"onesignal","token":"alias:external_id:ana"}"#)
    #expect(alias.status == 422 && alias.text.contains("/token"), "\(alias.text)")
    let id = try await gateway.send(#"{"to":{"users":["ana"]},"kind":"alert","notification":{"body":"Hi"}}"#)
    #expect(try await gateway.completed(id)["outcomes"]?["accepted"]?.integer == 2)

    // The older key goes; a broken one is refused first, and the ones at work stay.
    try keep(Array("no key".utf8), as: "identity.pub", in: world)
    gateway.process.signal(SIGHUP)
    let broken = try await gateway.process.line { $0.contains("configuration_refused") }
    #expect(broken.contains("public_key_file"), "\(broken)")
    #expect(try await register(4, old("bob")).status == 201)
    try keep(signing.key.publicKeyPEM, as: "identity.pub", in: world)
    try world.edit {
      $0.replacing(#"{ id: "2025", algorithm: "HS256", secret_file: "identity-secret" },"#, with: "")
        .replacing(
          #""identity.pub" }]"#,
          with: #""identity.pub" }], anonymous: { allowed: false }, origins: ["https://www.example.com"]"#)
    }
    gateway.process.signal(SIGHUP)
    _ = try await gateway.process.line { $0.contains("configuration_reloaded") }
    #expect(try await register(5, old("bob")).json["code"]?.string == "invalid_identity")
    #expect(try await register(5, new("bob")).status == 201)
    #expect(try await register(6).json["code"]?.string == "identity_required")
    #expect(try await users("bob") == 2)

    // A page of the site may now register its browser.
    let question = try await app.stranger().call(
      "OPTIONS", "/v1/devices",
      headers: [Header("origin", "https://www.example.com"), Header("access-control-request-method", "POST")])
    #expect(question.status == 204 && question.header("access-control-allow-origin") == "https://www.example.com")
    #expect(question.header("access-control-allow-headers")?.contains("fanfare-identity") == true)
    let other = try await app.stranger().call(
      "OPTIONS", "/v1/devices",
      headers: [Header("origin", "https://evil.example"), Header("access-control-request-method", "POST")])
    #expect(other.status == 405 && other.header("access-control-allow-origin") == nil)
    gateway.process.signal(SIGTERM)
    #expect(await gateway.process.waitForExit() == 0)
  }
}
