import API
import Domain
import Foundation
import HTTP2
import JSON
import Loop
import Store
import Support
import TLS
import Testing

/// The calls of a provider with channels as plain as can be: the method and path say it all, the status answers.
extension FakeAccount: ChannelAccount {
  func request(_ call: ChannelCall, bundleID: String?, id: UUIDBytes, authorization: String) -> ProviderRequest {
    let app = "/\(bundleID ?? "own")"
    let headers = [Header("authorization", authorization)]
    return switch call {
    case .create(let keeps): ProviderRequest(path: "\(app)/\(keeps)", headers: headers, body: [])
    case .read(let id): ProviderRequest(method: "GET", path: "\(app)/\(id)", headers: headers, body: [])
    case .delete(let id): ProviderRequest(method: "DELETE", path: "\(app)/\(id)", headers: headers, body: [])
    case .list: ProviderRequest(method: "GET", path: app, headers: headers, body: [])
    }
  }

  func read(_ answer: ProviderAnswer, to call: ChannelCall) -> ChannelReply {
    let said = answer.header("said") ?? ""
    switch answer.status {
    case 201: return .created(said)
    case 200 where call == .list: return .listed(said.split(separator: " ").map(String.init))
    case 200: return .found(keepsNewest: said == "true")
    case 204: return .deleted
    case 404: return .unknown
    case 401: return .refused(ChannelRefusal(.authorizationExpired, reason: "Expired"))
    case 403: return .refused(ChannelRefusal(.bundle, reason: "TopicDisallowed"))
    case 409: return .refused(ChannelRefusal(.full, reason: "Full"))
    case 503: return .refused(ChannelRefusal(.passing, reason: "Busy"))
    default: return .refused(ChannelRefusal(.credential, reason: "NotEnabled", advice: "enable it"))
    }
  }
}

/// Keeps channels over HTTP/2, on a loop of its own; touched on the loop only.
private final class ChannelServer: HTTP2ServerDelegate, @unchecked Sendable {
  let authority = CertificateAuthority(name: "Channel tests")
  let loop = EventLoop(name: "channels")
  private(set) var origin = Origin(host: "localhost", port: 0)
  private let thread: LoopThread
  private var server: HTTP2Server?
  private var channels: [String: Bool] = [:]
  private var connections: Set<UInt64> = []
  private var requests: [String] = []
  /// Answers in place of its own, one request each.
  private var scripted: [Int] = []

  init() async throws {
    thread = loop.start()
    origin.port = try await loop.run { [self] in
      let leaf = authority.issue(hosts: ["localhost"])
      let tls = try TLSContext.server(certificate: leaf.certificate, key: leaf.key, alpn: ["h2"])
      let server = try HTTP2Server(loop: loop, port: 0, tls: tls, settings: HTTP2ServerSettings())
      server.delegate = self
      self.server = server
      return server.port
    }
  }

  func answer(_ statuses: Int...) async throws { try await loop.run { [self] in scripted = statuses } }
  var seen: (requests: [String], connections: Int) {
    get async throws { try await loop.run { [self] in (requests, connections.count) } }
  }
  func stop() async throws {
    try await loop.run { [self] in server?.stop() }
    loop.stop()
    thread.join()
  }

  func opened(_ connection: UInt64) {}
  func closed(_ connection: UInt64) {}
  func abandoned(_ stream: HTTP2ServerStream) {}
  func received(_ request: HTTP2ServerRequest) {
    connections.insert(request.stream.connection)
    requests.append("\(request.method) \(request.path)")
    let (status, said) = scripted.isEmpty ? carryOut(request) : (scripted.removeFirst(), "")
    server?.respond(request.stream, status: status, headers: [Header("said", said)], body: [])
  }

