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
      throw Self.unauthorized("Send `Authorization: Bearer fan_…` with an API key", error: nil)
    }
    guard let shown = store.keyring.presented(secret) else { throw Self.malformed }
    return shown
  }

  /// What the look-up of a key found.
  func valid(_ found: KeyLookup) throws(Problem) -> IdentifiedKey {
    switch found {
    case .valid(let key): return key
    case .unknown: throw Self.unknown
    case .ended(let time):
      throw Self.unauthorized(
        "This API key, or this secret of the key, expired at \(time.rfc3339): use a newer one", error: "invalid_token")
    }
  }

  /// Throws if the key may not do what is asked, or not from there.
  func authorize(_ key: APIKey, _ scopes: Set<Scope>, from address: NetworkAddress) throws(Problem) {
    guard configuration.found(key.app) != nil else { throw Self.unknown }
    guard key.isValid(from: address) else {
      throw Problem(
        .forbidden,
        "This key is not valid from \(address): change its addresses, or behind a proxy set listen.trusted_proxies")
    }
    guard key.scopes.contains(.admin) || !key.scopes.isDisjoint(with: scopes) else {
      let names = scopes.map(\.rawValue).sorted()
      let detail = names.count == 1 ? "the scope `\(names[0])`" : "one of the scopes \(names.joined(separator: ", "))"
      let challenge = "Bearer error=\"insufficient_scope\", scope=\"\(names.joined(separator: " "))\""
      let way =
        key.onlyRegisters && scopes.contains(.devices)
        ? ". A `register` key registers phones by `POST /v1/devices`" : ""
      throw Problem(
        .forbidden, "This call needs \(detail); the key lacks it\(way)",
        headers: [Header("www-authenticate", challenge)])
    }
  }

  static var unknown: Problem { unauthorized("This API key is unknown or revoked", error: "invalid_token") }

  static var malformed: Problem {
    unauthorized(
      "This is not a valid API key: it begins with `fan_`, but a part is missing or wrong", error: "invalid_token")
  }

  /// Longer ones are no keys of ours and are not worth a look-up.
  private static let longestSecret = 256

  private static func bearer(_ request: HTTPServerRequest) -> [UInt8]? {
    guard let value = request.header("authorization") else { return nil }
    let bytes = Array(value.utf8)
    let space = UInt8(ascii: " ")
    let scheme = bytes.drop { $0 == space }.prefix { $0 != space }
    let secret = Array(bytes[scheme.endIndex...].drop { $0 == space })
    guard scheme.count == 6, scheme.elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }),
      secret.count <= longestSecret,
      secret.starts(with: KeySecret.prefix.utf8) || secret.starts(with: KeySecret.formerPrefix.utf8),
      ByteSet.printable.holdsAll(of: secret.span)
    else { return nil }
    return secret
  }

  static func unauthorized(_ detail: String, error: String?) -> Problem {
    let challenge = "Bearer realm=\"fanfare\"" + (error.map { ", error=\"\($0)\"" } ?? "")
    return Problem(.unauthorized, detail, headers: [Header("www-authenticate", challenge)])
  }
}
