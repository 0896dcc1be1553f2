import API
import Domain
import Store
import Testing

@Suite("Pages of the origins that an app names may register browsers, and nothing else", .serialized)
struct OriginTests {
  private static let page = "https://www.example.com"
  private static let body = #"{"provider":"fcm","token":"t-1"}"#

  private func sharing(_ reply: Reply) -> [String] {
    reply.headers.filter { $0.name.hasPrefix("access-control-") }.map { "\($0.name): \($0.value)" }.sorted()
  }
  private func ask(_ gateway: Gateway, _ origin: String, _ path: String = "/v1/devices", _ method: String = "POST")
    -> Reply
  {
    gateway.ask("OPTIONS", path, as: nil, ["origin": origin, "access-control-request-method": method])
  }

  @Test("a browser's question is answered for these origins, this route and this method")
  func preflight() async throws {
    var rules = RegistrationRules()
    rules.origins = [Self.page, "http://localhost:3000"]
    try await Gateway.running(registration: rules) { gateway in
      for origin in [Self.page, "http://localhost:3000"] {
        let reply = ask(gateway, origin)
        #expect(reply.status == 204)
        #expect(
          sharing(reply) == [
            "access-control-allow-headers: authorization, content-type, fanfare-identity",
            "access-control-allow-methods: POST", "access-control-allow-origin: \(origin)",
            "access-control-max-age: 600",
          ])
        #expect(reply.header("vary") == "Origin")
      }
      for origin in [
        "https://example.com", "http://www.example.com", "https://www.example.com:444", "https://www.example.com/",
        "https://www.example.com.evil.example", "https://WWW.example.com", "null", "*", "",
        "\(Self.page), \(Self.page)",
      ] {
        let reply = ask(gateway, origin)
        #expect(reply.status == 405 && reply.header("vary") == "Origin", "\(origin)")
        #expect(sharing(reply).isEmpty, "\(origin)")
      }
      for (path, method) in [
        ("/v1/devices", "DELETE"), ("/v1/devices", "GET"), ("/v1/devices/d1", "PUT"), ("/v1/messages", "POST"),
        ("/v1/devices/bulk", "POST"), ("/v1/devices/", "POST"), ("/healthz", "GET"),
      ] {
        let reply = ask(gateway, Self.page, path, method)
        #expect(reply.status >= 400, "\(method) \(path)")
        #expect(sharing(reply).allSatisfy { path == "/v1/devices" && $0.contains("allow-origin") }, "\(path)")
      }
    }
  }

  @Test("a page of such an origin can read the answer, a refusal too; other pages, other routes and other apps cannot")
  func answers() async throws {
    var rules = RegistrationRules()
    rules.origins = [Self.page]
    try await Gateway.running(registration: rules) { gateway in
      func register(_ origin: String?, _ headers: [String: String] = [:], as scope: Scope? = .register) -> Reply {
        var headers = headers
        headers["origin"] = origin
        return gateway.ask("POST", "/v1/devices", Self.body, as: scope, headers)
      }
      let shared = [
        "access-control-allow-origin: \(Self.page)", "access-control-expose-headers: retry-after, www-authenticate",
      ]
      let registered = register(Self.page)
      #expect(registered.status == 201 && sharing(registered) == shared, "\(registered.headers)")
      #expect(registered.header("vary") == "Origin")
      let keyless = register(Self.page, as: nil)
      #expect(keyless.status == 401 && sharing(keyless) == shared)
      let expired = register(Self.page, ["fanfare-identity": "x.y.z"])
      #expect(expired.status == 403 && sharing(expired) == shared)
      for origin in [nil, "https://evil.example", "null"] {
        let reply = register(origin)
        #expect(reply.status == 200 && sharing(reply).isEmpty && reply.header("vary") == "Origin", "\(origin ?? "")")
      }
      // The other app has named no origin.
      let other = register(Self.page, ["authorization": "Bearer \(gateway.stranger)"], as: nil)
      #expect(other.status == 201 && sharing(other).isEmpty, "\(other.text)")
      for (method, path) in [("GET", "/v1/devices"), ("GET", "/v1/messages"), ("GET", "/healthz")] {
        let reply = gateway.ask(method, path, as: .admin, ["origin": Self.page])
        #expect(reply.status == 200 && sharing(reply).isEmpty, "\(path)")
      }
    }
  }

  @Test("by default no page may do anything")
  func off() async throws {
    try await Gateway.running { gateway in
      let question = ask(gateway, Self.page)
      #expect(question.status == 405 && sharing(question).isEmpty && question.header("vary") == nil)
      let reply = gateway.ask("POST", "/v1/devices", Self.body, as: .register, ["origin": Self.page])
      #expect(reply.status == 201 && sharing(reply).isEmpty && reply.header("vary") == nil)
    }
  }
}
