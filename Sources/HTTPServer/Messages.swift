package import Domain

/// A request: whole when the handler is called, without its body before that.
package struct HTTPServerRequest: Sendable {
  package var method: String
  /// The raw path before `?`, never decoded as a whole: split on `/`, then decode each part. Visible ASCII only.
  package var path: String
  /// Decoded query parameters in order.
  package var query: [(name: String, value: String)]
  /// Lower-case names; a header sent twice stands twice.
  package var headers: [Header]
  package var body: [UInt8]
  /// The client's: the other end of the connection, or whom a trusted proxy names.
  package var address: NetworkAddress
  /// Many clients are behind `address`: it has no bounds of its own.
  package var isFromSharedAddress = false
  /// The other end of the connection is a trusted proxy or on this machine: its `X-Forwarded-…` are no client's own word.
  package var isFromProxy = false
  /// What the admission of its head left for the handler.
  package var permit: (any AnyObject & Sendable)?

  /// `path` as it is on the wire; `query` decoded; names of `headers` in small letters.
  package init(
    method: String, path: String, query: [(name: String, value: String)] = [], headers: [Header] = [],
    body: [UInt8] = [], address: NetworkAddress, isFromSharedAddress: Bool = false, isFromProxy: Bool = false,
    permit: (any AnyObject & Sendable)? = nil
  ) {
    (self.method, self.path, self.query, self.headers) = (method, path, query, headers)
    (self.body, self.address, self.permit) = (body, address, permit)
    (self.isFromSharedAddress, self.isFromProxy) = (isFromSharedAddress, isFromProxy)
  }

  /// `address`, as text.
  package var peer: String { address.description }
  /// The first of that name, which must be in small letters.
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
  /// The first parameter of that name; letter case counts.
  package func query(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

/// What becomes of a request whose head has come.
package enum HTTPVerdict {
  /// Its body is read, on the account of `key`, and then its handler has it.
  case take(permit: (any AnyObject & Sendable)?, key: String)
  /// It is answered at once. If it has a body, the connection ends instead of the body being read.
  case answer(HTTPServerResponse)
}

/// A verdict, or how it is found: the connection waits meanwhile.
package enum HTTPAdmission {
  case now(HTTPVerdict)
  case later(() async -> HTTPVerdict)
}

/// `Date`, `Content-Length` and what rules the connection are set by the server; a HEAD request gets no body. A header
/// without a value is left out.
package struct HTTPServerResponse {
  /// A body of known length, or one that is made while it is sent.
  package enum Body {
    case whole([UInt8])
    case pieces(BodyPieces)
  }
  package var status: Int
  package var headers: [Header]
  package var body: Body
  /// The body is sent with its length.
  package init(status: Int, headers: [Header] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = .whole(body)
  }
  /// The body is sent in chunks, as its length is not known.
  package init(status: Int, headers: [Header] = [], pieces: BodyPieces) {
    self.status = status
    self.headers = headers
    body = .pieces(pieces)
  }

  private(set) var isWithheld = false
  /// No answer: the connection closes. For servers that play faults.
  package static var withheld: Self {
    var none = Self(status: 0)
    none.isWithheld = true
    return none
  }
}

/// A body that is made while it is sent, of a length not known before: no more of it is held than one piece. Asked for the
/// next piece on the loop, each time that the client has taken the one before; a slow client slows it down.
package struct BodyPieces {
  /// The body cannot be made to its end: the connection is cut, so that the client knows that something is missing.
  package struct Broken: Error {
    package init() {}
  }
  /// Nil is the end; empty pieces are passed over.
  package let next: () async throws(Broken) -> [UInt8]?
  /// `next` is called on the loop, one call at a time; nil ends the body, `Broken` cuts the connection.
  package init(_ next: @escaping () async throws(Broken) -> [UInt8]?) { self.next = next }
}

/// Why a request never reached the handler; the owner may dress it (problem documents). What libmicrohttpd refuses by
/// itself (a line that is no header, no Host, a head beyond twice the limit) is answered by it, with a plain page.
package enum HTTPRefusal: Error, Hashable, Sendable {
  case badRequest(String)
  case bodyTooLarge(limit: Int)
  case headTooLarge
  case timedOut
  /// There is no memory for its body, or for the answer.
  case noMemory(ByteShare)

  package var status: Int {
    switch self {
    case .badRequest: 400
    case .bodyTooLarge: 413
    case .headTooLarge: 431
    case .timedOut: 408
    case .noMemory(.total): 503
    case .noMemory: 429
    }
  }
  package var detail: String {
    switch self {
    case .badRequest(let problem): problem
    case .bodyTooLarge(let limit): "The body is larger than \(limit) bytes."
    case .headTooLarge: "The request line and headers are too large."
    case .timedOut: "The request took too long to arrive."
    case .noMemory: "Too much is in progress; try again soon."
    }
  }
  /// One line of text.
  package var plainAnswer: HTTPServerResponse {
    HTTPServerResponse(
      status: status, headers: [Header("content-type", "text/plain; charset=utf-8")], body: Array("\(detail)\n".utf8))
  }
}

/// An address that cannot be listened on, or a certificate that cannot be used; `reason` is for the operator.
package struct HTTPServerFailure: Error, Sendable {
  package var reason: String
  package init(reason: String) { self.reason = reason }
}
