package import Domain

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

/// What a server tells its owner, on the loop; never from inside a call to the server.
package protocol HTTP2ServerDelegate: AnyObject {
  /// TLS is up; requests may follow.
  func opened(_ connection: UInt64)
  /// A whole request has arrived. Answer now or later with `respond`, `reset`, or never.
  func received(_ request: HTTP2ServerRequest)
  /// The client reset the stream, or the connection ended before the answer. Not called for what the server dropped itself.
  func abandoned(_ stream: HTTP2ServerStream)
  func closed(_ connection: UInt64)
}

package struct HTTP2ServerSettings: Sendable {
  package var maximumConcurrentStreams = 1000
  package var maximumBody = 1 << 20
  package var maximumHeaderBytes = 1 << 16
  package init() {}
}
