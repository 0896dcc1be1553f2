import Domain
import Foundation
import HTTPClient
import Loop
import Support
import TLS
import Testing

extension Journeys {
  @Test("the API takes TLS 1.2 and 1.3 with good ciphers only, with certificates of both kinds of keys")
  func tlsVersions() async throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
    let check = try ChildProcess(
      root.appending(path: "Config/check-tls"), [], environment: ["FANFARE_PROGRAM": World.program.path])
    #expect(await check.waitForExit() == 0, "\(check.text)")
    #expect(check.text.contains("With an RSA certificate"), "\(check.text)")
  }

  @Test("the API's certificate follows its files: a new one is shown to new connections, a broken one changes nothing")
  func certificateFiles() async throws {
    let world = try await World()
    let served = try ServedCertificate(world)
    try served.put(served.first)
    let files = #"certificate_file: "api.pem", key_file: "api.key""#
    try world.edit { $0.replacing(#"address: "127.0.0.1", port: 0"#, with: "port: \(served.port), \(files)") }
    let gateway = try world.serve()
    _ = try await gateway.line { $0.contains("https://127.0.0.1:\(served.port)") }
    let open = try await served.client(trusting: served.first)
    #expect(try await open.status("/healthz") == 200)

    try served.put(served.second)
    _ = try await gateway.line { $0.contains("certificate_reloaded") }
    let late = try await served.client(trusting: served.second)
    #expect(try await late.status("/healthz") == 200)
    #expect(try await served.client(trusting: served.first).status("/healthz") == nil)
    #expect(try await open.status("/healthz") == 200, "its connection goes on")

    // A chain without its last half, and then one of another key.
    try served.put(served.third, cut: true)
    let refusal = try await gateway.line { $0.contains("certificate_refused") }
    #expect(refusal.contains("level=error") && refusal.contains("api.pem") && refusal.contains("PEM"), "\(refusal)")
    try served.put((served.first.authority, served.first.certificate, served.third.key))
    _ = try await gateway.line { $0.contains("certificate_refused") && $0.contains("the key is not the certificate's") }
    #expect(try await late.text("/readyz").contains("certificate_refused"))
    #expect(try await late.text("/metrics").contains("fanfare_api_certificate_last_reload_successful 0"))
    gateway.signal(SIGHUP)
    _ = try await gateway.line { $0.contains("configuration_refused") && $0.contains("/listen/certificate_file") }
    #expect(try await served.client(trusting: served.second).status("/healthz") == 200)
    for (words, exit) in [(["check", "--offline"], 3), (["status"], 3)] as [([String], Int32)] {
      let run = try world.run(words)
      #expect(await run.waitForExit() == exit)
      #expect(run.text.contains("/listen/certificate_file: "), "\(run.text)")
    }

    // It ends in ten days.
    try served.put(served.third)
    gateway.signal(SIGHUP)
    _ = try await gateway.line { $0.contains("configuration_reloaded") }
    let last = try await served.client(trusting: served.third)
    #expect(try await last.status("/healthz") == 200)
    #expect(gateway.text.contains("api_certificate_expires"), "\(gateway.text)")
    let end = try Certificate(pem: served.third.certificate).notAfter
    let metrics = try await last.text("/metrics")
    #expect(metrics.contains("fanfare_api_certificate_expiry_timestamp_seconds \(end)"))
    #expect(metrics.contains("fanfare_api_certificate_last_reload_successful 1"))
    #expect(try await !last.text("/readyz").contains("certificate_refused"))
    let check = try world.run(["check", "--offline"])
    #expect(await check.waitForExit() == 0)
    #expect(check.text.contains("API certificate") && check.text.contains("expires in 9 days"), "\(check.text)")
    #expect(!gateway.text.contains("restart_needed"))
    gateway.signal(SIGTERM)
    #expect(await gateway.waitForExit() == 0)
  }
}

/// The files of an API's certificate, and clients that trust one authority each.
private struct ServedCertificate {
  typealias Issued = (authority: CertificateAuthority, certificate: [UInt8], key: [UInt8])
  let port = RedisServer.freePort()
  let first = issued("first", days: 100)
  let second = issued("second", days: 100)
  let third = issued("third", days: 10)
  private let world: World

  init(_ world: World) throws { self.world = world }

  private static func issued(_ name: String, days: Int) -> Issued {
    let authority = CertificateAuthority(name: name)
    let leaf = authority.issue(hosts: ["localhost"], days: days)
    return (authority, leaf.certificate, leaf.key)
  }

  /// `cut`: the certificate's file is not written to its end.
  func put(_ issued: Issued, cut: Bool = false) throws {
    let chain = cut ? Array(issued.certificate.prefix(issued.certificate.count / 2)) : issued.certificate
    for (name, bytes) in [("api.key", issued.key), ("api.pem", chain)] {
      let file = world.directory.file(name)
      try Data(bytes).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
  }

  /// A client with no connection yet.
  func client(trusting issued: Issued) async throws -> TrustingClient {
    let file = world.directory.file("authority-\(UUID().uuidString).pem")
    try Data(issued.authority.certificatePEM).write(to: file)
    var settings = HTTPClientSettings()
    settings.caFile = file.path
    let http = try await OnLoop(world.loop) { [settings, loop = world.loop] _ in
      HTTPClient(loop: loop, settings: settings)
    }
    return TrustingClient(base: "https://localhost:\(port)", http: http)
  }
}

/// It keeps its connection.
private struct TrustingClient {
  let base: String
  let http: OnLoop<HTTPClient>

  private func get(_ path: String) async throws -> ProviderAnswer {
    let request = HTTPClientRequest(method: "GET", url: base + path, headers: [], body: [], timeout: 20_000)
    return try await http { try await $0.send(request) }
  }
  /// Nil: no handshake.
  func status(_ path: String) async throws -> Int? {
    do { return try await get(path).status } catch is HTTPClientFailure { return nil }
  }
  func text(_ path: String) async throws -> String { String(decoding: try await get(path).body, as: UTF8.self) }
}

extension World {
  /// A command beside the gateway.
  fileprivate func run(_ words: [String]) throws -> ChildProcess {
    try ChildProcess(Self.program, words + ["--config", directory.file("fanfare.json5").path])
  }
}
