import API
import Domain
import HTTPServer
import Store
import Testing

@Suite("Before the key is known, nothing is spent", .serialized)
struct AdmissionTests {
  @Test("an unknown path, a missing and a wrong key, and a scope that lacks are answered without reading a large body")
  func refused() async throws {
    try await Gateway.running { gateway in
      for (path, headers, code) in [
        ("/v1/nowhere", [:], "not_found"), ("/v1/messages/bulk", [:], "unauthorized"),
        ("/v1/messages/bulk", ["authorization": "Bearer fk_unknown"], "unauthorized"),
        ("/v1/messages/bulk", gateway.headers(as: .read), "forbidden"),
      ] {
        // Only the head, and a length: whoever waited for the body would wait for ever.
        let client = Client(port: gateway.port)
        var lines = "POST \(path) HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1048576\r\n"
        for (name, value) in headers { lines += "\(name): \(value)\r\n" }
        client.send(bytes: Array("\(lines)\r\n".utf8))
        let reply = client.receive()
        #expect(reply.code == code, "\(path): \(reply.status) \(reply.text)")
        #expect(reply.header("connection") == "close")
      }
    }
  }

  @Test("an address that showed too many unknown keys waits; known keys go on beside it")
  func lockedOut() async throws {
    var settings = ServiceSettings()
    settings.failedKeysPerAddress = 3
    try await Gateway.running(settings: settings) { gateway in
      func ask(_ secret: String?, from address: String = "127.0.0.2") -> Reply {
        let client = Client(port: gateway.port, from: address)
        client.send("GET", "/v1/messages", secret.map { ["authorization": "Bearer \($0)"] } ?? [:], nil)
        return client.receive()
      }
      let known = gateway.secrets[.read]!
      #expect(ask(known).status == 200)
      var codes: [String?] = []
      for number in 0..<8 { codes.append(ask("fk_wrong\(number)").code) }
      #expect(codes.prefix(3) == ["unauthorized", "unauthorized", "unauthorized"])
      // One more each second.
      #expect(codes.count { $0 == "too_many_failed_keys" } >= 3, "\(codes)")
      let reply = ask("fk_wrong")
      if reply.code == "too_many_failed_keys" {
        #expect(reply.status == 429 && reply.header("retry-after") == "1")
        #expect(reply.json["retryable"] == .bool(true))
      }
      #expect(ask(known).status == 200, "a key that was valid before is not locked out")
      #expect(ask(nil).status == 401, "no key needs no look-up")
      #expect(ask("fk_wrong", from: "127.0.0.3").status == 401, "another address has its own")
      #expect(ask(gateway.secrets[.admin]!, from: "127.0.0.3").status == 200)
      for number in 0..<8 { #expect(ask("fk_wrong\(number)", from: "127.0.0.1").status == 401) }
      let metrics = gateway.ask("GET", "/metrics", as: nil).text
      let line = metrics.split(separator: "\n").first { $0.contains("turned_away_total{cause=\"failed_keys\"}") }
      #expect(line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0 >= 3, "\(line ?? "")")
    }
  }

  @Test("behind a trusted proxy each client has its own look-ups")
  func forwarded() async throws {
    var settings = ServiceSettings()
    settings.failedKeysPerAddress = 1
    settings.server.trustedProxies = [AddressRange("127.0.0.2")!]
    try await Gateway.running(settings: settings) { gateway in
      func ask(_ client: String, from address: String) -> Int {
        let wire = Client(port: gateway.port, from: address)
        wire.send(
          "GET", "/v1/messages", ["authorization": "Bearer fk_wrong", "x-forwarded-for": "6.6.6.6, \(client)"], nil)
        return wire.receive().status
      }
      #expect(ask("192.0.2.1", from: "127.0.0.2") == 401)
      #expect((0..<3).map { _ in ask("192.0.2.1", from: "127.0.0.2") }.contains(429))
      #expect(ask("192.0.2.2", from: "127.0.0.2") == 401)
      // Who is not trusted names nobody.
      #expect(ask("192.0.2.3", from: "127.0.0.3") == 401)
      #expect((4..<7).map { ask("192.0.2.\($0)", from: "127.0.0.3") }.contains(429))
    }
  }

  @Test("bodies in flight are bounded, of all, of a key and of an address")
  func bytes() async throws {
    for (limits, code) in [
      (ByteLimits(total: 50_000, perKey: .max, perAddress: .max), "overloaded"),
      (ByteLimits(total: .max, perKey: 50_000, perAddress: .max), "too_much_at_once"),
      (ByteLimits(total: .max, perKey: .max, perAddress: 50_000), "too_much_at_once"),
    ] {
      var settings = ServiceSettings()
      settings.server.bytes = limits
      try await Gateway.running(settings: settings) { gateway in
        let client = Client(port: gateway.port, from: "127.0.0.2")
        client.send("POST", "/v1/messages", gateway.headers(as: .send), Array(repeating: 0x20, count: 60_000))
        let reply = client.receive()
        #expect(reply.code == code && reply.header("retry-after") == "1", "\(reply.text)")
        #expect(gateway.ask("GET", "/v1/messages", as: .read).status == 200)
      }
    }
  }
}
