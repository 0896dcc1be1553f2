import Glibc
import Loop
import TLS
import Testing

@Suite("TLS sessions")
struct TLSSessionTests {
  private let authority = CertificateAuthority(name: "Test authority")

  @Test("name and addresses of one leaf verify", arguments: ["localhost", "127.0.0.1", "::1", "push.example"])
  func verified(host: String) throws {
    let pair = try Pair(authority, hosts: ["localhost", "127.0.0.1", "::1", "push.example"], asking: host)
    #expect(pair.handshake() == .both)
    #expect(pair.client.agreedProtocol == "h2")
    #expect(pair.server.agreedProtocol == "h2")
  }

  @Test(
    "another name, or an address the certificate does not list, is refused", arguments: ["wrong.example", "127.0.0.2"])
  func wrongHost(host: String) throws {
    let pair = try Pair(authority, hosts: ["localhost", "127.0.0.1"], asking: host)
    guard case .refused(let reason) = pair.handshake() else { return #expect(Bool(false), "the handshake passed") }
    #expect(reason.contains("certificate refused"))
    #expect(reason.contains("mismatch"))
  }

  @Test("a certificate of an unknown authority is refused")
  func unknownAuthority() throws {
    let pair = try Pair(
      CertificateAuthority(name: "Somebody else"), trusting: authority, hosts: ["localhost"], asking: "localhost")
    guard case .refused(let reason) = pair.handshake() else { return #expect(Bool(false), "the handshake passed") }
    #expect(reason.contains("certificate refused"))
  }

  @Test("a server that asks sees the client's certificate, none, or one that is not to be trusted")
  func clientCertificates() throws {
    func peer(_ showing: (certificate: [UInt8], key: [UInt8])?) throws -> (certificate: Certificate, isTrusted: Bool)? {
      let pair = try Pair(
        authority, hosts: ["localhost"], asking: "localhost", showing: showing,
        clientAuthorities: authority.certificatePEM)
      #expect(pair.handshake() == .both)
      return pair.server.peer
    }
    let known = try #require(try peer(authority.issueClient(name: "client", userID: "com.example.app")))
    #expect(known.certificate.userID == "com.example.app" && known.isTrusted)
    let stranger = try peer(CertificateAuthority(name: "Somebody else").issueClient(name: "client"))
    #expect(stranger?.isTrusted == false)
    let old = try peer(authority.issueClient(name: "client", seconds: -60))
    #expect(old?.isTrusted == false)
    #expect(try peer(nil) == nil)
  }

  @Test("no common protocol: refused where one is required, otherwise a session without")
  func protocols() throws {
    let strict = try Pair(authority, hosts: ["localhost"], asking: "localhost", serving: ["http/1.1"])
    guard case .refused(let reason) = strict.handshake() else { return #expect(Bool(false), "the handshake passed") }
    #expect(reason.contains("ALPN"))
    let lenient = try Pair(
      authority, hosts: ["localhost"], asking: "localhost", serving: ["http/1.1"], requireALPN: false)
    #expect(lenient.handshake() == .both)
    #expect(lenient.client.agreedProtocol == nil)
  }

  @Test("bytes go through whole, in pieces as the socket takes them, and the end is told")
  func bytes() throws {
    let pair = try Pair(authority, hosts: ["localhost"], asking: "localhost")
    #expect(pair.handshake() == .both)
    let sent = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var received: [UInt8] = []
    var start = 0
    while received.count < sent.count {
      sent[start...].withUnsafeBytes { bytes in
        while start < sent.count,
          case .moved(let count) = pair.client.write(
            UnsafeRawBufferPointer(rebasing: bytes[(start - (sent.count - bytes.count))...]))
        {
          start += count
        }
      }
      received += pair.readAll()
    }
    #expect(received == sent)
    pair.client.endWriting()
    withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { #expect(pair.server.read(into: $0) == .ended) }
  }

  @Test("writing to a peer that has gone is a failure, no signal")
  func goneWhileWriting() throws {
    let pair = try Pair(authority, hosts: ["localhost"], asking: "localhost")
    #expect(pair.handshake() == .both)
    pair.closeServer()
    var last = TLSSession.Transfer.moved(0)
    for _ in 0..<3 {
      if case .moved = last { last = [UInt8](repeating: 1, count: 100).withUnsafeBytes { pair.client.write($0) } }
    }
    guard case .failed = last else { return #expect(Bool(false), "the write passed: \(last)") }
  }

  @Test("an authority kept as PEM issues leaves that its certificate verifies; another's key is refused")
  func keptAuthority() throws {
    let kept = try CertificateAuthority(certificatePEM: authority.certificatePEM, keyPEM: authority.keyPEM)
    #expect(kept.outlivesLeaves)
    let pair = try Pair(kept, trusting: authority, hosts: ["localhost"], asking: "localhost")
    #expect(pair.handshake() == .both)
    let other = CertificateAuthority(name: "Other")
    #expect(throws: KeyFault(reason: "the key is not the certificate's")) {
      try CertificateAuthority(certificatePEM: authority.certificatePEM, keyPEM: other.keyPEM)
    }
  }

  @Test("a missing or empty authorities' file, and a key of another certificate, are named")
  func badFiles() throws {
    #expect(throws: TLSFault.self) { try TLSContext.client(caFile: "/nonexistent.pem", alpn: []) }
    #expect(throws: TLSFault.self) { try TLSContext.client(caFile: "/dev/null", alpn: []) }
    let one = authority.issue(hosts: ["localhost"])
    let two = authority.issue(hosts: ["localhost"])
    #expect(throws: TLSFault.self) { try TLSContext.server(certificate: one.certificate, key: two.key, alpn: []) }
    #expect(throws: TLSFault.self) { try TLSContext.server(certificate: [], key: one.key, alpn: []) }
  }
}

/// A client and a server session over a socket pair, driven in turns on the test's thread.
private final class Pair {
  enum Outcome: Equatable {
    case both
    case refused(String)
  }
  let client: TLSSession
  let server: TLSSession
  private let clientEnd: Socket
  private let serverEnd: Socket

  init(
    _ issuer: CertificateAuthority, trusting trusted: CertificateAuthority? = nil, hosts: [String],
    asking host: String, serving: [String] = ["h2"], requireALPN: Bool = true,
    showing identity: (certificate: [UInt8], key: [UInt8])? = nil, clientAuthorities: [UInt8]? = nil
  ) throws {
    let leaf = issuer.issue(hosts: hosts)
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
    try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
    clientEnd = Socket(taking: ends[0])
    serverEnd = Socket(taking: ends[1])
    let file = try TemporaryFile((trusted ?? issuer).certificatePEM)
    client = try TLSSession(
      client: .client(
        caFile: file.path, alpn: ["h2"], requireALPN: requireALPN,
        identity: identity.map { ($0.certificate, $0.key) }), host: host, fd: ends[0])
    server = try TLSSession(
      server: .server(
        certificate: leaf.certificate, key: leaf.key, alpn: serving, clientAuthorities: clientAuthorities), fd: ends[1])
  }

  func handshake() -> Outcome {
    var clientDone = false
    var serverDone = false
    for _ in 0..<10 where !(clientDone && serverDone) {
      switch client.handshake() {
      case .done: clientDone = true
      case .failed(let reason): return .refused(reason)
      case .wantRead, .wantWrite: break
      }
      switch server.handshake() {
      case .done: serverDone = true
      case .failed(let reason): return .refused("server: \(reason)")
      case .wantRead, .wantWrite: break
      }
    }
    return clientDone && serverDone ? .both : .refused("no end")
  }

  func readAll() -> [UInt8] {
    var all: [UInt8] = []
    withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 1) { buffer in
      while case .moved(let count) = server.read(into: buffer) { all += buffer[..<count] }
    }
    return all
  }

  func closeServer() { serverEnd.close() }
}

/// Removed with the value.
private final class TemporaryFile {
  let path: String
  init(_ bytes: [UInt8]) throws {
    var template = Array("/tmp/fanfare-test-XXXXXX".utf8CString)
    let fd = mkstemp(&template)
    try #require(fd >= 0)
    defer { close(fd) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    try #require(write(fd, bytes, bytes.count) == bytes.count)
  }
  deinit { unlink(path) }
}
