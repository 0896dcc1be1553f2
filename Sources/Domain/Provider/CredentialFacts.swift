/// What an operator may know of an opened credential. No secret, and no part of one.
package struct CredentialFacts: Hashable, Sendable {
  /// `provider token`, `certificate`, `service account` …
  package var kind: String
  /// Which one: `key ABCDE12345 of team TEAM123456`.
  package var name: String
  /// When it stops to work by itself; nil: never, or not known here.
  package var expiresAt: WallTime?
  /// Where it may send to, as the vendor calls it; empty: wherever its owner may.
  package var topics: [String]

  /// `name` must not hold a part of a secret.
  package init(kind: String, name: String, expiresAt: WallTime? = nil, topics: [String] = []) {
    self.kind = kind
    self.name = name
    self.expiresAt = expiresAt
    self.topics = topics
  }

  /// Milliseconds before the expiry from which every check and start tells of it: time enough to get another one.
  package static let expiryNotice: Int64 = 30 * 86_400_000

  /// Milliseconds until the credential expires, negative if it has; nil: it has longer than `expiryNotice`, or for ever.
  package func shortTimeLeft(now: WallTime) -> Int64? {
    guard let left = expiresAt.map({ $0 - now }), left < Self.expiryNotice else { return nil }
    return left
  }

  /// When it ends, in words, if that is soon; `isOver`: it has.
  package func expiryWarning(now: WallTime) -> (text: String, isOver: Bool)? {
    guard let left = shortTimeLeft(now: now) else { return nil }
    let days = left / 86_400_000
    if left <= 0 { return ("expired: get a new one from the vendor and name it in the configuration", true) }
    return ("expires in \(days == 1 ? "1 day" : "\(days) days"): renew it", false)
  }
}

/// What a client shows in the TLS handshake. Secret.
package struct ClientCertificate: Hashable, Sendable {
  /// PEM: the certificate, then those above it.
  package var chain: [UInt8]
  /// PKCS#8 PEM.
  package var key: [UInt8]
  package init(chain: [UInt8], key: [UInt8]) {
    self.chain = chain
    self.key = key
  }
}
