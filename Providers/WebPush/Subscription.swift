import Domain
import JSON
import TLS

/// What a browser gives its site: where to send, and the keys to encrypt with (RFC 8291, section 3).
struct Subscription: Hashable, Sendable {
  struct Endpoint: Hashable, Sendable {
    let service: PushService
    /// From the first slash on: printable ASCII.
    let path: String

    private static let longest = 2_048

    fileprivate init(_ text: String) throws(TokenRules.Fault) {
      let scheme = "https://"
      guard text.hasPrefix(scheme) else { throw TokenRules.Fault("the `endpoint` of a subscription is an https URL") }
      guard text.utf8.count <= Self.longest else {
        throw TokenRules.Fault("the `endpoint` has more than \(Self.longest) bytes", isTooLong: true)
      }
      let rest = text.dropFirst(scheme.count)
      let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
      let path = rest.dropFirst(authority.count)
      guard path.hasPrefix("/"), path.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") }) else {
        throw TokenRules.Fault("the `endpoint` needs a path of printable ASCII and no fragment")
      }
      guard let service = PushService(String(authority)) else {
        throw TokenRules.Fault("the `endpoint` must name the host of a push service: no address, user or password")
      }
      self.service = service
      self.path = String(path)
    }

    fileprivate init(service: PushService, path: String) { (self.service, self.path) = (service, path) }

    var text: String { "https://\(service.origin.authority)\(path)" }
  }

  let endpoint: Endpoint
  /// A point of P-256, 65 bytes.
  let publicKey: [UInt8]
  /// 16 bytes, a secret of the browser and the site.
  let secret: [UInt8]

  private static let secretLength = 16
  private static let mark: Character = "#"

  /// The one text that it is kept as: no endpoint has a fragment.
  var kept: String { "\(endpoint.text)\(Self.mark)\(Base64URL.encode(publicKey)).\(Base64URL.encode(secret))" }

  /// The JSON that a browser makes, or the form that it is kept in.
  init(reading text: String) throws(TokenRules.Fault) {
    guard text.utf8.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else {
      let parts = text.split(separator: Self.mark, maxSplits: 1, omittingEmptySubsequences: false)
      let keys = parts.count == 2 ? parts[1].split(separator: ".", omittingEmptySubsequences: false) : []
      guard keys.count == 2 else {
        throw TokenRules.Fault(
          "a Web Push token is the subscription as the browser gives it: {\"endpoint\":…,\"keys\":{\"p256dh\":…,\"auth\":…}}"
        )
      }
      try self.init(endpoint: String(parts[0]), publicKey: String(keys[0]), secret: String(keys[1]))
      return
    }
    guard let document = try? JSON.parse(Array(text.utf8)), let endpoint = document["endpoint"]?.string,
      let publicKey = document["keys"]?["p256dh"]?.string, let secret = document["keys"]?["auth"]?.string
    else {
      throw TokenRules.Fault("a subscription needs the texts `endpoint`, `keys.p256dh` and `keys.auth`")
    }
    try self.init(endpoint: endpoint, publicKey: publicKey, secret: secret)
  }

  /// A subscription of no browser, as it is kept.
  static func sample(at service: PushService) -> String {
    Self(
      endpoint: Endpoint(service: service, path: "/sample"), publicKey: P256.publicPoint(of: Array(1...32)) ?? [],
      secret: [UInt8](repeating: 1, count: secretLength)
    ).kept
  }

  private init(endpoint: Endpoint, publicKey: [UInt8], secret: [UInt8]) {
    (self.endpoint, self.publicKey, self.secret) = (endpoint, publicKey, secret)
  }

  private init(endpoint: String, publicKey: String, secret: String) throws(TokenRules.Fault) {
    self.endpoint = try Endpoint(endpoint)
    guard let point = Self.decode(publicKey), P256.isPoint(point) else {
      throw TokenRules.Fault("`keys.p256dh` must be a public key of P-256, 65 bytes in base64url")
    }
    guard let bytes = Self.decode(secret), bytes.count == Self.secretLength else {
      throw TokenRules.Fault("`keys.auth` must be \(Self.secretLength) bytes in base64url")
    }
    self.publicKey = point
    self.secret = bytes
  }

  /// Browsers write base64url without padding; older libraries the other alphabet, with it.
  private static func decode(_ text: String) -> [UInt8]? {
    guard text.utf8.count <= 128 else { return nil }
    var plain = text.replacing("+", with: "-").replacing("/", with: "_")
    while plain.hasSuffix("=") { plain.removeLast() }
    return Base64URL.decode(plain)
  }
}
