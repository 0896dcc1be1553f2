import Domain
import HTTP2
import Loop
import Support
import TLS
import Testing

@Suite("Opening an HTTP/2 connection")
struct OpeningTests {
  /// Why a connection to that server cannot be opened.
  private static func refusal(
    _ loop: EventLoop, port: Int, host: String = "127.0.0.1", settings: HTTP2Settings = HTTP2Settings()
  ) async -> String {
    let signal = Signal(loop)
    let client = Client(loop, signal, port: port, host: host, settings: settings)
    await signal.until("closed") { client.ended != nil }
    #expect(!client.connected)
    guard case .unreachable(let reason) = client.ended else {
      Issue.record("\(String(describing: client.ended))")
      return ""
    }
    return reason
  }

  @Test("a certificate of an unknown authority, or for another host, is refused")
  func certificates() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let stranger = try Responder(
        loop, signal, tls: Trust.server(by: CertificateAuthority(name: "Somebody else")))
      #expect(await Self.refusal(loop, port: stranger.server.port).contains("certificate refused"))
      let other = try Responder(loop, signal, tls: Trust.server(hosts: ["push.example"]))
      #expect(await Self.refusal(loop, port: other.server.port).contains("certificate refused"))
    }
  }

  @Test("a server that does not agree to h2 is refused")
  func protocols() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let server = try Responder(loop, signal, tls: Trust.server(alpn: ["http/1.1"]))
      #expect(await Self.refusal(loop, port: server.server.port).contains("ALPN"))
    }
  }

  @Test("a port where nobody listens is refused with the system's reason")
  func nobody() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let gone = try Responder(loop, signal)
      let port = gone.server.port
      gone.server.stop()
      #expect(await Self.refusal(loop, port: port).contains("refused"))
    }
  }

  @Test("a server that says nothing behind TLS runs into the connect time-out")
  func silent() async throws {
    try await withLoop { loop in
      let peer = try RawPeer(loop, greeting: [])
      var settings = HTTP2Settings()
      settings.connectTimeout = 200
      #expect(await Self.refusal(loop, port: peer.port, settings: settings).contains("200 ms"))
      peer.stop()
    }
  }

  @Test("a server that answers with HTTP/1.1 is refused")
  func oldProtocol() async throws {
    try await withLoop { loop in
      let peer = try RawPeer(loop, greeting: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
      #expect(await Self.refusal(loop, port: peer.port).contains("HTTP/2"))
      peer.stop()
    }
  }

  @Test("a header block that does not decode loses the connection, and every tag ends once")
  func brokenHeaders() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let peer = try RawPeer(loop, greeting: RawPeer.settings)
      let client = Client(loop, signal, port: peer.port)
      await signal.until("connected") { client.connected }
      // Index 100 of a dynamic table that is empty.
      peer.react = { _ in RawPeer.frame(1, flags: 5, stream: 1, [0xE4]) }
      for tag in 0..<UInt64(3) { client.send(tag) }
      await signal.until("closed") { client.ended != nil }
      if case .lost = client.ended {} else { Issue.record("\(String(describing: client.ended))") }
      #expect(client.failures.count == 3)
      peer.stop()
    }
  }

  @Test("an answer that came whole counts, though the stream is reset before the request's body was taken")
  func earlyAnswer() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let peer = try RawPeer(loop, greeting: RawPeer.settings)
      let client = Client(loop, signal, port: peer.port)
      await signal.until("connected") { client.connected }
      var answered = false
      peer.react = { _ in
        guard !answered, peer.received.count > 1_000 else { return [] }
        answered = true
        // `:status 200` is index 8 of the static table; then RST_STREAM(NO_ERROR).
        return RawPeer.frame(1, flags: 5, stream: 1, [0x88]) + RawPeer.frame(3, flags: 0, stream: 1, [0, 0, 0, 0])
      }
      // More than the peer's window, so that the request cannot have ended.
      client.send(1, body: [UInt8](repeating: 1, count: 200_000))
      await signal.until("one outcome") { client.outcomes == 1 }
      #expect(client.answers[1]?.status == 200)
      #expect(client.ended == nil)
      client.connection.close()
      await signal.until("closed") { client.ended != nil }
      peer.stop()
    }
  }

  @Test("the server knows a client without ALPN by its preface")
  func preface() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      let tls = try TLSContext.client(caFile: Trust.file(Trust.authority), alpn: [])
      let addresses = await withUnsafeContinuation { waiter in
        loop.resolve(host: "127.0.0.1", port: responder.server.port) { waiter.resume(returning: $0) }
      }
      let socket = try Socket.connect(to: addresses.get()[0])
      let session = try TLSSession(client: tls, host: "127.0.0.1", fd: socket.fd)
      var greeting: [UInt8] = []
      loop.watch(socket.fd, [.readable, .writable]) { _ in
        guard session.handshake() == .done else { return }
        loop.change(socket.fd, [.readable])
        _ = (Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + RawPeer.settings).withUnsafeBytes { session.write($0) }
        withUnsafeTemporaryAllocation(byteCount: 1_000, alignment: 1) { buffer in
          while case .moved(let count) = session.read(into: buffer) { greeting += buffer[..<count] }
        }
        signal.changed()
      }
      // SETTINGS with one entry, then more, and no GOAWAY (type 7).
      await signal.until("SETTINGS") { greeting.count >= 15 }
      #expect(greeting[3] == 4)
      #expect(responder.opened.count == 1)
      loop.unwatch(socket.fd)
      socket.close()
      await signal.until("closed") { responder.closed.count == 1 }
    }
  }

  @Test("a taken port is named")
  func takenPort() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let first = try Responder(loop, signal)
      let taken = first.server.port
      let failure = #expect(throws: ListenFailure.self) {
        try HTTP2Server(loop: loop, port: taken, tls: Trust.server(), settings: HTTP2ServerSettings())
      }
      #expect(failure?.reason.contains("\(taken)") == true)
    }
  }

  @Test("a hundred connections at once are all served")
  func crowd() async throws {
    try await withLoop { loop in
      let signal = Signal(loop)
      let responder = try Responder(loop, signal)
      let clients = (0..<100).map { _ in Client(loop, signal, port: responder.server.port) }
      await signal.until("all connected") { clients.allSatisfy(\.connected) }
      for client in clients { client.send(1) }
      await signal.until("all answered") { clients.allSatisfy { $0.answers.count == 1 } }
      for client in clients { client.connection.drain() }
      await signal.until("all closed") { responder.closed.count == 100 && clients.allSatisfy { $0.ended == .finished } }
    }
  }
}
