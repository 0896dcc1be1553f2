package import Domain
package import Loop
package import TLS

package struct HTTP2Settings: Sendable {
  package var connectTimeout: Int64 = 10_000
  /// From the moment a request's headers are queued to the end of its answer.
  package var answerTimeout: Int64 = 30_000
  /// A PING goes out after this long without a frame from the peer …
  package var pingAfter: Int64 = 60_000
  /// … and the connection fails if its ACK takes longer than this.
  package var pingTimeout: Int64 = 10_000
  package var maximumAnswerBody = 65_536
  package var maximumHeaderBytes = 16_384
  /// Streams assumed before the peer's SETTINGS arrive.
  package var initialStreams = 100
  package init() {}
}

/// What a client connection tells its owner, on the loop. No call comes from inside `submit`.
package protocol HTTP2ClientDelegate: AnyObject {
  /// TLS and ALPN done, the peer's first SETTINGS applied.
  func connected(_ connection: HTTP2ClientConnection)
  func answered(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ answer: ProviderAnswer)
  func failed(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ failure: StreamFailure)
  /// `openable` has grown: an answer came, SETTINGS changed.
  func capacityChanged(_ connection: HTTP2ClientConnection)
  /// GOAWAY received, or stream ids used up: no stream opens any more; those at work may finish. `reason` is the
  /// `reason` of the debug data's JSON or its text, cut off at 200 bytes.
  func draining(_ connection: HTTP2ClientConnection, reason: String?)
  /// The last call. Every tag has been answered or failed before.
  func closed(_ connection: HTTP2ClientConnection, _ reason: ConnectionEnd)
}

package enum StreamFailure: Hashable, Sendable {
  /// Surely not processed: above GOAWAY's last-stream-id, REFUSED_STREAM, or never written.
  case notProcessed(String)
  /// It may have been processed: lost connection, time-out, other RST_STREAM codes, an answer beyond its limits.
  case unknown(String)
}

package enum ConnectionEnd: Hashable, Sendable {
  /// `close` was called, or a drained connection is done.
  case finished
  /// Could not be opened: name, connect, certificate, ALPN.
  case unreachable(String)
  case lost(String)
}

/// One HTTP/2 connection to a provider (design D2), owned by one loop.
package final class HTTP2ClientConnection {
  package weak var delegate: (any HTTP2ClientDelegate)?

  /// Resolves, connects and shakes hands at once; `delegate` hears `connected` or `closed`.
  package init(loop: EventLoop, origin: Origin, tls: TLSContext, settings: HTTP2Settings) {
    preconditionFailure("not built yet")
  }
  /// Streams that may be opened now: SETTINGS less those at work; 0 before `connected` and when draining.
  package var openable: Int { preconditionFailure("not built yet") }
  package var openStreams: Int { preconditionFailure("not built yet") }
  /// The peer's SETTINGS_MAX_CONCURRENT_STREAMS as last received.
  package var streamLimit: Int { preconditionFailure("not built yet") }
  /// Needs `openable > 0`. Written at the end of the turn together with its neighbours. `tag` is the caller's.
  package func submit(_ request: ProviderRequest, tag: UInt64) { preconditionFailure("not built yet") }
  /// Opens no more streams; closes when those at work have ended.
  package func drain() { preconditionFailure("not built yet") }
  /// Ends at once; streams at work fail as unknown.
  package func close() { preconditionFailure("not built yet") }
}
