import Glibc
import HTTP2
import Loop
import TLS
import Testing

/// A TLS server that knows no HTTP/2: it sends bytes that no library would.
final class RawPeer {
  let port: Int
  private(set) var received: [UInt8] = []
  /// Called with each piece that arrives; what it returns is sent.
  var react: ([UInt8]) -> [UInt8] = { _ in [] }
  private let loop: EventLoop
  private let tls: TLSContext
  private let listening: Socket
  private var connection: Socket?
  private var session: TLSSession?
  private var shaken = false
  /// Sent as soon as TLS is up.
  private let greeting: [UInt8]

  static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
  static func frame(_ type: UInt8, flags: UInt8, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
    [0, UInt8(payload.count >> 8), UInt8(payload.count & 255), type, flags, 0, 0, 0, stream] + payload
  }

  init(_ loop: EventLoop, greeting: [UInt8], alpn: [String] = ["h2"]) throws {
    self.loop = loop
    self.greeting = greeting
    tls = try Trust.server(alpn: alpn)
    let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    listening = Socket(taking: fd)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutableBytes(of: &address) { raw in
      let name = raw.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      return bind(fd, name, size) + listen(fd, 8) + getsockname(fd, name, &size)
    }
    try #require(result == 0)
    port = Int(in_port_t(bigEndian: address.sin_port))
    loop.watch(fd, [.readable]) { [self] _ in accept() }
  }

  private func accept() {
    let fd = Glibc.accept(listening.fd, nil, nil)
    guard fd >= 0, connection == nil else { return }
    _ = fcntl(fd, F_SETFL, O_NONBLOCK)
    connection = Socket(taking: fd)
    session = try? TLSSession(server: tls, fd: fd)
    loop.watch(fd, [.readable]) { [self] _ in ready() }
  }

  private func ready() {
    guard let session else { return }
    if !shaken {
      switch session.handshake() {
      case .wantRead, .wantWrite: return
      case .failed: return stop()
      case .done:
        shaken = true
        send(greeting)
      }
    }
    withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 1) { buffer in
      while true {
        switch session.read(into: buffer) {
        case .moved(let count):
          let piece = Array(buffer[..<count])
          received += piece
          send(react(piece))
        case .wantRead, .wantWrite: return
        case .ended, .failed: return stop()
        }
      }
    }
  }

  func send(_ bytes: [UInt8]) {
    if !bytes.isEmpty { _ = bytes.withUnsafeBytes { session?.write($0) } }
  }

  func stop() {
    if let connection, connection.fd >= 0 { loop.unwatch(connection.fd) }
    connection?.close()
    if listening.fd >= 0 { loop.unwatch(listening.fd) }
    listening.close()
  }
}
