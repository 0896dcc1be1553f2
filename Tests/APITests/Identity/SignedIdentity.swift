import Domain
import JSON
import TLS

@testable import API

/// Identity tokens as a backend makes them, right ones and others.
struct SignedIdentity {
  var key: String? = "2026"
  var algorithm: String? = "HS256"
  /// Members beside `alg` and `kid`.
  var header: [(String, JSONValue)] = []
  var user: JSONValue? = "ana"
  /// Seconds since 1970.
  var signedAt: JSONValue?
  var expiresAt: JSONValue?
  var claims: [(String, JSONValue)] = []

  /// Good for five minutes from `now`.
  init(_ user: String = "ana", now: WallTime) {
    self.user = .string(user)
    signedAt = .integer(now.seconds)
    expiresAt = .integer(now.seconds + 300)
  }

  /// What is signed.
  var input: String {
    let head = [("alg", algorithm.map { .string($0) }), ("kid", key.map { .string($0) })] + header.map { ($0, $1) }
    let body = [("sub", user), ("iat", signedAt), ("exp", expiresAt)] + claims.map { ($0, $1) }
    return "\(Self.part(head)).\(Self.part(body))"
  }

  private static func part(_ members: [(String, JSONValue?)]) -> String {
    Base64URL.encode(JSONValue.make(members.compactMap { name, value in value.map { (name, $0) } }).encoded)
  }

  func signed(_ secret: [UInt8]) -> String {
    "\(input).\(Base64URL.encode(Digest.hmacSHA256(Array(input.utf8), key: secret)))"
  }
  func signed(_ key: SigningKey) -> String { "\(input).\(Base64URL.encode(key.sign(Array(input.utf8))))" }
}
