package import Domain

/// One request. `send` refuses a method, URL or header that could smuggle in another request.
package struct HTTPClientRequest: Sendable {
  package var method: String
  /// https, or http for loopback and metadata servers.
  package var url: String
  package var headers: [Header]
  package var body: [UInt8]
  /// Milliseconds from `send` to the end of the answer, waiting for a connection included.
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
/// `isOfRequest`: it will reach no peer, as it cannot be written.
package struct HTTPClientFailure: Error, Hashable, Sendable {
  package var reason: String
  package var processed: Bool
  package var isOfRequest: Bool
  /// `processed` matters to who may send it again.
  package init(reason: String, processed: Bool, isOfRequest: Bool = false) {
    self.reason = reason
    self.processed = processed
    self.isOfRequest = isOfRequest
  }
}

/// Limits and trust of a client. Times in milliseconds.
package struct HTTPClientSettings: Sendable {
  /// PEM file of trusted authorities; nil: the system's. Certificates and names are always verified.
  package var caFile: String?
  package var connectTimeout: Int64 = 10_000
  /// Bytes of an answer's body; what is longer is cut off, and its connection closed.
  package var maximumBody = 1 << 20
  /// Bytes of an answer's headers.
  package var maximumHead = 65_536
  package var connectionsPerHost = 16
  package init() {}
}

extension HTTPClientRequest {
  /// What would let one request smuggle in another, or nil.
  var fault: String? {
    guard !method.isEmpty, method.utf8.allSatisfy(Self.isTokenByte) else { return "the method is malformed" }
    guard !url.isEmpty, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return "the URL is malformed" }
    for header in headers {
      guard !header.name.isEmpty, header.name.utf8.allSatisfy(Self.isTokenByte) else {
        return "the name of a header is malformed"
      }
      guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
        return "the header \(header.name) holds a control character"
      }
    }
    return nil
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
