/// How identity tokens of one key are signed. The raw values are the words of `alg` in JWT (RFC 7518).
package enum IdentityAlgorithm: String, Hashable, Sendable, CaseIterable {
  /// ECDSA on P-256: the gateway has the public key only.
  case es256 = "ES256"
  /// HMAC: the gateway has the secret that the backend signs with.
  case hs256 = "HS256"
}

/// A key of an app by which identity tokens are verified, as configured and not yet opened.
package struct IdentityKey: Hashable, Sendable {
  /// What tokens name as `kid`.
  package var id: String
  package var algorithm: IdentityAlgorithm
  /// ES256: a public key as PEM. HS256: the secret, without line ends behind it.
  package var content: [UInt8]
  /// `content` is checked where it is opened.
  package init(id: String, algorithm: IdentityAlgorithm, content: [UInt8]) {
    (self.id, self.algorithm, self.content) = (id, algorithm, content)
  }
}

/// Tells which user an identity token names: a short-lived JWT that an app's backend has signed. Immutable; usable from
/// any thread.
package protocol IdentityVerifying: Sendable {
  /// `token` as it came: of any length, and not trusted in any way.
  func user(in token: String, now: WallTime) throws(IdentityFault) -> String
}

/// Why an identity token is refused. `detail` is a sentence that names the fix; no part of a signature or secret is in it.
package struct IdentityFault: Error, Hashable, Sendable {
  package var detail: String
  /// It was right until a while ago: a new one will do.
  package var isExpired: Bool
  /// `isExpired`: told to the caller by a code of its own.
  package init(_ detail: String, isExpired: Bool = false) { (self.detail, self.isExpired) = (detail, isExpired) }
}
