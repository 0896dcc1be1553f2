import COpenSSL

/// What an X.509 certificate says of itself. A value; nothing here is verified.
package struct Certificate: Hashable, Sendable {
  /// UNIX seconds.
  package let notBefore: Int64
  package let notAfter: Int64
  package let commonName: String?
  /// The subject's user id (0.9.2342.19200300.100.1.1).
  package let userID: String?
  private let pem: [UInt8]

  /// The first certificate of the PEM.
  package init(pem: [UInt8]) throws(KeyFault) {
    guard let raw = fanfare_certificate(pem, pem.count) else {
      ERR_clear_error()
      throw KeyFault(reason: "no certificate in PEM form")
    }
    defer { X509_free(raw) }
    self.pem = pem
    notBefore = fanfare_not_before(raw)
    notAfter = fanfare_not_after(raw)
    func subject(_ kind: Int32) -> String? {
      takingIfAny { fanfare_subject(raw, kind, $0) }.map { String(decoding: $0, as: UTF8.self) }
    }
    commonName = subject(NID_commonName)
    userID = subject(NID_userId)
  }

  /// The content of an extension (DER); nil if there is none.
  package func `extension`(_ oid: String) -> [UInt8]? {
    guard let raw = fanfare_certificate(pem, pem.count) else {
      preconditionFailure("a certificate that was read before")
    }
    defer { X509_free(raw) }
    return takingIfAny { fanfare_extension(raw, oid, $0) }
  }
}
