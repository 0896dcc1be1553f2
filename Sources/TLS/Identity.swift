import COpenSSL

/// A certificate with its key: what a client shows in a handshake. A value; as secret as its key.
package struct Identity: Hashable, Sendable {
  /// PEM: the certificate, then those above it.
  package let chain: [UInt8]
  /// PKCS#8 PEM, not encrypted.
  package let key: [UInt8]
  package let certificate: Certificate

  /// PEM of a certificate (with its chain) and of its key, which may stand in the same file. `password`: of an encrypted
  /// key.
  package init(chain: [UInt8], key: [UInt8], password: String?) throws(KeyFault) {
    certificate = try Certificate(pem: chain)
    let raw = password.map { fanfare_locked_key(key, key.count, $0) } ?? fanfare_locked_key(key, key.count, nil)
    ERR_clear_error()
    guard let raw else {
      let locked = key.contains("ENCRYPTED")
      throw KeyFault(
        reason: !locked
          ? "no private key in PEM form"
          : password == nil ? "the key needs a password" : "the password is not the key's")
    }
    defer { EVP_PKEY_free(raw) }
    try Self.check(raw, belongsTo: chain)
    self.chain = chain
    self.key = taking { fanfare_private_key_pem(raw, $0) }
  }

  /// A PKCS#12 file (`.p12`, `.pfx`).
  package init(pkcs12 file: [UInt8], password: String) throws(KeyFault) {
    var key: OpaquePointer?
    var chain: UnsafeMutablePointer<UInt8>?
    var count = 0
    let result = fanfare_read_pkcs12(file, file.count, password, &key, &chain, &count)
    ERR_clear_error()
    defer {
      EVP_PKEY_free(key)
      fanfare_free(chain)
    }
    switch result {
    case Int32(FANFARE_WRONG_PASSWORD): throw KeyFault(reason: "the password is not the file's")
    case Int32(FANFARE_NO_IDENTITY): throw KeyFault(reason: "it holds no certificate with its private key")
    case Int32(FANFARE_IDENTITY): break
    default: throw KeyFault(reason: "no PKCS#12 file")
    }
    guard let key, let chain else { preconditionFailure("an identity without its parts") }
    self.chain = Array(UnsafeBufferPointer(start: chain, count: count))
    certificate = try Certificate(pem: self.chain)
    try Self.check(key, belongsTo: self.chain)
    self.key = taking { fanfare_private_key_pem(key, $0) }
  }

  private static func check(_ key: OpaquePointer, belongsTo chain: [UInt8]) throws(KeyFault) {
    guard let leaf = fanfare_certificate(chain, chain.count) else {
      preconditionFailure("a certificate that was read before")
    }
    defer { X509_free(leaf) }
    guard X509_check_private_key(leaf, key) == 1 else {
      ERR_clear_error()
      throw KeyFault(reason: "the key is not the certificate's")
    }
  }
}

extension [UInt8] {
  fileprivate func contains(_ text: String) -> Bool { firstRange(of: Array(text.utf8)) != nil }
}
