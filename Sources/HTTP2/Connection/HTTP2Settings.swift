/// Limits of a client connection. All times in milliseconds.
package struct HTTP2Settings: Sendable {
  /// For everything from the name to the peer's SETTINGS.
  package var connectTimeout: Int64 = 10_000
  /// From the moment a request's headers are queued to the end of its answer.
  package var answerTimeout: Int64 = 30_000
  /// A PING goes out when nothing has come from the peer for so long …
  package var pingAfter: Int64 = 60_000
  /// … or for so long since a request went …
  package var pingAtWork: Int64 = 1_000
  /// … and the connection fails if nothing comes for so long after it. After a third of that it opens no more streams until
  /// something comes.
  package var pingTimeout: Int64 = 3_000
  /// Bytes of an answer's body; what is longer is cut off, and its stream reset.
  package var maximumAnswerBody = 65_536
  package var maximumHeaderBytes = 16_384
  /// Streams assumed while the peer's SETTINGS name no limit.
  package var initialStreams = 100
  /// Requests after which the connection drains; HTTP/2 has no more stream ids.
  package var maximumRequests = (1 << 30) - 1
  package init() {}
}
