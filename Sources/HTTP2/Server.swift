package import Domain
package import Loop
package import TLS

package struct HTTP2ServerRequest: Sendable {
  package var stream: HTTP2ServerStream
  package var method: String
  package var path: String
  package var authority: String
  /// Regular headers, lower-case names, in order.
  package var headers: [Header]
  package var body: [UInt8]
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Names one stream of one connection of a server.
package struct HTTP2ServerStream: Hashable, Sendable {
  package var connection: UInt64
  package var stream: Int32
}

package protocol HTTP2ServerDelegate: AnyObject {
  func opened(_ connection: UInt64)
  /// A whole request has arrived. Answer now or later with `respond`, `reset`, or never.
  func received(_ request: HTTP2ServerRequest)
  /// The client reset the stream, or the connection ended before the answer.
  func abandoned(_ stream: HTTP2ServerStream)
  func closed(_ connection: UInt64)
}

package struct HTTP2ServerSettings: Sendable {
  package var maximumConcurrentStreams = 1000
  package var maximumBody = 1 << 20
  package init() {}
}

/// An HTTP/2 server over TLS for the sandbox, tests and benchmarks, with the misbehaviour they need. Recognises the
/// preface of clients that negotiate no ALPN.
package final class HTTP2Server {
  package weak var delegate: (any HTTP2ServerDelegate)?
  /// The port it listens on, also when 0 was asked for.
  package let port: Int

  /// Listens on 127.0.0.1, or `address`. Throws if the port is taken.
  package init(
    loop: EventLoop, address: String = "127.0.0.1", port: Int, tls: TLSContext, settings: HTTP2ServerSettings
  )
    throws(ListenFailure)
  {
    preconditionFailure("not built yet")
  }
  package func respond(_ stream: HTTP2ServerStream, status: Int, headers: [Header], body: [UInt8]) {}
  /// RST_STREAM with an HTTP/2 error code (7: REFUSED_STREAM).
  package func reset(_ stream: HTTP2ServerStream, code: UInt32) {}
  /// GOAWAY; streams above `lastStream` (default: the last one received) are dropped unanswered, the rest may finish, then the
  /// connection closes.
  package func goaway(_ connection: UInt64, code: UInt32, debug: [UInt8], lastStream: Int32? = nil) {}
  package func setMaximumConcurrentStreams(_ limit: Int, on connection: UInt64) {}
  /// Stops reading and writing until `false`.
  package func stall(_ connection: UInt64, _ stalled: Bool) {}
  /// Closes the TCP connection at once.
  package func close(_ connection: UInt64) {}
  package func stop() {}
}

package struct ListenFailure: Error, Sendable {
  package var reason: String
  package init(reason: String) { self.reason = reason }
}
