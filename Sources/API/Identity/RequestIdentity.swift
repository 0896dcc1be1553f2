import Domain
import HTTPServer
import Intake

/// The identity token of a request, and what becomes of its registration by it.
enum RequestIdentity {
  /// Beside `Authorization`, which has the API key. In small letters, as headers are compared.
  static let header = "fanfare-identity"
  /// As pages and problems write it.
  static let name = "Fanfare-Identity"

  /// Whom the request's token names; nil: it has none. Throws where it has one that does not hold.
  static func user(in request: HTTPServerRequest, of app: App, now: WallTime) throws(Problem) -> String? {
    let tokens = request.headers.filter { $0.name == header }
    guard let token = tokens.first?.value else { return nil }
    guard tokens.count == 1 else { throw refused("occurs several times: send it once") }
    guard let identity = app.registration.identity else {
      throw refused("cannot be verified: this app has no `registration.keys`")
    }
    do throws(IdentityFault) {
      return try identity.user(in: token, now: now)
    } catch {
      guard error.isExpired else { throw refused("is not valid: \(error.detail)") }
      throw Problem(.identityExpired, "`\(name)` is not valid: \(error.detail)", headers: [challenge])
    }
  }

  /// `what`: of the header.
  private static func refused(_ what: String) -> Problem { Problem(.invalidIdentity, "`\(name)` \(what)") }

  /// A token would help. `why`: a whole sentence without its end.
  static func required(_ why: String) -> Problem {
    Problem(
      .identityRequired, "\(why): send `\(name)` with a token that your backend has signed for the user",
      headers: [challenge])
  }

  /// What 401 asks for (RFC 9110). It is no scheme of `Authorization`, whose key was right.
  private static let challenge = Header("www-authenticate", "\(name) realm=\"fanfare\"")
}

extension DeviceReading {
  /// The device is this user's, unless the request says that it is nobody's.
  mutating func take(user: String) throws(Problem) {
    guard given.contains("user") else {
      device.user = user
      given.insert("user")
      return
    }
    guard let named = device.user, !named.utf8.elementsEqual(user.utf8) else { return }
    let detail = "is not the user that `\(RequestIdentity.name)` names: leave `user` out, as the token names the user"
    throw Problem(.invalidIdentity, "`user` \(detail)", violations: [Violation("/user", .notAllowed, detail)])
  }
}
