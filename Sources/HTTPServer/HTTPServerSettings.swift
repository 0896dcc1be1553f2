package import Domain

/// Where a server listens, and what one client may take of it.
package struct HTTPServerSettings: Sendable {
  package var address = "127.0.0.1"
  /// 0: any free one.
  package var port = 0
  package var maximumBody = 1 << 20
  /// The limit where it differs by raw path; asked when the head has come, so that nothing of a longer body is read.
  package var maximumBodyOf: (@Sendable (_ path: String) -> Int)?
  /// Bytes of the request line and headers.
  package var maximumHead = 16_384
  package var maximumHeaders = 100
  package var maximumConnections = 10_000
  /// Of one address, or one IPv6 network of 64 bits; further ones are closed at once.
  package var connectionsPerAddress = Int.max
  /// Who says in `X-Forwarded-For` whom a request comes from.
  package var trustedProxies: [AddressRange] = []
  package var bytes = ByteLimits.none
  /// From the connection's start, or from the request line on a kept one, to the end of the head; milliseconds.
  package var headTimeout: Int64 = 10_000
  /// In each such window, bytes of a body that come, or of an answer that are taken, must reach `leastRate`; milliseconds.
  package var transferWindow: Int64 = 10_000
  /// Bytes a second.
  package var leastRate = 65_536
  /// A whole body, and a whole answer, has so long; milliseconds. An answer in pieces has no end, and a window for each piece.
  package var longestTransfer: Int64 = 60_000
  /// Connections that are closed and whose clients still send: at most so many beside `maximumConnections`.
  package static let lingeringConnections = LingeringSockets.limit
  package var idleTimeout: Int64 = 60_000
  /// PEM certificate chain and key; nil: plain HTTP.
  package var certificate: [UInt8]?
  package var key: [UInt8]?
  package init() {}
}

/// Why a connection or a request was turned away, for counts and logs.
package enum HTTPTurnedAway: Hashable, Sendable, CaseIterable {
  /// Its address has all the connections it may have.
  case connections
  /// A head, a body or the taking of an answer was too slow.
  case slow
  case totalBytes
  case bytesOfKey
  case bytesOfAddress
  /// Closed at once, as too many clients still send behind their answers.
  case lingering

  init(_ share: ByteShare) {
    switch share {
    case .total: self = .totalBytes
    case .key: self = .bytesOfKey
    case .address: self = .bytesOfAddress
    }
  }
}
