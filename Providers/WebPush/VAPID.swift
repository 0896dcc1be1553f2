import Domain
import JSON
import TLS

/// How a sender says who it is (RFC 8292): a token for each push service, signed with the key that the site subscribes with.
struct VAPID: Sendable {
  let key: SigningKey
  let subject: String
  /// As the site's `applicationServerKey`.
  let publicKey: String
  private static let head = Base64URL.encode(Array(#"{"typ":"JWT","alg":"ES256"}"#.utf8))

  init(key: SigningKey, subject: String) {
    self.key = key
    self.subject = subject
    publicKey = Base64URL.encode(key.publicPoint)
  }

  /// The `authorization` header for the endpoints of `origin`.
  func header(for origin: Origin, until: Int64) -> String {
    var claims: [JSONMember] = []
    claims.set("aud", "https://\(origin.authority)")
    claims.set("exp", .integer(until))
    claims.set("sub", subject)
    let signed = Self.head + "." + Base64URL.encode(JSONValue.object(claims).encoded)
    return "vapid t=\(signed).\(Base64URL.encode(key.sign(Array(signed.utf8)))), k=\(publicKey)"
  }
}

/// Keeps a token half a day valid: services refuse one that ends more than a day ahead, and a clock may be wrong. There is nothing to
/// fetch and nothing to renew early.
struct VAPIDAuthorization: Authorization {
  private static let validity: Int64 = 12 * 3_600
  private static let lifetime: Int64 = 6 * 3_600_000
  /// A small correction of the clock.
  private static let tolerance: Int64 = 10 * 60_000

  private let make: @Sendable (_ until: Int64) -> String
  private var current: (header: String, at: WallTime)?

  /// `make`: the header of a token that ends at that time, in seconds since 1970.
  init(make: @escaping @Sendable (_ until: Int64) -> String) { self.make = make }

  mutating func need(now: WallTime) -> AuthorizationNeed {
    if let current, (-Self.tolerance..<Self.lifetime).contains(now - current.at) {
      return .use(current.header, fetch: nil)
    }
    let header = make(now.seconds + Self.validity)
    current = (header, now)
    return .use(header, fetch: nil)
  }

  mutating func fetched(_ answer: ProviderAnswer?, now: WallTime) {}
  mutating func refused(_ cause: Retry.Cause, now: WallTime) {}
}
