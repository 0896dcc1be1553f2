import API
import Domain
import HTTPServer
import JSON
import Loop
import RedisClient
import Store
import Support
import Testing

@Suite("Keys are made, changed and revoked over the API", .serialized)
struct KeyCallTests {
  private static func bearer(_ secret: String?) -> [String: String] { ["authorization": "Bearer \(secret ?? "")"] }

  /// Asks again until it holds.
  private static func eventually(_ what: String, _ condition: () -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60 * Sanitizer.slowness)
    while !condition() { try #require(ContinuousClock.now < end, "\(what) never came") }
  }

  @Test(
    "a key is made with a secret that is told once, listed, changed, rotated and revoked; each answer fits the schema")
  func life() async throws {
    try await Gateway.running { gateway in
      let made = gateway.ask(
        "POST", "/v1/keys",
        #"{"name":"warehouse","scopes":["export","read","read"],"expires_at":"2100-01-01T00:00:00+01:00","addresses":["127.0.0.0/8","2001:DB8::7"]}"#
      )
      #expect(made.status == 201, "\(made.text)")
      let secret = try #require(made.json["secret"]?.string)
      let id = try #require(made.json["id"]?.string)
      #expect(made.header("location") == "/v1/keys/\(id)" && made.header("cache-control") == "no-store")
      #expect(secret.wholeMatch(of: /fan_[0-9A-Za-z]{36}/) != nil)
      #expect(made.json["scopes"] == .array([.string("export"), .string("read")]))
      #expect(made.json["addresses"] == .array([.string("127.0.0.0/8"), .string("2001:db8:0:0:0:0:0:7")]))
      #expect(made.json["expires_at"] == .string("2099-12-31T23:00:00.000Z"))
      #expect(gateway.ask("GET", "/v1/messages", as: nil, Self.bearer(secret)).status == 200)

      let read = gateway.ask("GET", "/v1/keys/\(id)")
      #expect(read.json["name"] == .string("warehouse") && read.json["secret"] == nil, "\(read.text)")
      #expect(read.json["secrets"]?.array?.count == 1)
      let list = gateway.ask("GET", "/v1/keys")
      #expect(list.json["items"]?.array?.contains(read.json) == true && !list.text.contains(secret))
      let table = gateway.ask("GET", "/v1/keys?format=csv").text.split(separator: "\r\n")
      #expect(table.count == 1 + (list.json["items"]?.array?.count ?? 0) && !table.contains { $0.contains(secret) })

      let changed = gateway.ask("PATCH", "/v1/keys/\(id)", #"{"name":"lake","expires_at":null,"addresses":[]}"#)
      #expect(changed.json["name"] == .string("lake") && changed.json["expires_at"] == nil, "\(changed.text)")
      #expect(changed.json["addresses"] == .array([]) && changed.json["scopes"] == made.json["scopes"])

      let rotated = gateway.ask("POST", "/v1/keys/\(id)/rotate", #"{"keep":3600}"#)
      #expect(rotated.status == 200 && rotated.json["id"] == .string(id), "\(rotated.text)")
      let second = try #require(rotated.json["secret"]?.string)
      for text in [secret, second] {
        #expect(gateway.ask("GET", "/v1/messages", as: nil, Self.bearer(text)).status == 200)
      }
      let third = gateway.ask("POST", "/v1/keys/\(id)/rotate")
      #expect(third.status == 409 && third.code == "key_rotating", "\(third.text)")
      let last = try #require(gateway.ask("POST", "/v1/keys/\(id)/rotate", #"{"keep":0}"#).json["secret"]?.string)
      #expect(gateway.ask("GET", "/v1/messages", as: nil, Self.bearer(last)).status == 200)

      #expect(gateway.ask("DELETE", "/v1/keys/\(id)").status == 204)
      #expect(gateway.ask("DELETE", "/v1/keys/\(id)").status == 404)
      #expect(gateway.ask("GET", "/v1/keys/\(id)").status == 404)
      // None of its secrets is in memory for longer than a second.
      try Self.eventually("the end of the key") {
        gateway.ask("GET", "/v1/messages", as: nil, Self.bearer(last)).status == 401
      }
      for text in [secret, second, last] {
        #expect(gateway.ask("GET", "/v1/messages", as: nil, Self.bearer(text)).status == 401)
      }
    }
  }

  @Test("a key with `keys` gives, changes and rotates only what it has, revokes no greater key, and sees only its app")
  func noMore() async throws {
    try await Gateway.running { gateway in
      func made(_ body: String, _ secret: String) -> Reply {
        gateway.ask("POST", "/v1/keys", body, as: nil, Self.bearer(secret))
      }
      let list = gateway.ask("GET", "/v1/keys").json["items"]?.array ?? []
      func id(_ scope: Scope) -> String {
        list.first { $0["scopes"] == .array([.string(scope.rawValue)]) }?["id"]?.string ?? "?"
      }
      let keeper = try #require(
        gateway.ask(
          "POST", "/v1/keys",
          #"{"name":"k","scopes":["keys","read"],"expires_at":"2100-01-01T00:00:00Z","addresses":["127.0.0.0/8"]}"#
        ).json["secret"]?.string)
      let fits = #","expires_at":"2099-01-01T00:00:00Z","addresses":["127.0.0.1","127.1.0.0/16"]"#
      #expect(made(#"{"name":"a","scopes":["read"]\#(fits)}"#, keeper).status == 201)
      for (body, word) in [
        (#"{"name":"a","scopes":["read","send"]\#(fits)}"#, "`send`"),
        (#"{"name":"a","scopes":["admin"]\#(fits)}"#, "`admin`"),
        (#"{"name":"a","scopes":["read"],"addresses":["127.0.0.1"]}"#, "expires_at"),
        (
          #"{"name":"a","scopes":["read"],"expires_at":"2100-01-01T00:00:01Z","addresses":["127.0.0.1"]}"#, "expires_at"
        ),
        (#"{"name":"a","scopes":["read"],"expires_at":"2099-01-01T00:00:00Z"}"#, "addresses"),
        (
          #"{"name":"a","scopes":["read"],"expires_at":"2099-01-01T00:00:00Z","addresses":["127.0.0.1","::/0"]}"#,
          "addresses"
        ),
      ] {
        let reply = made(body, keeper)
        #expect(reply.status == 403 && reply.code == "forbidden", "\(body): \(reply.text)")
        #expect(reply.json["detail"]?.string?.contains(word) == true, "\(reply.text)")
      }
      for (method, path, body) in [
        ("DELETE", "/v1/keys/\(id(.admin))", nil), ("POST", "/v1/keys/\(id(.send))/rotate", nil),
        ("PATCH", "/v1/keys/\(id(.send))", #"{"name":"b"}"#),
        ("PATCH", "/v1/keys/\(id(.read))", #"{"scopes":["keys"]}"#),
      ] as [(String, String, String?)] {
        let reply = gateway.ask(method, path, body, as: nil, Self.bearer(keeper))
        #expect(reply.status == 403, "\(method) \(path): \(reply.text)")
      }
      #expect(gateway.ask("DELETE", "/v1/keys/\(id(.read))", as: nil, Self.bearer(keeper)).status == 204)
      let foreign = Self.bearer(gateway.stranger)
      #expect(gateway.ask("GET", "/v1/keys", as: nil, foreign).json["items"]?.array?.count == 1)
      for method in ["GET", "DELETE"] {
        #expect(gateway.ask(method, "/v1/keys/\(id(.send))", as: nil, foreign).status == 404)
      }
    }
  }

  @Test("the last key with admin is not revoked over the API: the refusal names what to do first")
  func lastAdmin() async throws {
    try await Gateway.running { gateway in
      let list = gateway.ask("GET", "/v1/keys").json["items"]?.array ?? []
      let id = try #require(list.first { $0["scopes"] == .array([.string("admin")]) }?["id"]?.string)
      for (method, body) in [
        ("DELETE", nil), ("PATCH", #"{"scopes":["keys"]}"#), ("PATCH", #"{"expires_at":"2100-01-01T00:00:00Z"}"#),
      ] as [(String, String?)] {
        let reply = gateway.ask(method, "/v1/keys/\(id)", body)
        #expect(reply.status == 409 && reply.code == "last_admin_key", "\(reply.text)")
        #expect(reply.json["detail"]?.string?.contains("create one first") == true)
      }
      let second = gateway.ask("POST", "/v1/keys", #"{"name":"second","scopes":["admin"]}"#).json
      #expect(gateway.ask("DELETE", "/v1/keys/\(id)").status == 204)
      let own = gateway.ask(
        "DELETE", "/v1/keys/\(second["id"]?.string ?? "")", as: nil, Self.bearer(second["secret"]?.string))
      #expect(own.code == "last_admin_key")
    }
  }

  @Test("what is wrong with a key is told at once, field by field, and nothing is made")
  func refused() async throws {
    try await Gateway.running { gateway in
      let count = gateway.ask("GET", "/v1/keys").json["items"]?.array?.count
      let reply = gateway.ask(
        "POST", "/v1/keys",
        #"{"scopes":["raed"],"expires_at":"2001-01-01T00:00:00Z","addresses":["10.0.0.0/33",7],"secret":"x"}"#)
      #expect(reply.status == 422 && reply.code == "invalid_key", "\(reply.text)")
      let pointers = reply.json["violations"]?.array?.compactMap { $0["pointer"]?.string } ?? []
      #expect(
        Set(pointers) == ["/name", "/scopes/0", "/expires_at", "/addresses/0", "/addresses/1", "/secret"], "\(pointers)"
      )
      for body in [#"{"name":"","scopes":["read"]}"#, #"{"name":"a","scopes":[]}"#, "{}", "[]"] {
        #expect(gateway.ask("POST", "/v1/keys", body).status == 422, "\(body)")
      }
      for (path, body) in [("", "{}"), ("/rotate", #"{"keep":2592001}"#), ("/rotate", #"{"keep":-1}"#)] {
        let method = path.isEmpty ? "PATCH" : "POST"
        #expect(gateway.ask(method, "/v1/keys/key_0\(path)", body).code == "invalid_key", "\(body)")
      }
      #expect(gateway.ask("GET", "/v1/keys").json["items"]?.array?.count == count)
    }
  }

  @Test("a key is valid from its addresses only: of the connection, or of whom a trusted proxy names, IPv4 and IPv6")
  func addresses() async throws {
    var settings = ServiceSettings()
    settings.server.trustedProxies = [AddressRange("127.0.0.9")!]
    try await Gateway.running(settings: settings) { gateway in
      let secret = try #require(
        gateway.ask(
          "POST", "/v1/keys",
          #"{"name":"a","scopes":["read"],"addresses":["127.0.0.2","192.0.2.0/24","2001:db8::/32"]}"#
        ).json["secret"]?.string)
      func ask(from address: String, named: String? = nil) -> Reply {
        let client = Client(port: gateway.port, from: address)
        var headers = Self.bearer(secret)
        headers["x-forwarded-for"] = named
        client.send("GET", "/v1/messages", headers)
        return client.receive()
      }
      #expect(ask(from: "127.0.0.2").status == 200)
      let refused = ask(from: "127.0.0.3")
      #expect(refused.status == 403 && refused.json["detail"]?.string?.contains("127.0.0.3") == true, "\(refused.text)")
      // Who is not trusted names nobody.
      #expect(ask(from: "127.0.0.3", named: "192.0.2.7").status == 403)
      for (named, status) in [("192.0.2.7", 200), ("2001:db8::9", 200), ("192.0.3.7", 403), ("2001:db9::9", 403)] {
        #expect(ask(from: "127.0.0.9", named: named).status == status, "\(named)")
      }
    }
  }

  @Test(
    "a key whose checksum is wrong is refused without asking Redis, and counts as no guess; one that ended says when")
  func wrong() async throws {
    var settings = ServiceSettings()
    settings.failedKeysPerAddress = 1
    try await Gateway.running(settings: settings) { gateway in
      let secret = try #require(
        gateway.ask("POST", "/v1/keys", #"{"name":"a","scopes":["read"]}"#).json["secret"]?.string)
      func reads() async throws -> Int {
        let text = try await gateway.loop.run { [loop = gateway.loop, endpoint = gateway.redis.endpoint] in
          let redis = Redis(loop: loop, endpoint: endpoint)
          defer { redis.close() }
          while !redis.isReady { await loop.sleep(milliseconds: 1) }
          return try await redis.call(RedisCommand("INFO", "commandstats")).text ?? ""
        }
        return text.firstMatch(of: /cmdstat_hget:calls=(\d+)/).flatMap { Int($0.1) } ?? 0
      }
      func ask(_ secret: String) -> Reply {
        let client = Client(port: gateway.port, from: "127.0.0.2")
        client.send("GET", "/v1/messages", Self.bearer(secret))
        return client.receive()
      }
      let before = try await reads()
      for place in 4..<40 {
        var slip = Array(secret)
        slip[place] = slip[place] == "x" ? "y" : "x"
        let reply = ask(String(slip))
        #expect(
          reply.status == 401 && reply.json["detail"]?.string?.contains("missing or wrong") == true, "\(reply.text)")
      }
      #expect(try await reads() == before)
      #expect(ask(secret).status == 200)

      let ended = try await gateway.withStore { store in
        try await store.keyring.create(
          NewKey(name: "", scopes: [.read], expiresAt: WallTime(seconds: 5)), app: Gateway.shop,
          now: WallTime(seconds: 1)
        ).secret
      }
      let reply = ask(ended)
      #expect(reply.status == 401 && reply.json["detail"]?.string?.contains("1970-01-01T00:00:05.000Z") == true)
      #expect(reply.header("www-authenticate")?.contains("invalid_token") == true)
    }
  }

  @Test("a key that is revoked while a body arrives carries nothing out")
  func slowBody() async throws {
    try await Gateway.running { gateway in
      let made = gateway.ask("POST", "/v1/keys", #"{"name":"a","scopes":["devices"]}"#).json
      let body = Array(#"{"provider":"apns","token":"abcd"}"#.utf8)
      let client = Client(port: gateway.port)
      let head =
        "PUT /v1/devices/late HTTP/1.1\r\nhost: x\r\nauthorization: Bearer \(made["secret"]?.string ?? "")\r\n"
        + "content-length: \(body.count)\r\n\r\n"
      client.send(bytes: Array(head.utf8) + body.dropLast())
      // Its head has been admitted once the key has been looked up.
      let path = "/v1/keys/\(made["id"]?.string ?? "")"
      try Self.eventually("a use of the key") { gateway.ask("GET", path).json["last_used_at"] != nil }
      #expect(gateway.ask("DELETE", path).status == 204)
      try Self.eventually("the end of the key") {
        gateway.ask("GET", "/v1/devices", as: nil, Self.bearer(made["secret"]?.string)).status == 401
      }
      client.send(bytes: [body.last!])
      #expect(client.receive().status == 401)
      #expect(gateway.ask("GET", "/v1/devices/late").status == 404)
    }
  }

  @Test("pages need the scope of their kind, and whole lists the scope export")
  func exports() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      for (path, page) in [("/v1/devices", Scope.devices), ("/v1/messages", .read), ("/v1/tags", .read)] {
        #expect(gateway.ask("GET", path, as: page).status == 200)
        #expect(gateway.ask("GET", path, as: .export).status == 403)
        for (query, accept) in [
          ("?format=ndjson", ""), ("?format=csv", ""), ("", "text/csv"), ("", "application/x-ndjson"),
        ] {
          let headers = accept.isEmpty ? [:] : ["accept": accept]
          #expect(gateway.ask("GET", path + query, as: .export, headers).status == 200, "\(path)\(query) \(accept)")
          let refused = gateway.ask("GET", path + query, as: page, headers)
          #expect(refused.status == 403 && refused.text.contains("`export`"), "\(path)\(query) \(accept)")
        }
      }
      #expect(gateway.ask("GET", "/v1/devices/export", as: .read).status == 403)
    }
  }
}
