import Domain
import Glibc
import HTTP2
import Loop
import TLS

/// A provider's server on loopback: writes down what it receives and answers as it is told.
final class Responder: HTTP2ServerDelegate {
  struct Push: Hashable {
    var token: String
    var title: String
    var id: String
    var authorization: String
    var connection: UInt64
  }
  enum Reply {
    case status(Int, [Header] = [])
    case answer(Int, [UInt8])
    case goaway
    case reset(UInt32)
    case close
    /// No answer, ever.
    case silence
    /// What `release` says, when it is called.
    case barrier
  }
  private var held: [(HTTP2ServerStream, Push)] = []

  /// Answers what is held; how many these were.
  @discardableResult
  func release(status: Int = 200) -> Int {
    defer { held = [] }
    for (stream, push) in held {
      if status == 200 { accepted.append(push) }
      server.respond(stream, status: status, headers: [], body: [])
    }
    return held.count
  }

  private(set) var server: HTTP2Server!
  private(set) var pushes: [Push] = []
  private(set) var accepted: [Push] = []
  private(set) var connections = 0
  /// Pushes received, and their tokens.
  private(set) var total = 0
  private(set) var tokens: Set<String> = []
  /// False: of each push only its token.
  var keepsAll = true
  /// Connections that were sent GOAWAY: what still comes over them is above its last stream.
  private var left: Set<UInt64> = []
  /// The reply to a push; `nth`: how often this title went to this token, from 1.
  var reply: (Push, _ nth: Int) -> Reply = { _, _ in .status(200) }

  init(
    _ loop: EventLoop, port: Int = 0, speaks alpn: String = "h2",
    settings: HTTP2ServerSettings = HTTP2ServerSettings()
  ) throws {
    server = try HTTP2Server(loop: loop, port: port, tls: Trust.server(alpn: alpn), settings: settings)
    server.delegate = self
  }

  var origin: Origin { Origin(host: "127.0.0.1", port: server.port) }

  func opened(_ connection: UInt64) { connections += 1 }
  func closed(_ connection: UInt64) {}
  func abandoned(_ stream: HTTP2ServerStream) {}
  func received(_ request: HTTP2ServerRequest) {
    guard !left.contains(request.stream.connection) else { return }
    let push = Push(
      token: String(request.path.dropFirst("/send/".count)), title: String(decoding: request.body, as: UTF8.self),
      id: request.header("request-id") ?? "", authorization: request.header("authorization") ?? "",
      connection: request.stream.connection)
    total += 1
    tokens.insert(push.token)
    if keepsAll { pushes.append(push) }
    switch reply(push, keepsAll ? pushes.count { $0.token == push.token && $0.title == push.title } : 1) {
    case .status(let status, let headers):
      if status == 200, keepsAll { accepted.append(push) }
      server.respond(request.stream, status: status, headers: headers, body: [])
    case .answer(let status, let body): server.respond(request.stream, status: status, headers: [], body: body)
    case .goaway:
      left.insert(request.stream.connection)
      // This very stream is not processed.
      server.goaway(
        request.stream.connection, code: 0, debug: Array(#"{"reason":"Shutdown"}"#.utf8),
        lastStream: max(0, request.stream.stream - 2))
    case .reset(let code): server.reset(request.stream, code: code)
    case .close: server.close(request.stream.connection)
    case .silence: break
    case .barrier: held.append((request.stream, push))
    }
  }
}

/// The certificates of these tests.
enum Trust {
  static let authority = CertificateAuthority(name: "Delivery tests")
  static let leaf = authority.issue(hosts: ["localhost", "127.0.0.1"])
  /// Stays until the process ends.
  static let file: String = {
    var template = Array("/tmp/fanfare-test-ca-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    precondition(descriptor >= 0)
    defer { close(descriptor) }
    precondition(write(descriptor, authority.certificatePEM, authority.certificatePEM.count) > 0)
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }()

  static func server(alpn: String) throws -> TLSContext {
    try TLSContext.server(certificate: leaf.certificate, key: leaf.key, alpn: [alpn])
  }
}
