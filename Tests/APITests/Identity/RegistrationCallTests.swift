import API
import Domain
import JSON
import Store
import Testing

@Suite("A `register` key touches the device whose token it presents, and no other", .serialized)
struct RegistrationCallTests {
  private func register(
    _ gateway: Gateway, _ members: String, _ headers: [String: String] = [:], as scope: Scope = .register
  ) -> Reply {
    gateway.ask("POST", "/v1/devices", #"{"provider":"fcm",\#(members)}"#, as: scope, headers)
  }

  @Test("an identity token binds its user; `user` may repeat it, or free the device, and not say another")
  func user() async throws {
    try await Gateway.running { gateway in
      let ana = Gateway.identity("ana")
      let first = register(gateway, #""token":"t-1""#, ana)
      #expect(first.status == 201, "\(first.text)")
      let id = try #require(first.json["id"]?.string)
      func user() -> JSONValue? { gateway.ask("GET", "/v1/devices/\(id)", as: .read).json["user"] }
      #expect(user() == .string("ana"))
      #expect(register(gateway, #""token":"t-1","user":"ana""#, ana).status == 200)
      // Without a token it stays whose it is.
      #expect(register(gateway, #""token":"t-1""#).status == 200)
      #expect(user() == .string("ana"))
      let other = register(gateway, #""token":"t-1","user":"bob""#, ana)
      #expect(other.status == 403 && other.code == "invalid_identity", "\(other.text)")
      #expect(other.violations == ["/user not_allowed"])
      #expect(user() == .string("ana"))
      #expect(register(gateway, #""token":"t-1","user":null"#, ana).status == 200)
      #expect(user() == nil)
      // A key of a backend needs none; a token that is sent along is checked all the same.
      #expect(register(gateway, #""token":"t-1","user":"bob""#, as: .devices).status == 200)
      #expect(register(gateway, #""token":"t-1","user":"bob""#, ana, as: .devices).code == "invalid_identity")
      #expect(register(gateway, #""token":"t-1""#, ana, as: .devices).status == 200)
      #expect(user() == .string("ana"))
    }
  }

  @Test("a token that is missing, expired, foreign or sent twice is told, with what to do, and changes nothing")
  func refused() async throws {
    try await Gateway.running { gateway in
      let now = Gateway.now
      let good = SignedIdentity("ana", now: now)
      var expired = good
      (expired.signedAt, expired.expiresAt) = (.integer(now.seconds - 900), .integer(now.seconds - 600))
      var unknown = good
      unknown.key = "2024"
      let secret = Gateway.identitySecret
      let foreign = good.signed(Array("of another app, long enough too.".utf8))
      let twice = ["fanfare-identity": good.signed(secret), "Fanfare-Identity": good.signed(secret)]
      for (headers, members, status, code, word) in [
        ([:], #","user":"ana""#, 401, "identity_required", "Fanfare-Identity"),
        (["fanfare-identity": expired.signed(secret)], "", 401, "identity_expired", "sign a new one"),
        (["fanfare-identity": unknown.signed(secret)], "", 403, "invalid_identity", "registration.keys"),
        (["fanfare-identity": foreign], "", 403, "invalid_identity", "signature"),
        (["fanfare-identity": "x"], "", 403, "invalid_identity", "JWT"),
        (["fanfare-identity": String(repeating: "x", count: 8_000)], "", 403, "invalid_identity", "4096"),
        (twice, "", 403, "invalid_identity", "once"),
      ] as [([String: String], String, Int, String, String)] {
        let reply = register(gateway, #""token":"t-1"\#(members)"#, headers)
        #expect(reply.status == status && reply.code == code, "\(reply.text)")
        #expect(reply.json["detail"]?.string?.contains(word) == true, "\(reply.text)")
        #expect((reply.header("www-authenticate")?.hasPrefix("Fanfare-Identity") == true) == (status == 401))
        #expect(reply.json["retryable"] == .bool(false))
        #expect(!reply.text.contains(String(good.signed(secret).suffix(20))))
      }
      #expect(gateway.ask("GET", "/v1/devices", as: .read).json["items"] == .array([]))
    }
  }

  @Test("an app without keys has no identity tokens, and one may ask for a token always")
  func rules() async throws {
    try await Gateway.running(hasIdentityKeys: false) { gateway in
      let named = register(gateway, #""token":"t-1","user":"ana""#)
      #expect(named.status == 403 && named.code == "invalid_identity", "\(named.text)")
      #expect(register(gateway, #""token":"t-1""#, Gateway.identity("ana")).code == "invalid_identity")
      #expect(register(gateway, #""token":"t-1""#).status == 201)
    }
    var closed = RegistrationRules()
    closed.allowsAnonymous = false
    try await Gateway.running(registration: closed) { gateway in
      #expect(register(gateway, #""token":"t-1""#).code == "identity_required")
      #expect(register(gateway, #""token":"t-1""#, Gateway.identity("ana")).status == 201)
      #expect(register(gateway, #""token":"t-2""#, as: .devices).status == 201)
    }
  }

  @Test("every other route is closed to it, whatever device or user it names")
  func routes() async throws {
    try await Gateway.running { gateway in
      gateway.register("ana-phone", #""user":"ana","tags":["plan:pro"]"#)
      let before = gateway.ask("GET", "/v1/devices/ana-phone", as: .read).text
      var routes = 0
      for endpoint in Endpoint.all {
        guard case .key = endpoint.access, !(endpoint.method == "POST" && endpoint.path == "/v1/devices") else {
          continue
        }
        let path = endpoint.path.replacing("{id}", with: "ana-phone").replacing("{user}", with: "ana")
          .replacing("{name}", with: "x")
        for headers in [[:], Gateway.identity("ana")] {
          let body = endpoint.method == "GET" || endpoint.method == "DELETE" ? nil : "{}"
          let reply = gateway.ask(endpoint.method, path, body, as: .register, headers)
          #expect(reply.status == 403 && reply.code == "forbidden", "\(endpoint.method) \(path): \(reply.text)")
        }
        routes += 1
      }
      #expect(routes > 30)
      #expect(gateway.ask("GET", "/v1/devices/ana-phone", as: .read).text == before)
    }
  }

  @Test("a token's first id that has become another device's gives no right to that one")
  func formerToken() async throws {
    try await Gateway.running { gateway in
      let first = register(gateway, #""token":"old-1""#)
      let id = try #require(first.json["id"]?.string)
      // The backend gives the device another token, and a user.
      let put = gateway.ask(
        "PUT", "/v1/devices/\(id)", #"{"provider":"fcm","token":"new-1","user":"ana","tags":["plan:pro"]}"#,
        as: .devices)
      #expect(put.status == 200, "\(put.text)")
      let before = gateway.ask("GET", "/v1/devices/\(id)", as: .read).text
      for headers in [[:], Gateway.identity("bob")] {
        let again = register(gateway, #""token":"old-1","tags":["lang:de"]"#, headers)
        #expect(again.status == (headers.isEmpty ? 201 : 200), "\(again.text)")
        let other = try #require(again.json["id"]?.string)
        #expect(other != id)
        let device = gateway.ask("GET", "/v1/devices/\(other)", as: .read).json
        #expect(device["token"] == .string("old-1"))
        #expect(device["user"] == (headers.isEmpty ? nil : .string("bob")))
        #expect(device["tags"] == .array(["lang:de"]))
        #expect(gateway.ask("GET", "/v1/devices/\(id)", as: .read).text == before)
      }
      // Its own token still leads to it, and so does the device's end.
      #expect(register(gateway, #""token":"new-1""#).json["id"] == .string(id))
      let other = try #require(register(gateway, #""token":"old-1""#).json["id"]?.string)
      #expect(gateway.ask("DELETE", "/v1/devices/\(id)", as: .devices).status == 204)
      #expect(register(gateway, #""token":"old-1""#).json["id"] == .string(other))
    }
  }

  @Test("without an identity token an address brings so many new devices; known ones and signed ones go on")
  func bounded() async throws {
    var rules = RegistrationRules()
    rules.anonymousDevices = 2
    try await Gateway.running(registration: rules) { gateway in
      func ask(_ token: String, from address: String = "127.0.0.2", _ more: String = "", of user: String? = nil)
        -> Reply
      {
        let client = Client(port: gateway.port, from: address)
        let headers = gateway.headers(as: .register, user.map { Gateway.identity($0) } ?? [:])
        client.send("POST", "/v1/devices", headers, Array(#"{"provider":"fcm","token":"\#(token)"\#(more)}"#.utf8))
        return client.receive()
      }
      #expect(ask("t-1").status == 201)
      for _ in 0..<5 { #expect(ask("t-1").status == 200, "it is known") }
      for _ in 0..<5 { #expect(ask("t-9", #","tags":["x"]"#).status == 422, "nothing was registered") }
      #expect(ask("t-2").status == 201)
      let refused = ask("t-3")
      #expect(ask("t-1").status == 200, "a known device goes on, whoever used the place up")
      let another = #","installation":"01234567-89ab-4def-8123-456789abcdef""#
      #expect(ask("t-1", another).status == 429, "a new installation is a new device, whatever its token")
      #expect(refused.status == 429 && refused.code == "too_many_registrations", "\(refused.text)")
      // Two in an hour are one in half an hour.
      #expect((1_700...1_801).contains(Int(refused.header("retry-after") ?? "") ?? 0), "\(refused.headers)")
      #expect(refused.json["retryable"] == .bool(true))
      #expect(ask("t-3", of: "ana").status == 201)
      #expect(ask("t-4", from: "127.0.0.3").status == 201)
      // This machine may be a proxy that names nobody.
      for number in 5..<9 { #expect(ask("t-\(number)", from: "127.0.0.1").status == 201) }
      let kept = gateway.ask("GET", "/v1/devices", as: .read).json["items"]?.array ?? []
      #expect(kept.count == 8)
    }
  }
}
