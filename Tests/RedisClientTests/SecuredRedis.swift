import Domain
import Foundation
import Glibc
import Loop
import RedisClient
import Support
import TLS
import Testing

@Suite("Redis over TLS")
struct SecuredRedis {
  @Test("commands, large answers and subscriptions go through a verified connection")
  func verified() async throws {
    let server = try SecuredServer(hosts: ["localhost", "127.0.0.1"])
    try await withLoop { loop in
      let redis = try await connected(loop, server.endpoint(host: "localhost"))
      let big = String(repeating: "0123456789", count: 400_000)
      #expect(try await redis.call(RedisCommand("SET", "big", big)) == .status("OK"))
      let replies = try await redis.call((0..<5).map { _ in RedisCommand("GET", "big") } + [RedisCommand("PING")])
      #expect(replies.prefix(5).allSatisfy { $0.bytes?.count == 4_000_000 } && replies[5] == .status("PONG"))
      let many = try await redis.call((0..<2_000).map { RedisCommand("ECHO", String($0)) })
      #expect(many.map(\.text) == (0..<2_000).map { String($0) })

      let ready = Waiter<Bool>()
      let heard = Waiter<[UInt8]>()
      let subscriber = RedisSubscriber(loop: loop, endpoint: server.endpoint(host: "127.0.0.1"), channels: ["bell"]) {
        switch $0 {
        case .reconnected: ready.give(true)
        case .message(_, let payload): heard.give(payload)
        }
      }
      #expect(await ready.value())
      _ = try await redis.call(RedisCommand("PUBLISH", "bell", "ding"))
      #expect(await heard.value() == Array("ding".utf8))

      let back = Waiter<Bool>()
      redis.onChange = { if $0 { back.give(true) } }
      server.redis.restart()
      #expect(await back.value())
      #expect(try await redis.call(RedisCommand("PING")) == .status("PONG"))
      redis.close()
      subscriber.close()
    }
  }

  @Test("a certificate for another host, or of another authority, is refused by name")
  func refused() async throws {
    let server = try SecuredServer(hosts: ["redis.example"])
    let stranger = try TemporaryDirectory()
    let strange = stranger.file("ca.pem")
    try Data(CertificateAuthority(name: "stranger").certificatePEM).write(to: strange)
    try await withLoop { loop in
      let other = Redis(loop: loop, endpoint: server.endpoint(host: "localhost"))
      while other.trouble == nil { await loop.sleep(milliseconds: 2) }
      #expect(other.trouble?.lowercased().contains("hostname mismatch") == true && !other.isReady)
      other.close()
      let endpoint = RedisEndpoint(.tcp(host: "localhost", port: server.port, tls: true, caFile: strange.path))
      let unknown = Redis(loop: loop, endpoint: endpoint)
      while unknown.trouble == nil { await loop.sleep(milliseconds: 2) }
      #expect(unknown.trouble?.contains("certificate refused") == true && !unknown.isReady)
      unknown.close()
      let missing = RedisEndpoint(.tcp(host: "localhost", port: server.port, tls: true, caFile: "/nowhere/ca.pem"))
      let never = Redis(loop: loop, endpoint: missing)
      #expect(never.fault?.contains("/nowhere/ca.pem") == true)
      let result = await outcome { () async throws(RedisFault) in try await never.call(RedisCommand("PING")) }
      guard case .failure(.unusable) = result else { return #expect(Bool(false), "not called unusable") }
      never.close()
      _ = stranger
    }
  }
}

/// A Redis that speaks TLS only, with a certificate of an authority of its own.
final class SecuredServer: Sendable {
  let redis: RedisServer
  let port: Int
  private let files: TemporaryDirectory

  init(hosts: [String]) throws {
    files = try TemporaryDirectory()
    let authority = CertificateAuthority(name: "Redis tests")
    let (certificate, key) = authority.issue(hosts: hosts)
    for (name, bytes) in [("ca.pem", authority.certificatePEM), ("redis.pem", certificate), ("redis.key", key)] {
      try Data(bytes).write(to: files.file(name))
    }
    port = freePort()
    redis = RedisServer([
      "--tls-port", String(port), "--tls-cert-file", files.file("redis.pem").path, "--tls-key-file",
      files.file("redis.key").path, "--tls-ca-cert-file", files.file("ca.pem").path, "--tls-auth-clients", "no",
    ])
  }

  func endpoint(host: String) -> RedisEndpoint {
    RedisEndpoint(.tcp(host: host, port: port, tls: true, caFile: files.file("ca.pem").path))
  }
}

/// A TCP port of loopback that nobody listened on a moment ago.
func freePort() -> Int {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  return withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      precondition(bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0, "no port is free")
    }
    return Int(UInt16(bigEndian: pointer.pointee.sin_port))
  }
}
