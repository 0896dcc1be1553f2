import Domain
import Glibc
import HTTP2
import JSON
import Loop
import Synchronization
import TLS

/// A bare HTTP/2 server that accepts every push at once, as little work as a vendor can be: the other end of benchmarks.
final class Responder: HTTP2ServerDelegate {
  private var server: HTTP2Server?
  private let loop: EventLoop
  private(set) var requests = 0
  private(set) var connections = 0
  private(set) var first: Instant?
  private(set) var last: Instant?

  init(loop: EventLoop, certificate: [UInt8], key: [UInt8], streams: Int) throws {
    self.loop = loop
    let tls = try TLSContext.server(certificate: certificate, key: key, alpn: ["h2"])
    var settings = HTTP2ServerSettings()
    settings.maximumConcurrentStreams = streams
    let server = try HTTP2Server(loop: loop, port: 0, tls: tls, settings: settings)
    self.server = server
    server.delegate = self
  }

  var port: Int { server?.port ?? 0 }

  func opened(_ connection: UInt64) { connections += 1 }
  func received(_ request: HTTP2ServerRequest) {
    requests += 1
    last = loop.now
    if first == nil { first = last }
    let id = request.header("apns-id").map { [Header("apns-id", $0, indexed: false)] } ?? []
    server?.respond(request.stream, status: 200, headers: id, body: [])
  }
  func abandoned(_ stream: HTTP2ServerStream) {}
  func closed(_ connection: UInt64) {}
  func stop() { server?.stop() }

  /// `fanfare bench responder`: makes an authority in `directory`, listens, says so, answers until SIGTERM, then tells
  /// what it saw.
  static func run(directory: String, streams: Int) throws -> ExitCode {
    StopSignals.block()
    let authority = CertificateAuthority(name: "Fanfare benchmark")
    let leaf = authority.issue(hosts: ["localhost", "127.0.0.1"])
    guard FileContent.write(authority.certificatePEM, to: "\(directory)/ca.pem") else {
      Terminal.complain("\(directory) cannot be written to")
      return .failure
    }
    let loop = EventLoop(name: "responder")
    let thread = loop.start()
    let holder = Holder()
    let port = try Blocking.on(loop) {
      let responder = try Responder(loop: loop, certificate: leaf.certificate, key: leaf.key, streams: streams)
      holder.responder = responder
      return responder.port
    }
    Terminal.print("{\"event\":\"ready\",\"port\":\(port)}")
    StopSignals.wait()
    let told = try Blocking.on(loop) {
      guard let responder = holder.responder else { return [UInt8]() }
      responder.stop()
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("event", "done")
      writer.member("requests", responder.requests)
      writer.member("connections", responder.connections)
      writer.member("first", responder.first.map(\.nanoseconds))
      writer.member("last", responder.last.map(\.nanoseconds))
      writer.endObject()
      holder.responder = nil
      return writer.bytes
    }
    Terminal.print(told)
    loop.stop()
    thread.join()
    return .success
  }

  /// Touched on the loop only.
  private final class Holder: @unchecked Sendable { var responder: Responder? }
}
