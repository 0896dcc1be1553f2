import Domain
import Glibc
import Loop
import TLS
import Testing

@testable import HTTP2

extension HTTP2ClientConnection {
  var openStreams: Int { table.count }
}

/// A client connection that writes down what it hears.
final class Client: HTTP2ClientDelegate {
  let connection: HTTP2ClientConnection
  private let signal: Signal
  private(set) var connected = false
  private(set) var answers: [UInt64: ProviderAnswer] = [:]
  private(set) var failures: [UInt64: StreamFailure] = [:]
  private(set) var drained: [String?] = []
  private(set) var silences: [Bool] = []
  private(set) var ended: ConnectionEnd?
  /// Called whenever streams may be opened.
  var pump: ((Client) -> Void)?
  var onFailure: ((Client, UInt64, StreamFailure) -> Void)?

  init(
    _ loop: EventLoop, _ signal: Signal, port: Int, host: String = "127.0.0.1", tls: TLSContext? = nil,
    settings: HTTP2Settings = HTTP2Settings()
  ) {
    self.signal = signal
    connection = HTTP2ClientConnection(
      loop: loop, origin: Origin(host: host, port: port), tls: tls ?? Trust.client, settings: settings)
    connection.delegate = self
  }

  /// A connection that is open.
  static func connected(
    _ loop: EventLoop, _ signal: Signal, port: Int, settings: HTTP2Settings = HTTP2Settings()
  ) async -> Client {
    let client = Client(loop, signal, port: port, settings: settings)
    await signal.until("connected") { client.connected || client.ended != nil }
    #expect(client.ended == nil)
    return client
  }

  func send(_ tag: UInt64, path: String = "/3/device/aa", headers: [Header] = [], body: [UInt8] = Array("{}".utf8)) {
    connection.submit(ProviderRequest(path: path, headers: headers, body: body), tag: tag)
  }

  var outcomes: Int { answers.count + failures.count }
  var notProcessed: [UInt64] {
    failures.compactMap { if case .notProcessed = $0.value { $0.key } else { nil } }.sorted()
  }

  func connected(_ connection: HTTP2ClientConnection) {
    #expect(!connected && ended == nil)
    connected = true
    pump?(self)
    signal.changed()
  }
  func answered(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ answer: ProviderAnswer) {
    #expect(answers[tag] == nil && failures[tag] == nil && ended == nil, "tag \(tag) ended before")
    answers[tag] = answer
    signal.changed()
  }
  func failed(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ failure: StreamFailure) {
    #expect(answers[tag] == nil && failures[tag] == nil && ended == nil, "tag \(tag) ended before")
    if let onFailure { onFailure(self, tag, failure) } else { failures[tag] = failure }
    signal.changed()
  }
  func capacityChanged(_ connection: HTTP2ClientConnection) {
    #expect(connection.openable > 0 && ended == nil)
    pump?(self)
    signal.changed()
  }
  func silenceChanged(_ connection: HTTP2ClientConnection, isSilent: Bool) {
    silences.append(isSilent)
    signal.changed()
  }
  func draining(_ connection: HTTP2ClientConnection, reason: String?) {
    drained.append(reason)
    signal.changed()
  }
  func closed(_ connection: HTTP2ClientConnection, _ reason: ConnectionEnd) {
    #expect(ended == nil && connection.openStreams == 0 && connection.openable == 0)
    ended = reason
    signal.changed()
  }
}

/// A server that answers by a function, 200 with the request's body unless told otherwise.
final class Responder: HTTP2ServerDelegate {
  let server: HTTP2Server
  private let signal: Signal
  private(set) var requests = 0
  private(set) var opened: [UInt64] = []
  private(set) var closed: [UInt64] = []
  private(set) var abandoned: [HTTP2ServerStream] = []
  var answer: (Responder, HTTP2ServerRequest) -> Void = { $0.echo($1) }

  init(
    _ loop: EventLoop, _ signal: Signal, tls: TLSContext? = nil,
    settings: HTTP2ServerSettings = HTTP2ServerSettings()
  ) throws {
    self.signal = signal
    server = try HTTP2Server(loop: loop, port: 0, tls: tls ?? Trust.server(), settings: settings)
    server.delegate = self
  }

  func echo(_ request: HTTP2ServerRequest) {
    let id = request.header("apns-id").map { [Header("apns-id", $0)] } ?? []
    server.respond(request.stream, status: 200, headers: id, body: request.body)
  }

  func opened(_ connection: UInt64) {
    opened.append(connection)
    signal.changed()
  }
  func received(_ request: HTTP2ServerRequest) {
    requests += 1
    answer(self, request)
    signal.changed()
  }
  func abandoned(_ stream: HTTP2ServerStream) {
    abandoned.append(stream)
    signal.changed()
  }
  func closed(_ connection: UInt64) {
    closed.append(connection)
    signal.changed()
  }
}

/// The certificates of these tests.
enum Trust {
  static let authority = CertificateAuthority(name: "HTTP/2 tests")
  static let client = try! TLSContext.client(caFile: file(authority), alpn: ["h2"])

  static func server(
    hosts: [String] = ["localhost", "127.0.0.1"], alpn: [String] = ["h2"], by issuer: CertificateAuthority = authority
  ) throws -> TLSContext {
    let leaf = issuer.issue(hosts: hosts)
    return try TLSContext.server(certificate: leaf.certificate, key: leaf.key, alpn: alpn)
  }

  /// The authority's certificate in a file that stays until the process ends.
  static func file(_ authority: CertificateAuthority) -> String {
    var template = Array("/tmp/fanfare-test-ca-XXXXXX".utf8CString)
    let fd = mkstemp(&template)
    precondition(fd >= 0)
    defer { close(fd) }
    precondition(write(fd, authority.certificatePEM, authority.certificatePEM.count) > 0)
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
