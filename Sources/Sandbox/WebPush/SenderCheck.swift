import Domain
import JSON
import TLS

/// Verifies who sends (RFC 8292): the header `vapid t=TOKEN, k=KEY`.
enum SenderCheck {
  struct Fault: Error {
    var status: Int
    var reason: String
  }
  private static let longestLife: Int64 = 86_400

  /// The sender's public key as it gave it. `authority`: the service's own, which the token must be for.
  static func sender(_ header: String?, for authority: String, now: WallTime) -> Result<String, Fault> {
    guard let header, let (token, key) = parts(of: header) else { return refuse(401, "BadAuthorizationHeader") }
    let pieces = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard pieces.count == 3, let point = Base64URL.decode(key), let signature = Base64URL.decode(pieces[2]),
      let verifying = try? VerifyingKey(point: point), let head = object(pieces[0]), let claims = object(pieces[1]),
      head["alg"]?.string == "ES256", verifying.verifies(signature, of: Array("\(pieces[0]).\(pieces[1])".utf8))
    else { return refuse(403, "BadJwtToken") }
    guard claims["aud"]?.string == "https://\(authority)", let end = claims["exp"]?.integer else {
      return refuse(403, "BadJwtToken")
    }
    guard end > now.seconds else { return refuse(403, "ExpiredJwtToken") }
    guard end - now.seconds <= longestLife, let subject = claims["sub"]?.string, isReachable(subject) else {
      return refuse(403, "BadJwtToken")
    }
    return .success(key)
  }

  private static func refuse(_ status: Int, _ reason: String) -> Result<String, Fault> {
    .failure(Fault(status: status, reason: reason))
  }

  private static func parts(of header: String) -> (token: String, key: String)? {
    guard header.lowercased().hasPrefix("vapid ") else { return nil }
    var fields: [String: String] = [:]
    for field in header.dropFirst("vapid ".count).split(separator: ",") {
      let pair = field.split(separator: "=", maxSplits: 1)
      guard pair.count == 2 else { return nil }
      fields[String(pair[0].drop { $0 == " " })] = String(pair[1])
    }
    guard let token = fields["t"], let key = fields["k"] else { return nil }
    return (token, key)
  }

  private static func isReachable(_ subject: String) -> Bool {
    (subject.hasPrefix("mailto:") || subject.hasPrefix("https://")) && !subject.contains("localhost")
  }

  private static func object(_ part: String) -> JSONValue? {
    guard let bytes = Base64URL.decode(part), let value = try? JSON.parse(bytes), value.object != nil else {
      return nil
    }
    return value
  }
}
