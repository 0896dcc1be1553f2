import COpenSSL

/// A context or session that cannot be made. A handshake that fails is told by `TLSSession.Handshake.failed`.
package struct TLSFault: Error, Hashable, Sendable {
  package var reason: String
  /// `reason`: for the operator, often OpenSSL's own text.
  package init(reason: String) { self.reason = reason }
}

/// Settings shared by many TLS sessions. Immutable after creation; usable from any loop.
package final class TLSContext: @unchecked Sendable {
  let raw: OpaquePointer
  let isServer: Bool
  /// Protocol names, each behind its length, and a zero at the end; the server's callback reads it.
  private let wire: UnsafeMutableBufferPointer<UInt8>
  private let offered: [String]
  private let requireALPN: Bool

  private init(server: Bool, alpn: [String], requireALPN: Bool) throws(TLSFault) {
    guard let raw = fanfare_context(server ? 1 : 0) else {
      throw TLSFault(reason: errorText("OpenSSL gives no context"))
    }
    self.raw = raw
    isServer = server
    offered = alpn
    self.requireALPN = requireALPN
    var names: [UInt8] = []
    for name in alpn {
      precondition((1...255).contains(name.utf8.count), "an ALPN name has 1 to 255 bytes")
      names.append(UInt8(name.utf8.count))
      names += name.utf8
    }
    names.append(0)
    wire = .allocate(capacity: names.count)
    _ = wire.initialize(from: names)
  }

  deinit {
    SSL_CTX_free(raw)
    wire.deallocate()
  }

  /// TLS 1.2 or later; certificate and host name are always verified. `caFile`: PEM, the only authorities trusted then; nil:
  /// the system's store. `alpn`: protocols offered, in order; a session without an agreed one fails when `requireALPN`.
  /// `identity`: PEM of the certificate (chain) and key that the client shows when it is asked.
  package static func client(
    caFile: String? = nil, alpn: [String], requireALPN: Bool = true, identity: (chain: [UInt8], key: [UInt8])? = nil
  ) throws(TLSFault) -> TLSContext {
    let context = try TLSContext(server: false, alpn: alpn, requireALPN: requireALPN && !alpn.isEmpty)
    if let identity { try context.use(identity.chain, identity.key) }
    if let caFile {
      guard SSL_CTX_load_verify_locations(context.raw, caFile, nil) == 1 else {
        throw TLSFault(reason: "\(caFile): no certificate authorities (\(errorText("unreadable")))")
      }
    } else {
      guard SSL_CTX_set_default_verify_paths(context.raw) == 1 else {
        throw TLSFault(reason: errorText("no system store of certificate authorities"))
      }
    }
    if !alpn.isEmpty {
      // Contrary to its kin, this function returns 0 on success.
      let refused = SSL_CTX_set_alpn_protos(context.raw, context.wire.baseAddress, UInt32(context.wire.count - 1))
      precondition(refused == 0, "ALPN names were not taken")
    }
    return context
  }

  /// `certificate` (chain) and `key` as PEM. Without a common ALPN protocol the handshake goes on without one.
  /// `clientAuthorities` (PEM): clients are asked for a certificate of theirs; what one without, or with another's, may do
  /// is the owner's to say (`TLSSession.peer`).
  package static func server(
    certificate: [UInt8], key: [UInt8], alpn: [String], clientAuthorities: [UInt8]? = nil
  ) throws(TLSFault) -> TLSContext {
    let context = try TLSContext(server: true, alpn: alpn, requireALPN: false)
    try context.use(certificate, key)
    if let clientAuthorities, fanfare_ask_clients(context.raw, clientAuthorities, clientAuthorities.count) != 1 {
      throw TLSFault(reason: "no authorities for clients' certificates in PEM form")
    }
    if !alpn.isEmpty { fanfare_serve_alpn(context.raw, context.wire.baseAddress) }
    return context
  }

  private func use(_ certificate: [UInt8], _ key: [UInt8]) throws(TLSFault) {
    guard let privateKey = fanfare_private_key(key, key.count) else {
      throw TLSFault(reason: "the key: \(errorText("no private key in PEM form"))")
    }
    defer { EVP_PKEY_free(privateKey) }
    guard fanfare_use_certificate(raw, certificate, certificate.count, privateKey) == 1 else {
      throw TLSFault(reason: "the certificate: \(errorText("no certificate in PEM form"))")
    }
  }

  /// Why a finished handshake does not do, if so.
  func fault(agreed: String?) -> String? {
    guard requireALPN, agreed.map(offered.contains) != true else { return nil }
    return "the peer agrees to no protocol of \(offered.joined(separator: ", ")) (ALPN)"
  }
}
