package import Domain
package import Loop

package struct HTTPClientRequest: Sendable {
  package var method: String
  /// https, or http for loopback and metadata servers.
  package var url: String
  package var headers: [Header]
  package var body: [UInt8]
  package var timeout: Int64
  package init(
    method: String = "POST", url: String, headers: [Header] = [], body: [UInt8] = [], timeout: Int64 = 30_000
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
  }
}

/// `processed`: false if the request surely never reached the peer (name, connect, TLS), so that it may go again at once.
package struct HTTPClientFailure: Error, Hashable, Sendable {
  package var reason: String
  package var processed: Bool
  package init(reason: String, processed: Bool) {
    self.reason = reason
    self.processed = processed
  }
}

package struct HTTPClientSettings: Sendable {
  /// PEM file of trusted authorities; nil: the system's. Certificates and names are always verified.
  package var caFile: String?
  package var connectTimeout: Int64 = 10_000
  package var maximumBody = 1 << 20
  package var connectionsPerHost = 16
  package init() {}
}

/// HTTP/1.1 by libcurl's multi interface on the loop, for OAuth, OneSignal and webhooks. Keeps connections; follows no
/// redirect.
package final class HTTPClient {
  package init(loop: EventLoop, settings: HTTPClientSettings) { preconditionFailure("not built yet") }

  /// `done` is called once, on the loop, never from inside `send`.
  package func send(
    _ request: HTTPClientRequest, _ done: @escaping (Result<ProviderAnswer, HTTPClientFailure>) -> Void
  ) { preconditionFailure("not built yet") }

  package func send(_ request: HTTPClientRequest) async throws(HTTPClientFailure) -> ProviderAnswer {
    preconditionFailure("not built yet")
  }
  /// Fails what is at work, then frees libcurl's handles. Nothing may be sent after it.
  package func close() {}
}
