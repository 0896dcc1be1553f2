import Domain
import Foundation
import HTTPClient
import HTTPServer
import Loop
import Support
import TLS

/// A server and a client on one loop, over plain HTTP or over TLS with an authority of their own.
func withPair<Value: Sendable>(
  tls: Bool = false, host: String = "localhost",
  client adjust: @escaping @Sendable (inout HTTPClientSettings) -> Void = { _ in },
  server adjustServer: @escaping @Sendable (inout HTTPServerSettings) -> Void = { _ in },
  handle: @escaping @Sendable (HTTPServerRequest) async -> HTTPServerResponse,
  body: @escaping @Sendable (EventLoop, HTTPClient, String) async throws -> Value
) async throws -> Value {
  try await withLoop { loop in
    var serverSettings = HTTPServerSettings()
    var clientSettings = HTTPClientSettings()
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("fanfare-ca-\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: file) }
    if tls {
      let authority = CertificateAuthority(name: "Test")
      (serverSettings.certificate, serverSettings.key) = authority.issue(hosts: [host])
      try Data(authority.certificatePEM).write(to: file)
      clientSettings.caFile = file.path
    }
    adjust(&clientSettings)
    adjustServer(&serverSettings)
    let server = try HTTPServer(loop: loop, settings: serverSettings, handle: handle)
    let client = HTTPClient(loop: loop, settings: clientSettings)
    do {
      let value = try await body(loop, client, "\(tls ? "https" : "http")://localhost:\(server.port)")
      client.close()
      await server.stop()
      return value
    } catch {
      client.close()
      await server.stop()
      throw error
    }
  }
}

/// A peer that accepts connections and does what its script says with each; blocking, on a thread of its own.
final class ScriptedPeer: Sendable {
  /// A socket that is closed when neither its peer nor the peer's thread uses it any more. After that its number may
  /// belong to another socket.
  private final class Listening: Sendable {
    let socket: Int32
    init(_ socket: Int32) { self.socket = socket }
    deinit { close(socket) }
  }

  let port: Int
  private let listening: Listening
  /// How many connections have come, once the script has ended for them.
  let task: Task<Int, Never>

  /// `script` reads and writes one accepted connection, which is closed after it.
  init(connections: Int = 1, _ script: @escaping @Sendable (Int32) -> Void) {
    let listening = Listening(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        precondition(bind(listening.socket, address, size) == 0 && listen(listening.socket, 16) == 0)
        getsockname(listening.socket, address, &size)
      }
    }
    port = Int(in_port_t(bigEndian: address.sin_port))
    self.listening = listening
    task = onOwnThread {
      var count = 0
      while count < connections {
        let socket = accept(listening.socket, nil, nil)
        if socket < 0 { break }
        count += 1
        script(socket)
        close(socket)
      }
      return count
    }
  }
  /// Ends a thread that waits for a connection.
  deinit { shutdown(listening.socket, Int32(SHUT_RDWR)) }

  /// Reads up to and including `ending`, and nothing behind it; nil at the end of the stream before it.
  @discardableResult
  static func read(_ socket: Int32, until ending: String) -> String? {
    let ending = Array(ending.utf8)
    var bytes: [UInt8] = []
    var ahead = [UInt8](repeating: 0, count: 65_536)
    while true {
      // A look ahead first, so that what follows the ending is left in the socket.
      let seen = recv(socket, &ahead, ahead.count, Int32(MSG_PEEK))
      guard seen > 0 else { return nil }
      // The ending may have begun in what was read before.
      let searched = max(0, bytes.count - ending.count + 1)
      var tail = bytes[searched...] + ahead[..<seen]
      let end = tail.firstRange(of: ending)?.upperBound
      let taken = end.map { $0 - tail.startIndex - (bytes.count - searched) } ?? seen
      tail = []
      guard recv(socket, &ahead, taken, 0) == taken else { return nil }
      bytes += ahead[..<taken]
      if end != nil { return String(decoding: bytes, as: UTF8.self) }
    }
  }
  static func write(_ socket: Int32, _ text: String) { _ = send(socket, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }
}

@Sendable func echo(_ request: HTTPServerRequest) async -> HTTPServerResponse {
  HTTPServerResponse(status: 200, body: request.body)
}
