import COpenSSL
import Glibc

/// One TLS connection over a connected, non-blocking descriptor, which stays the caller's and must outlive the session.
/// Belongs to one loop. After `failed` only `deinit` is left.
package final class TLSSession {
  /// `wantRead` and `wantWrite` name the readiness after which `handshake` is called again. The text of `failed` says
  /// why, for logs.
  package enum Handshake: Hashable, Sendable {
    case done
    case wantRead
    case wantWrite
    case failed(String)
  }

  /// What one read or write did.
  package enum Transfer: Hashable, Sendable {
    case moved(Int)
    /// Nothing moved; call again when the descriptor is readable.
    case wantRead
    /// Nothing moved; call again, with the same bytes or more of them, when the descriptor is writable.
    case wantWrite
    /// The peer has ended the connection.
    case ended
    case failed(String)
  }

  private let raw: OpaquePointer
  /// Holds what the server's ALPN callback reads.
  private let context: TLSContext

  /// Verifies that the peer's certificate is for `host`, a DNS name or an IP address.
  package convenience init(client context: TLSContext, host: String, fd: Int32) throws(TLSFault) {
    try self.init(context, fd)
    guard fanfare_expect_host(raw, host) == 1 else {
      throw TLSFault(reason: "\(host): no host name (\(errorText("refused")))")
    }
    SSL_set_connect_state(raw)
  }

  /// The client's certificate is asked for only where the context says so; a missing or foreign one does not end the
  /// handshake (`peer`).
  package convenience init(server context: TLSContext, fd: Int32) throws(TLSFault) {
    try self.init(context, fd)
    SSL_set_accept_state(raw)
  }

  private init(_ context: TLSContext, _ fd: Int32) throws(TLSFault) {
    guard let raw = fanfare_session(context.raw, fd) else { throw TLSFault(reason: errorText("no memory")) }
    self.raw = raw
    self.context = context
  }

  deinit { SSL_free(raw) }

  /// Goes as far as it can without waiting; to be called again when the descriptor is ready, until `done`.
  package func handshake() -> Handshake {
    switch fanfare_handshake(raw) {
    case SSL_ERROR_NONE: context.fault(agreed: agreedProtocol).map(Handshake.failed) ?? .done
    case SSL_ERROR_WANT_READ: .wantRead
    case SSL_ERROR_WANT_WRITE: .wantWrite
    case SSL_ERROR_ZERO_RETURN: .failed("TLS handshake: the peer closed the connection")
    case let code: .failed("TLS handshake: \(verificationFailure ?? systemError(code))")
    }
  }

  /// The protocol agreed on by ALPN.
  package var agreedProtocol: String? {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(raw, &name, &count)
    guard let name, count > 0 else { return nil }
    return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
  }

  /// What the peer showed in a finished handshake; nil: nothing. `isTrusted`: of the authorities asked for, and within its
  /// time. A server goes on with one that is not, a client never does.
  package var peer: (certificate: Certificate, isTrusted: Bool)? {
    guard let pem = takingIfAny({ fanfare_peer_certificate(raw, $0) }), let certificate = try? Certificate(pem: pem)
    else {
      return nil
    }
    return (certificate, SSL_get_verify_result(raw) == X509_V_OK)
  }

  /// Call until it wants something: bytes may wait inside OpenSSL that no readiness tells of.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    var moved = 0
    return result(fanfare_read(raw, buffer.baseAddress, buffer.count, &moved), moved)
  }

  /// Writes at most one TLS record (16 KB); call until everything has moved or it wants something.
  package func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
    var moved = 0
    return result(fanfare_write(raw, bytes.baseAddress, bytes.count, &moved), moved)
  }

  /// Says goodbye if the socket takes it; the answer is not awaited.
  package func endWriting() {
    ERR_clear_error()
    SSL_shutdown(raw)
    ERR_clear_error()
  }

  private func result(_ code: Int32, _ moved: Int) -> Transfer {
    switch code {
    case SSL_ERROR_NONE: .moved(moved)
    case SSL_ERROR_WANT_READ: .wantRead
    case SSL_ERROR_WANT_WRITE: .wantWrite
    case SSL_ERROR_ZERO_RETURN: .ended
    default: .failed("TLS: \(systemError(code))")
    }
  }

  private func systemError(_ code: Int32) -> String {
    let number = errno
    guard code == SSL_ERROR_SYSCALL, number != 0 else { return errorText("the peer closed the connection") }
    ERR_clear_error()
    return String(cString: strerror(number))
  }

  /// Why the peer's certificate was refused, if that ended the handshake.
  private var verificationFailure: String? {
    let code = SSL_get_verify_result(raw)
    guard !context.isServer, code != X509_V_OK else { return nil }
    ERR_clear_error()
    return "certificate refused: \(String(cString: X509_verify_cert_error_string(code)))"
  }
}
