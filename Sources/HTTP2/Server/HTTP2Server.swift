package import Domain
package import Loop
package import TLS

/// An HTTP/2 server for the sandbox, tests and benchmarks, with the misbehaviour they need. Speaks HTTP/1.1 too if its
/// settings say so: by ALPN, and without ALPN to all that do not begin with HTTP/2's preface. Every fault has a form in both.
/// Owned by one loop. Calls that name a stream or connection that has gone do nothing.
package final class HTTP2Server {
  /// To be set right after `init`: requests that come without one are never answered.
  package weak var delegate: (any HTTP2ServerDelegate)?
  /// The port it listens on, also when 0 was asked for.
  package let port: Int

  private let loop: EventLoop
  private let tls: TLSContext?
  private let settings: HTTP2ServerSettings
  private let listener: Listener
  private var connections: [UInt64: ServerConnection] = [:]
  private var drips: [ObjectIdentifier: Drip] = [:]
  private var last: UInt64 = 0

  /// Listens on 127.0.0.1, or `address` (an IPv4 or IPv6 address). `tls`: nil for plain TCP. Throws if the port is taken.
  package init(
    loop: EventLoop, address: String = "127.0.0.1", port: Int, tls: TLSContext?, settings: HTTP2ServerSettings
  ) throws(ListenFailure) {
    self.loop = loop
    self.tls = tls
    self.settings = settings
    listener = try Listener(loop: loop, address: address, port: port)
    self.port = listener.port
    listener.start { [weak self] in self?.accepted($0) }
  }

  deinit { stop() }

  private func accepted(_ client: Socket) {
    let greeting = delegate?.greeting() ?? HTTP2Greeting()
    switch greeting.pace {
    case .usual: serve(client, greeting.tls ?? tls)
    case .dripping(let every): if let server = drip(client, every: every) { serve(server, greeting.tls ?? tls) }
    case .silent: _ = drip(client, every: nil)
    }
  }

  /// The server's end of a connection that is to be slow.
  private func drip(_ client: Socket, every: Int64?) -> Socket? {
    let (drip, server) = Drip.start(loop, client, every: every) { [weak self] in
      self?.drips[ObjectIdentifier($0)] = nil
    }
    drips[ObjectIdentifier(drip)] = drip
    return server
  }

  private func serve(_ socket: Socket, _ tls: TLSContext?) {
    var security = ChannelSecurity.plain(socket)
    if let tls {
      guard let session = try? TLSSession(server: tls, fd: socket.fd) else { return socket.close() }
      security = .tls(session)
    }
    last += 1
    let channel = SecureChannel(loop: loop, socket: socket, session: security, connecting: false)
    let connection = ServerConnection(number: last, loop: loop, channel: channel, settings: settings) { [weak self] in
      self?.happened($0)
    }
    connections[last] = connection
    connection.start()
  }

  private func happened(_ event: ServerConnection.Event) {
    switch event {
    case .opened(let connection): delegate?.opened(connection)
    case .received(let request): delegate?.received(request)
    case .abandoned(let stream): delegate?.abandoned(stream)
    case .closed(let connection, let wasOpen):
      connections[connection] = nil
      if wasOpen { delegate?.closed(connection) }
    }
  }

  /// The first answer to a stream counts; later ones, and answers to a request that has not come whole, do nothing.
  package func respond(_ stream: HTTP2ServerStream, status: Int, headers: [Header], body: [UInt8]) {
    connections[stream.connection]?.respond(stream.stream, status: status, headers: headers, body: body)
  }

  /// A body of so many bytes, made while it is sent.
  package func respond(_ stream: HTTP2ServerStream, status: Int, headers: [Header], bodyOf bytes: Int) {
    connections[stream.connection]?.respond(stream.stream, status: status, headers: headers, body: [], filler: bytes)
  }

  /// Answers with a header block of so many bytes, in HEADERS and CONTINUATION frames or in lines; nil: until the client
  /// leaves. The connection says nothing else meanwhile.
  package func floodHeaders(_ stream: HTTP2ServerStream, bytes: Int?) {
    connections[stream.connection]?.floodHeaders(stream.stream, bytes: bytes)
  }

  /// Answers with a header block that no HPACK decoder takes; over HTTP/1.1 with a line that is no status line.
  package func respondMalformed(_ stream: HTTP2ServerStream) {
    connections[stream.connection]?.respondMalformed(stream.stream)
  }

  /// What the client showed in its handshake.
  package func clientCertificate(of connection: UInt64) -> HTTP2ClientCertificate? {
    connections[connection]?.clientCertificate
  }

  /// RST_STREAM with an HTTP/2 error code (7: REFUSED_STREAM); over HTTP/1.1 the TCP connection ends with RST.
  package func reset(_ stream: HTTP2ServerStream, code: UInt32) {
    connections[stream.connection]?.reset(stream.stream, code: code)
  }

  /// GOAWAY (over HTTP/1.1 its like: no further request is taken); streams above `lastStream` (default: the last one received) are dropped unanswered, the rest may finish, then the
  /// connection closes.
  package func goaway(_ connection: UInt64, code: UInt32, debug: [UInt8], lastStream: Int32? = nil) {
    connections[connection]?.goaway(code: code, debug: debug, lastStream: lastStream)
  }

  /// Nothing over HTTP/1.1, which has one request at a time.
  package func setMaximumConcurrentStreams(_ limit: Int, on connection: UInt64) {
    connections[connection]?.setMaximumConcurrentStreams(limit)
  }

  /// Stops reading and writing until `false`.
  package func stall(_ connection: UInt64, _ stalled: Bool) { connections[connection]?.stall(stalled) }

  /// Closes the TCP connection at once.
  package func close(_ connection: UInt64) { connections[connection]?.close() }

  /// Listens no more and closes all connections at once; the delegate hears of each that was open.
  package func stop() {
    listener.stop()
    for connection in connections.values { connection.close() }
    for drip in drips.values { drip.close() }
  }
}
