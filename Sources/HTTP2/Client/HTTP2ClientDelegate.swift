package import Domain

/// What a client connection tells its owner, on the loop. No call comes from inside `submit`, `drain` or `close`.
package protocol HTTP2ClientDelegate: AnyObject {
  /// TLS and ALPN done, the peer's first SETTINGS applied.
  func connected(_ connection: HTTP2ClientConnection)
  func answered(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ answer: ProviderAnswer)
  /// Prepared requests that were answered 200, in place of `answered`; their headers are not kept.
  func succeeded(_ connection: HTTP2ClientConnection, _ answers: [(tag: UInt64, body: [UInt8])])
  func failed(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ failure: StreamFailure)
  /// `openable` has grown: an answer came, SETTINGS changed. Once for a batch of answers.
  func capacityChanged(_ connection: HTTP2ClientConnection)
  /// The peer has left a PING unanswered for a while, and no stream opens; or, after that, something has come from it.
  func silenceChanged(_ connection: HTTP2ClientConnection, isSilent: Bool)
  /// GOAWAY received, or stream ids used up: no stream opens any more; those at work may finish. `reason` is the
  /// `reason` of the debug data's JSON or its text, cut off at 200 bytes. At most once.
  func draining(_ connection: HTTP2ClientConnection, reason: String?)
  /// The last call. Every tag has been answered or failed before.
  func closed(_ connection: HTTP2ClientConnection, _ reason: ConnectionEnd)
}

extension HTTP2ClientDelegate {
  /// By default nothing: for owners of a single connection, which have no other to turn to.
  package func silenceChanged(_ connection: HTTP2ClientConnection, isSilent: Bool) {}
  /// By default each is told by `answered`, as 200 without headers.
  package func succeeded(_ connection: HTTP2ClientConnection, _ answers: [(tag: UInt64, body: [UInt8])]) {
    for (tag, body) in answers { answered(connection, tag, ProviderAnswer(status: 200, body: body)) }
  }
}

/// Why a request has no answer. What decides is whether the peer may have processed it: only `notProcessed` may be sent
/// again without the risk of a double. The texts are for logs.
package enum StreamFailure: Hashable, Sendable {
  /// Surely not processed: above GOAWAY's last-stream-id, REFUSED_STREAM, or never written.
  case notProcessed(String)
  /// It may have been processed: time-out, other RST_STREAM codes, headers beyond their limit, a connection that we closed.
  case unknown(String)
  /// It may have been processed: it was at work when the peer or the network ended the connection, and so were `beside` others.
  case lost(String, beside: Int)
  /// It may have been processed: it timed out, and nothing at all was heard on its connection since it was made.
  case silent(String)
  /// No peer will ever see it: it cannot be written.
  case unsendable(String)
}

/// Why a connection closed. The texts are for logs.
package enum ConnectionEnd: Hashable, Sendable {
  /// `close` was called, or a drained connection is done.
  case finished
  /// Could not be opened: name, connect, certificate, ALPN.
  case unreachable(String)
  case lost(String)
}