  private func carryOut(_ request: HTTP2ServerRequest) -> (Int, String) {
    let parts = request.path.split(separator: "/", maxSplits: 1).map(String.init)
    switch (request.method, parts.count) {
    case ("POST", _):
      let id = "a+/\(channels.count)=".padding(toLength: 8, withPad: "=", startingAt: 0)
      channels[id] = parts[1] == "true"
      return (201, id)
    case ("GET", 1): return (200, channels.keys.sorted().joined(separator: " "))
    case ("GET", _): return channels[parts[1]].map { (200, "\($0)") } ?? (404, "")
    default:
      channels[parts[1]] = nil
      return (204, "")
    }
  }
}

@Suite("Broadcast channels", .serialized)
struct ChannelTests {
  private func running(_ body: (Gateway, ChannelServer) async throws -> Void) async throws {
    let server = try await ChannelServer()
    let folder = try TemporaryDirectory()
    try Data(server.authority.certificatePEM).write(to: folder.file("ca.pem"))
    var settings = ServiceSettings()
    settings.caFile = folder.file("ca.pem").path
    try await Gateway.running(settings: settings, channels: server.origin) { try await body($0, server) }
    try await server.stop()
  }

  @Test("are created, read, listed and deleted, over one connection; ids with / and + stand in paths as base64url")
  func lives() async throws {
    try await running { gateway, server in
      let made = gateway.ask("POST", "/v1/channels", #"{"message_storage":"newest"}"#, as: .channels)
      #expect(made.status == 201, "\(made.text)")
      let id = try #require(made.json["id"]?.string)
      #expect(id.contains("/") && id.contains("+"))
      #expect(made.json["message_storage"]?.string == "newest")
      let place = try #require(made.headers.first { $0.name == "location" }?.value)
      #expect(!place.dropFirst("/v1/channels/".count).contains("/"))
      let read = gateway.ask("GET", place, as: .read)
      #expect(read.status == 200 && read.json["id"]?.string == id, "\(read.text)")
      let escaped = id.replacing("/", with: "%2F").replacing("+", with: "%2B").replacing("=", with: "%3D")
      #expect(gateway.ask("GET", "/v1/channels/\(escaped)", as: .read).json["message_storage"]?.string == "newest")
      _ = gateway.ask("POST", "/v1/channels", "{}", as: .channels)
      #expect(gateway.ask("GET", "/v1/channels", as: .read).json["items"]?.array?.count == 2)
      let table = gateway.ask("GET", "/v1/channels?format=csv").text.split(separator: "\r\n")
      #expect(table.first == "id,environment,bundle_id" && table.count == 3, "\(table)")
      #expect(gateway.ask("DELETE", place, as: .channels).status == 204)
      #expect(gateway.ask("DELETE", place, as: .channels).status == 204)
      #expect(gateway.ask("GET", place, as: .read).status == 404)
      #expect(try await server.seen.connections == 1)
      _ = gateway.ask("GET", "/v1/channels?bundle_id=com.example.other", as: .read)
      #expect(try await server.seen.requests.last == "GET /com.example.other")
    }
  }

  @Test("a channel belongs to the app that made it, though the provider shows it to each app of the team")
  func owners() async throws {
    try await running { gateway, _ in
      let place = try #require(gateway.ask("POST", "/v1/channels", "{}", as: .channels).header("location"))
      let id = try #require(gateway.ask("GET", place, as: .read).json["id"]?.string)
      let stranger = ["authorization": "Bearer \(gateway.stranger)"]
      func send(_ id: String, _ scope: Scope?, _ headers: [String: String] = [:]) -> Reply {
        gateway.ask(
          "POST", "/v1/messages?dry_run=true",
          #"{"to":{"channel":{"id":"\#(id)"}},"kind":"live_activity","live_activity":{"event":"update","timestamp":1780000000,"content_state":{}}}"#,
          as: scope, headers)
      }
      #expect(gateway.ask("GET", "/v1/channels", as: nil, stranger).json["items"] == .array([]))
      for method in ["GET", "DELETE"] {
        #expect(gateway.ask(method, place, as: nil, stranger).status == 404, "\(method)")
      }
      for written in [id, id.replacing("/", with: "_").replacing("+", with: "-").replacing("=", with: "")] {
        #expect(send(written, nil, stranger).violations == ["/to/channel/id not_allowed"], "\(written)")
        #expect(send(written, .send).status == 200, "\(written)")
      }
      #expect(gateway.ask("GET", "/v1/channels", as: .read).json["items"]?.array?.count == 1)
      // One that was made elsewhere is nobody's, and open to all that the provider shows it to.
      #expect(send("bm9ib2R5cw==", nil, stranger).status == 200)
      #expect(gateway.ask("DELETE", place, as: .channels).status == 204)
      #expect(send(id, nil, stranger).status == 200)
    }
  }

  @Test("what the provider refuses is told apart; an expired token gets one more try on a new connection")
  func refusals() async throws {
    try await running { gateway, server in
      for (status, code, told) in [
        (409, "channel_limit", 409), (503, "provider_unavailable", 503), (400, "provider_refused", 502),
      ] {
        try await server.answer(status)
        let reply = gateway.ask("POST", "/v1/channels", "{}", as: .channels)
        #expect(reply.status == told && reply.json["code"]?.string == code, "\(reply.text)")
      }
      // A bundle id that the caller chose is the caller's fault; the credential's own is the operator's.
      try await server.answer(403, 403, 403)
      let query = gateway.ask("GET", "/v1/channels?bundle_id=com.example.x", as: .read)
      #expect(query.status == 422 && query.json["violations"]?.array?.first?["parameter"]?.string == "bundle_id")
      #expect(query.text.contains("TopicDisallowed") && query.text.contains("com.example.x"), "\(query.text)")
      let body = gateway.ask("POST", "/v1/channels", #"{"bundle_id":"com.example.x"}"#, as: .channels)
      #expect(body.status == 422 && body.violations == ["/bundle_id not_allowed"], "\(body.text)")
      #expect(gateway.ask("GET", "/v1/channels", as: .read).status == 502)
      try await server.answer(401)
      #expect(gateway.ask("POST", "/v1/channels", "{}", as: .channels).status == 201)
      #expect(try await server.seen.connections == 2)
      try await server.answer(401, 401)
      #expect(gateway.ask("GET", "/v1/channels", as: .read).json["code"]?.string == "provider_refused")
    }
  }

  @Test(
    "bad input, keys without the scope, and environments that nobody serves are refused before the provider is asked")
  func badInput() async throws {
    try await running { gateway, server in
      for body in [#"{"message_storage":"all"}"#, #"{"bundle_id":"a b"}"#, #"{"enviroment":"sandbox"}"#, "[]"] {
        let reply = gateway.ask("POST", "/v1/channels", body, as: .channels)
        #expect(reply.status == 422 && reply.json["code"]?.string == "invalid_channel", "\(reply.text)")
        #expect(reply.json["violations"]?.array?.isEmpty == false)
      }
      #expect(gateway.ask("POST", "/v1/channels", #"{"environment":"sandbox"}"#, as: .channels).status == 422)
      #expect(gateway.ask("GET", "/v1/channels?environment=test", as: .read).status == 400)
      #expect(gateway.ask("GET", "/v1/channels?limit=1", as: .read).status == 400)
      #expect(gateway.ask("GET", "/v1/channels/no%20id", as: .read).status == 404)
      #expect(gateway.ask("POST", "/v1/channels", "{}", as: .read).status == 403)
      #expect(gateway.ask("DELETE", "/v1/channels/abcd", as: .read).status == 403)
      let seen = try await server.seen
      #expect(seen.requests.isEmpty)
    }
  }

  @Test("a provider that cannot be reached answers 503, and nothing hangs")
  func unreachable() async throws {
    try await Gateway.running { gateway in
      let reply = gateway.ask("GET", "/v1/channels", as: .read)
      #expect(reply.status == 503 && reply.json["code"]?.string == "provider_unavailable", "\(reply.text)")
    }
  }
}
