import Domain
import TLS

/// A message that only the subscription's browser can read: RFC 8291 on the encoding `aes128gcm` of RFC 8188, one record.
enum MessageEncryption {
  /// RFC 8030, section 7.2: no service has to take more.
  private static let bodyLimit = 4_096
  private static let saltLength = 16
  /// Salt, record size, length of the key's name, and the key itself.
  private static let headLength = saltLength + 4 + 1 + P256.pointLength
  /// Behind the text: the end of the last record, and the tag.
  private static let tailLength = 1 + AES128GCM.tagLength
  /// Bytes of text that a body has room for.
  static let textLimit = bodyLimit - headLength - tailLength

  /// The same for the same input, so that each attempt of a delivery is the same request. `seed` must be 32 bytes that nobody else
  /// can know, and others for each other text, subscription and message.
  static func seal(_ text: [UInt8], for subscription: Subscription, seed: [UInt8]) -> [UInt8] {
    let salt = Array(Digest.hmacSHA256(Array("salt".utf8), key: seed).prefix(saltLength))
    return seal(text, for: subscription, salt: salt, keyPair(seed))
  }

  static func seal(
    _ text: [UInt8], for subscription: Subscription, salt: [UInt8], _ own: (scalar: [UInt8], point: [UInt8])
  ) -> [UInt8] {
    let (scalar, point) = own
    guard let shared = P256.agree(scalar, with: subscription.publicKey) else {
      preconditionFailure("a subscription's key was checked when it was read")
    }
    let info = Array("WebPush: info\0".utf8) + subscription.publicKey + point
    let secret = expand(Digest.hmacSHA256(shared, key: subscription.secret), info)
    let (key, nonce) = keys(salt: salt, secret: secret)

    var body: [UInt8] = []
    body.reserveCapacity(headLength + text.count + tailLength)
    body += salt
    body += [0, 0, UInt8(bodyLimit >> 8), UInt8(bodyLimit & 0xff), UInt8(point.count)]
    body += point
    body += AES128GCM.seal(text + [lastRecord], key: key, nonce: nonce)
    return body
  }

  private static let lastRecord: UInt8 = 2

  /// RFC 8188, sections 2.2 and 2.3.
  private static func keys(salt: [UInt8], secret: [UInt8]) -> (key: [UInt8], nonce: [UInt8]) {
    let extracted = Digest.hmacSHA256(secret, key: salt)
    let key = expand(extracted, Array("Content-Encoding: aes128gcm\0".utf8))
    let nonce = expand(extracted, Array("Content-Encoding: nonce\0".utf8))
    return (Array(key.prefix(16)), Array(nonce.prefix(12)))
  }

  /// HKDF's second step (RFC 5869) for up to 32 bytes.
  private static func expand(_ key: [UInt8], _ info: [UInt8]) -> [UInt8] { Digest.hmacSHA256(info + [1], key: key) }

  /// One message's own.
  private static func keyPair(_ seed: [UInt8]) -> (scalar: [UInt8], point: [UInt8]) {
    // One in four thousand million numbers is none of the curve's.
    var number: UInt8 = 0
    while true {
      let scalar = Digest.hmacSHA256(Array("key".utf8) + [number], key: seed)
      if let point = P256.publicPoint(of: scalar) { return (scalar, point) }
      number &+= 1
    }
  }
}
