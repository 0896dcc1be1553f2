import CMicroHTTPD

/// A certificate chain with its key, as handshakes show them. Every connection that shows them holds them.
final class ServerCredentials {
  let raw: OpaquePointer

  /// Both as PEM, the server's own certificate first. Throws if they cannot be used or do not belong together.
  init(certificate: [UInt8], key: [UInt8]) throws(HTTPServerFailure) {
    var reason: UnsafePointer<CChar>?
    guard let raw = fanfare_credentials(certificate, certificate.count, key, key.count, &reason) else {
      throw HTTPServerFailure(
        reason: "the certificate and its key cannot be used: \(reason.map { String(cString: $0) } ?? "unknown")")
    }
    self.raw = raw
  }

  deinit { fanfare_free_credentials(raw) }
}
