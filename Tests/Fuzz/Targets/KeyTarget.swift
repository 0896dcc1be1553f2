import TLS

@testable import APNs

extension FuzzTarget {
  /// A file of a key or a certificate, as credentials and listeners open it: PEM, PKCS#12, raw points and scalars.
  static let keys = FuzzTarget("keys") { bytes in
    for algorithm in [SigningKey.Algorithm.es256, .rs256] {
      if let key = try? SigningKey(pem: bytes, for: algorithm) {
        demand((try? VerifyingKey(pem: key.publicKeyPEM, for: algorithm)) != nil, "a key has a public key")
        if algorithm == .es256 { demand(!key.sign([1, 2, 3]).isEmpty, "a key signs") }
      }
      if let key = try? VerifyingKey(pem: bytes, for: algorithm) {
        demand(!key.verifies(bytes, of: [1]), "no signature")
      }
    }
    if let key = try? SigningKey(scalar: bytes), let point = try? VerifyingKey(point: key.publicPoint) {
      demand(point.verifies(key.sign([1, 2, 3]), of: [1, 2, 3]), "a key verifies what it signs")
    }
    _ = try? VerifyingKey(point: bytes)
    if P256.isPoint(bytes) { demand(P256.agree(Array(1...32), with: bytes)?.count == 32, "a point agrees on a secret") }
    if let certificate = try? Certificate(pem: bytes) { _ = certificate.extension("1.2.840.113635.100.6.3.6") }
    for (topic, kinds) in TopicList.read(bytes) {
      demand(topic.utf8.count + kinds.count <= 4 * bytes.count, "a list is bounded")
    }
    _ = try? Identity(chain: bytes, key: bytes, password: nil)
    _ = try? Identity(pkcs12: bytes, password: "secret")
  }
}
