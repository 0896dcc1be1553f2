import API
import Domain
import Store
import Testing

@Suite("Nobody sends without a key", .serialized)
struct KeyTests {
  private static let message = #"{"to":{"devices":["d1"]},"notification":{"title":"T"}}"#

  @Test("without a valid key every route but the open ones is closed")
  func closed() async throws {
    try await Gateway.running { gateway in
      for endpoint in Endpoint.all {
        guard case .key = endpoint.access else { continue }
        let path = endpoint.path.replacing("{id}", with: "x").replacing("{user}", with: "x").replacing(
          "{name}", with: "x")
        let body = endpoint.method == "GET" || endpoint.method == "DELETE" ? nil : Self.message
        for header in [
          nil, "Bearer fk_unknown", "Bearer fan_unknown", "Bearer", "Basic Zms6eA==", "fk_x",
          "Bearer fk_\(String(repeating: "x", count: 5_000))",
        ] {
          let reply = gateway.ask(endpoint.method, path, body, as: nil, header.map { ["authorization": $0] } ?? [:])
          #expect(reply.status == 401, "\(endpoint.method) \(path) \(header ?? "")")
          #expect(reply.header("www-authenticate")?.hasPrefix("Bearer") == true)
          #expect(reply.header("content-type") == "application/problem+json")
          #expect(reply.code == "unauthorized")
        }
      }
      for path in ["/healthz", "/readyz", "/metrics", "/openapi.json"] {
        #expect(gateway.ask("GET", path, as: nil).status == 200, "\(path)")
      }
    }
  }

  @Test("a key does what its scopes say, and a refusal names the one it lacks")
  func scopes() async throws {
    try await Gateway.running { gateway in
      for endpoint in Endpoint.all {
        guard case .key(let allowed) = endpoint.access else { continue }
        let path = endpoint.path.replacing("{id}", with: "x").replacing("{user}", with: "x").replacing(
          "{name}", with: "x")
        let body = endpoint.method == "GET" || endpoint.method == "DELETE" ? nil : "{}"
        for scope in Scope.allCases {
          let reply = gateway.ask(endpoint.method, path, body, as: scope)
          // A copy of what was sent shows whom it was for: an author needs `read` too.
          let needsMore = endpoint.operation == "duplicateMessage" && scope == .drafts
          let mayPass = allowed.contains(scope) && !needsMore || scope == .admin
          #expect((reply.status != 403) == mayPass, "\(endpoint.method) \(path) as \(scope.rawValue): \(reply.status)")
          #expect(reply.status != 401)
          guard reply.status == 403 else { continue }
          #expect(reply.code == "forbidden")
          #expect(allowed.contains { reply.json["detail"]?.string?.contains($0.rawValue) == true }, "\(reply.text)")
        }
      }
    }
  }

  @Test("a revoked key is refused soon, and another app's key sees nothing of this one")
  func revoked() async throws {
    try await Gateway.running { gateway in
      gateway.register("d1")
      let id = gateway.send(to: ["d1"])
      let stranger = ["authorization": "Bearer \(gateway.stranger)"]
      #expect(gateway.ask("GET", "/v1/messages/\(id)", as: nil, stranger).status == 404)
      #expect(gateway.ask("POST", "/v1/messages/\(id)/cancel", as: nil, stranger).status == 404)
      #expect(gateway.ask("GET", "/v1/devices/d1", as: nil, stranger).status == 404)
      #expect(gateway.ask("GET", "/v1/messages", as: nil, stranger).json["items"] == .array([]))

      let fresh = try await gateway.withStore { store in
        try await store.keyring.create(
          NewKey(name: "", scopes: [.read]), app: Gateway.shop, now: WallTime(seconds: 1))
      }
      // Not presented before: nothing of it is cached.
      try await gateway.withStore {
        try await $0.keyring.revoke(fresh.key.id, of: Gateway.shop, now: WallTime(seconds: 1))
      }
      #expect(gateway.ask("GET", "/v1/messages", as: nil, ["authorization": "Bearer \(fresh.secret)"]).status == 401)
    }
  }

  @Test("metrics can be closed by a setting")
  func metrics() async throws {
    var settings = ServiceSettings()
    settings.operations = .keys
    try await Gateway.running(settings: settings) { gateway in
      #expect(gateway.ask("GET", "/metrics", as: nil).status == 401)
      #expect(gateway.ask("GET", "/metrics", as: .send).status == 403)
      #expect(gateway.ask("GET", "/metrics", as: .read).status == 200)
    }
  }
}
