import Domain

package struct KeyFault: Error, Hashable, Sendable { package var reason: String }

/// A private key read from PEM, for signatures. Immutable; usable from any thread.
package final class SigningKey: @unchecked Sendable {
  package enum Algorithm: Hashable, Sendable {
    /// ECDSA on P-256 with SHA-256; signatures in JOSE form, 64 bytes `r||s`.
    case es256
    /// RSA PKCS#1 v1.5 with SHA-256.
    case rs256
  }
  package let algorithm: Algorithm

  /// `pem`: PKCS#8. Throws if it is no private key, or not one for `algorithm`.
  package init(pem: [UInt8], for algorithm: Algorithm) throws(KeyFault) {
    preconditionFailure("not built yet")
  }
  package func sign(_ message: [UInt8]) -> [UInt8] { preconditionFailure("not built yet") }
  /// The public half as PEM (SubjectPublicKeyInfo).
  package var publicKeyPEM: [UInt8] { preconditionFailure("not built yet") }
  /// A fresh key and its PKCS#8 PEM, for the sandbox and tests.
  package static func generate(_ algorithm: Algorithm) -> (key: SigningKey, pem: [UInt8]) {
    preconditionFailure("not built yet")
  }
}

/// The public half of a signing key.
package final class VerifyingKey: @unchecked Sendable {
  package init(pem: [UInt8], for algorithm: SigningKey.Algorithm) throws(KeyFault) {
    preconditionFailure("not built yet")
  }
  /// ES256 signatures in JOSE form.
  package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool { preconditionFailure("not built yet") }
}
