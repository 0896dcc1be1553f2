import COpenSSL

/// Certificates for the sandbox and tests: an authority and the leaves it issues. Kept between runs as two PEM texts.
package struct CertificateAuthority: Sendable {
  package let certificatePEM: [UInt8]
  /// PKCS#8; as secret as the certificate is trusted.
  package let keyPEM: [UInt8]

  private static let authorityDays = 3650
  /// What clients with a limit on a server certificate's life still take.
  package static let leafDays = 820

  /// A new authority, valid for ten years.
  package init(name: String) {
    let (key, pem) = SigningKey.generate(.es256)
    guard let certificate = fanfare_make_authority(key.key, name, Self.authorityDays) else {
      preconditionFailure("no authority named \(name): \(errorText("unknown"))")
    }
    defer { X509_free(certificate) }
    certificatePEM = taking { fanfare_certificate_pem(certificate, $0) }
    keyPEM = pem
  }

  /// An authority made before. Throws unless the key is the certificate's.
  package init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(KeyFault) {
    let key = try SigningKey(pem: keyPEM, for: .es256)
    guard let certificate = fanfare_certificate(certificatePEM, certificatePEM.count) else {
      ERR_clear_error()
      throw KeyFault(reason: "no certificate in PEM form")
    }
    defer { X509_free(certificate) }
    guard X509_check_private_key(certificate, key.key) == 1 else {
      ERR_clear_error()
      throw KeyFault(reason: "the key is not the certificate's")
    }
    self.certificatePEM = certificatePEM
    self.keyPEM = keyPEM
  }

  /// True if the certificate is valid for at least as long as a leaf issued now.
  package var outlivesLeaves: Bool {
    guard let certificate = fanfare_certificate(certificatePEM, certificatePEM.count) else { return false }
    defer { X509_free(certificate) }
    return fanfare_is_valid_in(certificate, Self.leafDays) == 1
  }

  /// A server certificate for DNS names and IP addresses (at least one), with a key of its own. Ended where `days` is not
  /// above 0.
  package func issue(hosts: [String], days: Int = CertificateAuthority.leafDays) -> (certificate: [UInt8], key: [UInt8])
  {
    precondition(!hosts.isEmpty, "a certificate needs a host")
    let (authority, authorityKey) = opened()
    defer {
      X509_free(authority)
      EVP_PKEY_free(authorityKey)
    }
    let (key, pem) = SigningKey.generate(.es256)
    let names = hosts.map { name in
      name.utf8CString.withUnsafeBufferPointer { source in
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: source.count)
        copy.initialize(from: source.baseAddress!, count: source.count)
        return UnsafePointer(copy)
      }
    }
    defer { for name in names { name.deallocate() } }
    var pointers: [UnsafePointer<CChar>?] = names
    let made = fanfare_make_leaf(key.key, authority, authorityKey, &pointers, pointers.count, days)
    guard let leaf = made else {
      preconditionFailure("no certificate for \(hosts): \(errorText("unknown"))")
    }
    defer { X509_free(leaf) }
    return (taking { fanfare_certificate_pem(leaf, $0) }, pem)
  }

  /// Both to be freed by the caller.
  private func opened() -> (certificate: OpaquePointer, key: OpaquePointer) {
    guard let authority = fanfare_certificate(certificatePEM, certificatePEM.count),
      let authorityKey = fanfare_private_key(keyPEM, keyPEM.count)
    else { preconditionFailure("the authority's own PEM does not parse") }
    return (authority, authorityKey)
  }

  /// A client certificate that ends `seconds` from now (below zero: ended then), with a key of its own. `extensions`:
  /// contents (DER) by object id.
  package func issueClient(
    name: String, userID: String? = nil, extensions: [(oid: String, value: [UInt8])] = [], seconds: Int = 365 * 86_400
  ) -> (certificate: [UInt8], key: [UInt8]) {
    let (authority, authorityKey) = opened()
    defer {
      X509_free(authority)
      EVP_PKEY_free(authorityKey)
    }
    let (key, pem) = SigningKey.generate(.es256)
    let begun =
      userID.map { fanfare_begin_client(key.key, authority, name, $0, seconds) }
      ?? fanfare_begin_client(key.key, authority, name, nil, seconds)
    guard let leaf = begun else { preconditionFailure("no certificate for \(name): \(errorText("unknown"))") }
    defer { X509_free(leaf) }
    for (oid, value) in extensions {
      precondition(fanfare_add_extension(leaf, oid, value, value.count) == 1, "\(oid) is no object id")
    }
    precondition(fanfare_sign_certificate(leaf, authorityKey) == 1, "the authority does not sign")
    return (taking { fanfare_certificate_pem(leaf, $0) }, pem)
  }

  /// A PKCS#12 file of what was issued. `legacy`: with the ciphers of old tools, Keychain Access among them.
  package static func pkcs12(
    certificate: [UInt8], key: [UInt8], password: String, legacy: Bool = false
  ) throws(KeyFault) -> [UInt8] {
    guard let leaf = fanfare_certificate(certificate, certificate.count) else {
      throw KeyFault(reason: "no certificate in PEM form")
    }
    defer { X509_free(leaf) }
    guard let raw = fanfare_private_key(key, key.count) else { throw KeyFault(reason: "no private key in PEM form") }
    defer { EVP_PKEY_free(raw) }
    guard let file = takingIfAny({ fanfare_make_pkcs12(raw, leaf, password, legacy ? 1 : 0, $0) }) else {
      throw KeyFault(reason: "no PKCS#12 file: \(errorText("unknown"))")
    }
    return file
  }
}
