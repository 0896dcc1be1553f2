import Domain
import JSON
import TLS

/// The browsers that subscribe at the sandbox's push service. Each has a name, from which its keys follow: nothing is kept.
struct Browsers {
  private let secret: [UInt8]

  init(secret: [UInt8]) { self.secret = secret }

  /// What `PushSubscription.toJSON` gives. `senderKey`: the `applicationServerKey`, base64url; nobody else may push then.
  func subscription(_ name: String, senderKey: String?, authority: String) -> JSONValue {
    let browser = browser(name)
    let path = WebPushVendor.pushPath + name + (senderKey.map { "." + Self.print(of: $0) } ?? "")
    return .object([
      JSONMember("endpoint", .string("https://\(authority)\(path)")), JSONMember("expirationTime", .null),
      JSONMember(
        "keys",
        .object([
          JSONMember("p256dh", .string(Base64URL.encode(browser.publicKey))),
          JSONMember("auth", .string(Base64URL.encode(browser.secret))),
        ])),
    ])
  }

  func browser(_ name: String) -> Browser {
    // A number beyond the curve's order comes once in four thousand million names.
    guard let browser = Browser(scalar: derived("key", name), secret: Array(derived("auth", name).prefix(16))) else {
      preconditionFailure("the browser \(name) has no key: give it another name")
    }
    return browser
  }

  private func derived(_ purpose: String, _ name: String) -> [UInt8] {
    Digest.hmacSHA256(Array("\(purpose) \(name)".utf8), key: secret)
  }

  /// By which an endpoint tells the one key that may push to it.
  static func print(of senderKey: String) -> String {
    String(Base64URL.encode(Digest.sha256(Array(senderKey.utf8))).prefix(16))
  }
}

/// One subscription's private half (RFC 8291): what reads the messages.
package struct Browser: Sendable {
  private let scalar: [UInt8]
  package let publicKey: [UInt8]
  package let secret: [UInt8]

  /// `scalar`: 32 bytes; nil if the curve P-256 has no such private number. `secret`: 16 bytes.
  package init?(scalar: [UInt8], secret: [UInt8]) {
    guard let point = P256.publicPoint(of: scalar), secret.count == 16 else { return nil }
    (self.scalar, publicKey, self.secret) = (scalar, point, secret)
  }

  /// The text of a body in the encoding `aes128gcm` (RFC 8188) with one record; nil if it was not made for this subscription.
  package func open(_ body: [UInt8]) -> [UInt8]? {
    let keyStart = 21
    guard body.count > keyStart, Int(body[20]) == P256.pointLength, body.count > keyStart + P256.pointLength else {
      return nil
    }
    let recordSize = body[16..<20].reduce(0) { $0 << 8 | Int($1) }
    let sender = Array(body[keyStart..<keyStart + P256.pointLength])
    let record = Array(body[(keyStart + P256.pointLength)...])
    guard recordSize >= 18, record.count <= recordSize, let shared = P256.agree(scalar, with: sender) else {
      return nil
    }
    let combined = Self.mac(
      key: Self.mac(key: secret, shared), Array("WebPush: info\0".utf8) + publicKey + sender + [1])
    let random = Self.mac(key: Array(body[..<16]), combined)
    let key = Array(Self.mac(key: random, Array("Content-Encoding: aes128gcm\0\u{1}".utf8)).prefix(16))
    let nonce = Array(Self.mac(key: random, Array("Content-Encoding: nonce\0\u{1}".utf8)).prefix(12))
    guard let padded = AES128GCM.open(record, key: key, nonce: nonce), let end = padded.lastIndex(where: { $0 != 0 }),
      padded[end] == 2
    else { return nil }
    return Array(padded[..<end])
  }

  private static func mac(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] { Digest.hmacSHA256(bytes, key: key) }
}
