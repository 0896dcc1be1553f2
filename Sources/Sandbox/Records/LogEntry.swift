package import Domain

/// One request to one token, as the sandbox saw it. A OneSignal request is one entry per member, with the same `request`.
package struct LogEntry: Sendable {
  /// From 1, without gaps.
  package internal(set) var number: UInt64 = 0
  package var time: WallTime
  package var provider: SandboxProvider
  /// Connections count from 1 per port.
  package var connection: UInt64
  /// The HTTP/2 stream, or the number of the request on an HTTP/1.1 port.
  package var request: UInt64
  /// The token as sent; `topic:…` and `condition:…` for FCM's other targets, `alias:<label>:<id>`, `segment:…` and `filters` for
  /// OneSignal's; the account for OAuth.
  package var token: String
  /// `apns-id` or the idempotency key.
  package var id: String
  package var topic: String
  package var bodySize: Int
  package var bodyDigest: BodyDigest
  /// Nil when it was not small, or when older bodies had to go.
  package internal(set) var body: [UInt8]?
  /// 0: no answer went out.
  package internal(set) var status: Int
  /// The vendor's word; empty for a plain success.
  package internal(set) var reason: String
  /// The name that the vendor gave: FCM's name, OneSignal's id.
  package var name: String
  /// The rule that was played.
  package var fault: FaultKind?
  /// The vendor took it for delivery, whatever the client heard.
  package var accepted: Bool
  /// Accepted before: the same apns-id and token, the same idempotency key and member, or (FCM, which has no such id) the
  /// same token and body.
  package internal(set) var duplicate = false
}

/// SHA-256, kept in place.
package struct BodyDigest: Hashable, Sendable {
  private var a: UInt64 = 0
  private var b: UInt64 = 0
  private var c: UInt64 = 0
  private var d: UInt64 = 0

  /// `sha256`: 32 bytes.
  init(_ sha256: [UInt8]) {
    precondition(sha256.count == 32, "a SHA-256 has 32 bytes")
    func word(_ from: Int) -> UInt64 { sha256[from..<from + 8].reduce(0) { $0 << 8 | UInt64($1) } }
    (a, b, c, d) = (word(0), word(8), word(16), word(24))
  }
  package var hex: String { UUIDBytes(high: a, low: b).hex + UUIDBytes(high: c, low: d).hex }
}

extension UUIDBytes {
  fileprivate var hex: String { description.filter { $0 != "-" } }
}
