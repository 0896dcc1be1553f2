package import Domain
package import TLS

/// A whole request: it is told only when its body has come, up to the server's limit.
package struct HTTP2ServerRequest: Sendable {
  package var stream: HTTP2ServerStream
  package var method: String
  /// With the query.
  package var path: String
  package var authority: String
  /// Regular headers, lower-case names, in order.
  package var headers: [Header]
  package var body: [UInt8]
  /// The first header of that name, which must be in small letters.
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
  package init(
    stream: HTTP2ServerStream, method: String, path: String, authority: String, headers: [Header], body: [UInt8]
  ) {
    self.stream = stream
    self.method = method
    self.path = path
    self.authority = authority
    self.headers = headers
    self.body = body
  }
}

/// Names one stream of one connection of a server; over HTTP/1.1 `stream` counts the connection's requests from 1.
package struct HTTP2ServerStream: Hashable, Sendable {
  package var connection: UInt64
  package var stream: Int32
  /// `connection` counts the server's connections from 1.
  package init(connection: UInt64, stream: Int32) {
    self.connection = connection
    self.stream = stream
  }
}

/// What a client showed in its handshake.
package struct HTTP2ClientCertificate: Sendable {
  package var certificate: Certificate
  /// Of the authorities asked for, and within its time.
  package var isTrusted: Bool
}

/// How a server meets a client: usually, or with a fault of the handshake.
package struct HTTP2Greeting: Sendable {
  /// How fast the server speaks, from the first byte of the handshake.
  package enum Pace: Hashable, Sendable {
    case usual
    /// What the server says passes a byte at a time.
    case dripping(every: Int64)
    /// The connection stands, and nothing is ever said on it.
    case silent
  }
  /// In the server's place.
  package var tls: TLSContext?
  package var pace = Pace.usual
  package init() {}
}

/// What a server tells its owner, on the loop; never from inside a call to the server.
package protocol HTTP2ServerDelegate: AnyObject {
  /// A client has connected: how is it met?
  func greeting() -> HTTP2Greeting
  /// TLS is up; requests may follow.
  func opened(_ connection: UInt64)
  /// A whole request has arrived. Answer now or later with `respond`, `reset`, or never.
  func received(_ request: HTTP2ServerRequest)
  /// The client reset the stream, or the connection ended before the answer. Not called for what the server dropped itself.
  func abandoned(_ stream: HTTP2ServerStream)
  func closed(_ connection: UInt64)
}

extension HTTP2ServerDelegate {
  package func greeting() -> HTTP2Greeting { HTTP2Greeting() }
}

/// What a client may send. `maximumBody` and `maximumHeaderBytes` are bytes of one request: over HTTP/2 a stream beyond
/// them is reset, over HTTP/1.1 the answer is a refusal.
package struct HTTP2ServerSettings: Sendable {
  package var maximumConcurrentStreams = 1000
  package var maximumBody = 1 << 20
  package var maximumHeaderBytes = 1 << 16
  /// Clients may speak HTTP/1.1. The TLS context must offer `http/1.1` by ALPN.
  package var speaksHTTP1 = false
  package init() {}
}
