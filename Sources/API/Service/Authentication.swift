import Domain
import HTTPServer
import Store

/// Who asks, and whether they may.
final class Authentication {
  private let store: Store
  private let configuration: AdoptedConfiguration

  init(store: Store, configuration: AdoptedConfiguration) {
    self.store = store
    self.configuration = configuration
  }

  /// The key that a request shows, not yet looked up.
  func shown(by request: HTTPServerRequest) throws(Problem) -> PresentedKey {
    guard request.headers.count(where: { $0.name == "authorization" }) <= 1 else {
      throw Self.unauthorized("The request has several `Authorization` headers: send it once", error: nil)
    }
    guard let secret = Self.bearer(request) else {
      throw Self.unauthorized("Send `Authorization: Bearer fk_…` with an API key", error: nil)
    }
    guard let shown = store.keyring.presented(secret) else { throw Self.unknown }
    return shown
  }

  /// What the look-up of a key found.
  func valid(_ found: APIKey?) throws(Problem) -> APIKey {
    guard let found else { throw Self.unknown }
    return found
  }

  /// Throws if the key may not do what is asked.
  func authorize(_ key: APIKey, _ scopes: Set<Scope>) throws(Problem) {
    guard configuration.apps[key.app] != nil else { throw Self.unknown }
    guard key.scopes.contains(.admin) || !key.scopes.isDisjoint(with: scopes) else {
      let names = scopes.map(\.rawValue).sorted()
      let detail = names.count == 1 ? "the scope `\(names[0])`" : "one of the scopes \(names.joined(separator: ", "))"
      let challenge = "Bearer error=\"insufficient_scope\", scope=\"\(names.joined(separator: " "))\""
      let way =
        key.scopes == [.register] && scopes.contains(.devices)
        ? ". A `register` key registers phones by `POST /v1/devices`" : ""
      throw Problem(
        .forbidden, "This call needs \(detail); the key lacks it\(way)",
        headers: [Header("www-authenticate", challenge)])
    }
  }

  private static var unknown: Problem {
    unauthorized("This API key is unknown or revoked", error: "invalid_token")
  }

  /// Longer ones are no keys of ours and are not worth a look-up.
  private static let longestSecret = 256

  private static func bearer(_ request: HTTPServerRequest) -> String? {
    guard let value = request.header("authorization")?.utf8 else { return nil }
    let space = UInt8(ascii: " ")
    let scheme = value.drop { $0 == space }.prefix { $0 != space }
    let secret = value[scheme.endIndex...].drop { $0 == space }
    guard scheme.count == 6, scheme.elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }),
      secret.count <= longestSecret, secret.starts(with: "fk_".utf8)
    else { return nil }
    let text = String(Substring(secret))
    return ByteSet.printable.holdsAll(of: text) ? text : nil
  }

  private static func unauthorized(_ detail: String, error: String?) -> Problem {
    let challenge = "Bearer realm=\"fanfare\"" + (error.map { ", error=\"\($0)\"" } ?? "")
    return Problem(.unauthorized, detail, headers: [Header("www-authenticate", challenge)])
  }
}
