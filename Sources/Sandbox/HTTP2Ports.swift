import HTTP2
import Loop
import TLS

/// Opens the HTTP/2 ports, all with one certificate, and keeps the bad ones that rules may show.
struct HTTP2Ports {
  let leaf: (certificate: [UInt8], key: [UInt8])
  private let stage: Stage
  private let settings: SandboxSettings
  private let tls: TLSContext
  private let bad: [Rule.CertificateFault: TLSContext]
  private static let hosts = ["localhost", "127.0.0.1", "::1"]

  init(stage: Stage, settings: SandboxSettings, authority: CertificateAuthority) throws(SandboxFailure) {
    self.stage = stage
    self.settings = settings
    leaf = authority.issue(hosts: Self.hosts)
    do {
      tls = try TLSContext.server(
        certificate: leaf.certificate, key: leaf.key, alpn: ["h2"], clientAuthorities: authority.certificatePEM)
      var bad: [Rule.CertificateFault: TLSContext] = [:]
      for fault in Rule.CertificateFault.allCases {
        let issued =
          switch fault {
          case .unknownAuthority: CertificateAuthority(name: "Another sandbox").issue(hosts: Self.hosts)
          case .expired: authority.issue(hosts: Self.hosts, days: -1)
          case .otherHost: authority.issue(hosts: ["elsewhere.invalid"])
          }
        bad[fault] = try TLSContext.server(certificate: issued.certificate, key: issued.key, alpn: ["h2"])
      }
      self.bad = bad
    } catch {
      throw SandboxFailure(reason: "no TLS: \(error.reason)")
    }
  }

  /// `streams`: what a connection may carry at first.
  func serve(
    _ vendor: any HTTP2Vendor, port: Int, streams: Int
  ) throws(SandboxFailure) -> (front: HTTP2Front, port: Int) {
    let server = try Sandbox.listen(port, settings) { port throws(ListenFailure) in
      var server = HTTP2ServerSettings()
      server.maximumConcurrentStreams = streams
      return try HTTP2Server(loop: stage.loop, address: settings.address, port: port, tls: tls, settings: server)
    }
    let front = HTTP2Front(stage: stage, vendor: vendor, badCertificates: bad)
    front.serve(server)
    return (front, server.port)
  }
}
