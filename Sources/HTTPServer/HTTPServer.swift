package import Domain
package import Loop

package struct HTTPServerRequest: Sendable {
  package var method: String
  /// The raw path before `?`, never decoded as a whole: split on `/`, then decode each part.
  package var path: String
  /// Decoded query parameters in order.
  package var query: [(name: String, value: String)]
  /// Lower-case names.
  package var headers: [Header]
  package var body: [UInt8]
  package var peer: String
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
  package func query(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

package struct HTTPServerResponse: Sendable {
  package var status: Int
  package var headers: [Header]
  package var body: [UInt8]
  package init(status: Int, headers: [Header] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

package struct HTTPServerSettings: Sendable {
  package var address = "127.0.0.1"
  /// 0: any free one.
  package var port = 0
  package var maximumBody = 1 << 20
  package var maximumHead = 16_384
  package var maximumConnections = 10_000
  package var headTimeout: Int64 = 10_000
  package var bodyTimeout: Int64 = 30_000
  package var idleTimeout: Int64 = 60_000
  /// PEM certificate chain and key; nil: plain HTTP.
  package var certificate: [UInt8]?
  package var key: [UInt8]?
  package init() {}
}

/// Why a request never reached the handler; the owner may dress it (problem documents).
package enum HTTPRefusal: Hashable, Sendable {
  case badRequest(String)
  case bodyTooLarge(limit: Int)
  case headTooLarge
  case timedOut
}

/// HTTP/1.1 in by libmicrohttpd on the loop, with the guards it lacks (repeated Content-Length, `%00` in paths, slow
/// requests, errors lost to RST).
package final class HTTPServer {
  package let port: Int

  /// `handle` runs as a task on the loop, one per request; the connection waits meanwhile. `refuse` makes the answer for
  /// what the server refuses by itself. Throws if the address cannot be listened on, naming it.
  package init(
    loop: EventLoop, settings: HTTPServerSettings,
    refuse: @escaping (HTTPRefusal) -> HTTPServerResponse = { _ in HTTPServerResponse(status: 400) },
    handle: @escaping (HTTPServerRequest) async -> HTTPServerResponse
  ) throws(HTTPServerFailure) {
    preconditionFailure("not built yet")
  }
  /// Stops listening, answers what is at work, closes the rest.
  package func stop() async {}
}

package struct HTTPServerFailure: Error, Sendable {
  package var reason: String
  package init(reason: String) { self.reason = reason }
}
