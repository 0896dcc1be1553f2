import CNGHTTP2
package import Loop
package import TLS

/// What a bare server answers.
package final class BareReply {
  let status: [UInt8]
  let body: [UInt8]

  /// Made once and shared by many answers: the status is kept as text.
  package init(status: Int, body: [UInt8] = []) {
    self.status = Array(String(status).utf8)
    self.body = body
  }
}

/// Decides what a bare server answers. On the loop, from inside its callbacks: no calls back.
package protocol BareServerDelegate: AnyObject {
  func opened()
  /// A whole request; its path holds during the call. Nil: it is answered later, or never.
  func received(_ stream: HTTP2ServerStream, path: UnsafeBufferPointer<UInt8>) -> BareReply?
}

/// An HTTP/2 server for benchmarks, with as little work for a push as can be: of a request it keeps the path and the header
/// `apns-id`, which its answer carries again. Owned by one loop.
package final class BareServer {
  /// To be set right after `init`: requests that come without one are never answered.
  package weak var delegate: (any BareServerDelegate)?
  package let port: Int
  private let loop: EventLoop
  private let tls: TLSContext
  private let streams: Int
  private let listener: Listener
  private var connections: [UInt64: BareConnection] = [:]
  private var last: UInt64 = 0

  /// Listens on 127.0.0.1. `streams`: allowed per connection.
  package init(loop: EventLoop, tls: TLSContext, streams: Int) throws(ListenFailure) {
    self.loop = loop
    self.tls = tls
    self.streams = streams
    listener = try Listener(loop: loop, address: "127.0.0.1", port: 0)
    port = listener.port
    listener.start { [weak self] in self?.accepted($0) }
  }

  deinit { stop() }

  private func accepted(_ socket: Socket) {
    guard let session = try? TLSSession(server: tls, fd: socket.fd) else { return socket.close() }
    last += 1
    let channel = SecureChannel(loop: loop, socket: socket, session: .tls(session), connecting: false)
    connections[last] = BareConnection(self, number: last, loop: loop, channel: channel, streams: streams)
    delegate?.opened()
  }

  func received(_ stream: HTTP2ServerStream, path: UnsafeBufferPointer<UInt8>) -> BareReply? {
    delegate?.received(stream, path: path)
  }

  func closed(_ number: UInt64) { connections[number] = nil }

  /// The later answer to a request for which `received` gave none. No effect where the connection has gone.
  package func respond(_ stream: HTTP2ServerStream, _ reply: BareReply) {
    connections[stream.connection]?.respond(stream.stream, reply)
  }

  /// GOAWAY without an error: what has come is still answered.
  package func goaway(_ connection: UInt64) { connections[connection]?.goaway() }

  /// Closes the listener and all connections at once, without GOAWAY; `deinit` does the same.
  package func stop() {
    listener.stop()
    for connection in connections.values { connection.close() }
    connections = [:]
  }
}
