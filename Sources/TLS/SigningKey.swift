import COpenSSL

/// A key that cannot be used; `reason` names no part of its content.
package struct KeyFault: Error, Hashable, Sendable {
  package var reason: String
  /// `reason`: for the operator, without a part of the key.
  package init(reason: String) { self.reason = reason }
}

/// A private key read from PEM, for signatures. Immutable; usable from any thread.
package final class SigningKey: @unchecked Sendable {
  /// The two kinds of signature that providers' tokens use (JWT, RFC 7518).
  package enum Algorithm: Hashable, Sendable {
    /// ECDSA on P-256 with SHA-256; signatures in JOSE form, 64 bytes `r||s`.
    case es256
    /// RSA PKCS#1 v1.5 with SHA-256, keys of 2,048 bits or more.
    case rs256

    var code: Int32 { self == .es256 ? Int32(FANFARE_ES256) : Int32(FANFARE_RS256) }
    var name: String { self == .es256 ? "an EC key on P-256" : "an RSA key of at least 2048 bits" }
  }
  package let algorithm: Algorithm
  let key: OpaquePointer

  private init(taking key: OpaquePointer, _ algorithm: Algorithm) {
    self.key = key
    self.algorithm = algorithm
  }

  /// `pem`: PKCS#8, not encrypted. Throws if it is no private key, or not one for `algorithm`.
  package init(pem: [UInt8], for algorithm: Algorithm) throws(KeyFault) {
    guard let key = fanfare_private_key(pem, pem.count) else {
      ERR_clear_error()
      throw KeyFault(reason: "no unencrypted private key in PEM form")
    }
    guard fanfare_key_is(key, algorithm.code) == 1 else {
      EVP_PKEY_free(key)
      throw KeyFault(reason: "not \(algorithm.name)")
    }
    self.key = key
    self.algorithm = algorithm
  }

  /// For ES256: the private number of the curve P-256, 32 bytes. Throws if it is none.
  package init(scalar: [UInt8]) throws(KeyFault) {
    guard scalar.count == P256.scalarLength, let key = fanfare_p256_private_key(scalar) else {
      throw KeyFault(reason: "not a private number of P-256")
    }
    self.key = key
    algorithm = .es256
  }

  deinit { EVP_PKEY_free(key) }

  /// In the form that JOSE expects: 64 bytes `r||s` for ES256, as many bytes as the modulus for RS256. An ES256
  /// signature differs each time.
  package func sign(_ message: [UInt8]) -> [UInt8] {
    let size = fanfare_signature_size(key)
    return [UInt8](unsafeUninitializedCapacity: size) { signature, count in
      count = fanfare_sign(key, algorithm.code, message, message.count, signature.baseAddress, size)
      precondition(count > 0, "a key that was checked does not sign")
    }
  }

  /// The public half as PEM (SubjectPublicKeyInfo).
  package var publicKeyPEM: [UInt8] { taking { fanfare_public_key_pem(key, $0) } }
  /// Of ES256: the public half as an uncompressed point, 65 bytes.
  package var publicPoint: [UInt8] {
    precondition(algorithm == .es256, "an RSA key is no point")
    return [UInt8](unsafeUninitializedCapacity: P256.pointLength) { point, count in
      let made = fanfare_p256_point(key, point.baseAddress)
      precondition(made == 1, "a key that was checked has no point")
      count = P256.pointLength
    }
  }
  /// 32 bytes that only the owner of the key can make, and that tell nothing of it. The same for the same key and `purpose`.
  package func secret(for purpose: String) -> [UInt8] {
    Digest.hmacSHA256(Array(purpose.utf8), key: Digest.sha256(privateKeyPEM))
  }
  /// PKCS#8.
  var privateKeyPEM: [UInt8] { taking { fanfare_private_key_pem(key, $0) } }

  /// A fresh key and its PKCS#8 PEM, for the sandbox and tests.
  package static func generate(_ algorithm: Algorithm) -> (key: SigningKey, pem: [UInt8]) {
    guard let raw = fanfare_generate_key(algorithm.code) else { preconditionFailure("OpenSSL makes no key") }
    let key = SigningKey(taking: raw, algorithm)
    return (key, key.privateKeyPEM)
  }
}

/// The public half of a signing key. Immutable; usable from any thread.
package final class VerifyingKey: @unchecked Sendable {
  package let algorithm: SigningKey.Algorithm
  private let key: OpaquePointer

  /// `pem`: SubjectPublicKeyInfo.
  package init(pem: [UInt8], for algorithm: SigningKey.Algorithm) throws(KeyFault) {
    guard let key = fanfare_public_key(pem, pem.count) else {
      ERR_clear_error()
      throw KeyFault(reason: "no public key in PEM form")
    }
    guard fanfare_key_is(key, algorithm.code) == 1 else {
      EVP_PKEY_free(key)
      throw KeyFault(reason: "not \(algorithm.name)")
    }
    self.key = key
    self.algorithm = algorithm
  }

  /// For ES256: an uncompressed point of the curve P-256, 65 bytes. Throws if it is none.
  package init(point: [UInt8]) throws(KeyFault) {
    guard point.count == P256.pointLength, let key = fanfare_p256_public_key(point) else {
      throw KeyFault(reason: "not a point of P-256")
    }
    self.key = key
    algorithm = .es256
  }

  deinit { EVP_PKEY_free(key) }

  /// ES256 signatures in JOSE form.
  package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    fanfare_verify(key, algorithm.code, signature, signature.count, message, message.count) == 1
  }
}
