import Domain
import Intake

/// The payload of an identity token whose signature is right (RFC 7519). Other claims are not read.
struct IdentityClaims {
  private let payload: JSONValue
  private let app: AppID
  private static let skew = IdentityVerifier.clockSkew

  init(_ payload: JSONValue, app: AppID) { (self.payload, self.app) = (payload, app) }

  /// Its `sub`, if all that it says holds now. `lifetime`: in milliseconds.
  func user(now: WallTime, lifetime: Int64) throws(IdentityFault) -> String {
    try checkAudience()
    guard let user = payload["sub"]?.string, DeviceReader.isUser(user) else {
      throw IdentityFault("its `sub` is not a user: a string of 1–256 characters without control characters")
    }
    guard let signedAt = try time("iat"), let expiresAt = try time("exp") else {
      throw IdentityFault("it needs `iat` and `exp`: when it was signed, and when it expires")
    }
    // Both are bounded: no sum of them leaves 64 bits.
    guard signedAt <= now.milliseconds + Self.skew else {
      throw IdentityFault("its `iat` is in the future: set the clock of the machine that signs")
    }
    guard expiresAt - signedAt <= lifetime else {
      throw IdentityFault(
        "it is valid for longer than \(lifetime / 1_000) seconds, from `iat` to `exp` "
          + "(`registration.token_lifetime`): sign a new one for each registration")
    }
    if let earliest = try time("nbf"), earliest > now.milliseconds + Self.skew {
      throw IdentityFault("its `nbf` is in the future: wait, or leave it out")
    }
    guard now.milliseconds < expiresAt + Self.skew else {
      throw IdentityFault("it has expired: let the backend sign a new one", isExpired: true)
    }
    return user
  }

  /// A token that says which app it is for is for no other.
  private func checkAudience() throws(IdentityFault) {
    guard let audience = payload["aud"] else { return }
    let names = audience.array ?? [audience]
    guard names.contains(where: { $0.string == app.rawValue }) else {
      throw IdentityFault("its `aud` is not this app's id: leave it out, or give the id that the configuration has")
    }
  }

  /// The end of the year 9999, in seconds.
  private static let latest: Int64 = 253_402_300_799

  /// Milliseconds since 1970 of a NumericDate, which may have a fraction; nil: it is not there.
  private func time(_ name: String) throws(IdentityFault) -> Int64? {
    let seconds: Double
    switch payload[name] {
    case nil: return nil
    case .integer(let whole)? where (0...Self.latest).contains(whole): return whole * 1_000
    case .double(let number)? where (0...Double(Self.latest)).contains(number): seconds = number
    default: throw IdentityFault("its `\(name)` is not a time: it must be a number, the seconds since 1970")
    }
    return Int64(seconds * 1_000)
  }
}
