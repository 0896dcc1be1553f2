import Loop
import TLS

/// What keeps a channel's bytes from others: TLS, or nothing.
enum ChannelSecurity {
  case tls(TLSSession)
  case plain(Socket)

  func handshake() -> TLSSession.Handshake {
    switch self {
    case .tls(let session): session.handshake()
    case .plain: .done
    }
  }

  /// The protocol agreed on by ALPN.
  var agreedProtocol: String? {
    if case .tls(let session) = self { session.agreedProtocol } else { nil }
  }

  var peer: (certificate: Certificate, isTrusted: Bool)? {
    if case .tls(let session) = self { session.peer } else { nil }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSSession.Transfer {
    switch self {
    case .tls(let session): session.read(into: buffer)
    case .plain(let socket): Self.result(socket.read(into: buffer), blocked: .wantRead)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> TLSSession.Transfer {
    switch self {
    case .tls(let session): session.write(bytes)
    case .plain(let socket): Self.result(socket.write(bytes), blocked: .wantWrite)
    }
  }

  /// Says goodbye if TLS has a word for it.
  func endWriting() {
    if case .tls(let session) = self { session.endWriting() }
  }

  private static func result(_ transfer: Transfer, blocked: TLSSession.Transfer) -> TLSSession.Transfer {
    switch transfer {
    case .moved(let count): .moved(count)
    case .blocked: blocked
    case .ended: .ended
    case .failed(let reason): .failed(reason)
    }
  }
}
