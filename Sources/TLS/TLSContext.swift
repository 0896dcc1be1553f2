package struct TLSFault: Error, Hashable, Sendable { package var reason: String }

/// Settings shared by many TLS sessions. Immutable after creation; usable from any loop.
package final class TLSContext: @unchecked Sendable {
  /// TLS 1.2 or later, certificates and host name always verified. `caFile`: PEM, in addition to nothing else; nil: the
  /// system's store. `alpn`: protocols offered, in order; a session without an agreed one fails when `requireALPN`.
  package static func client(caFile: String? = nil, alpn: [String], requireALPN: Bool = true) throws(TLSFault)
    -> TLSContext
  {
    preconditionFailure("not built yet")
  }
  /// `certificate` (chain) and `key` as PEM. Without a common ALPN protocol the handshake goes on without one.
  package static func server(certificate: [UInt8], key: [UInt8], alpn: [String]) throws(TLSFault) -> TLSContext {
    preconditionFailure("not built yet")
  }
}

/// Certificates for the sandbox and tests: an authority and leaves for `localhost`, 127.0.0.1 and ::1.
package struct CertificateAuthority: Sendable {
  package let certificatePEM: [UInt8]

  package init(name: String) { preconditionFailure("not built yet") }
  package func issue(hosts: [String]) -> (certificate: [UInt8], key: [UInt8]) { preconditionFailure("not built yet") }
}
