import HTTP2
import Loop
import TLS

/// Opens the vendors' ports, all with one certificate, and keeps the bad ones that rules may show.
struct VendorPorts {
  /// Which versions of HTTP a port speaks.
  enum Versions {
    /// APNs.
    case http2
    /// Clients choose by ALPN; without, by how they begin.
    case both
    /// The same without TLS.
    case plain
  }

  private let stage: Stage
  private let settings: SandboxSettings
  private let http2: Secured
  private let both: Secured

  /// The contexts of one list of protocols.
  private struct Secured {
    let usual: TLSContext
    let bad: [Rule.CertificateFault: TLSContext]
  }
  private typealias Leaf = (certificate: [UInt8], key: [UInt8])

  private static let hosts = ["localhost", "127.0.0.1", "::1"]
  /// The vendors' own, for clients whose host cannot be set: a proxy may lead them here. Nobody else trusts the authority.
  private static let vendorHosts = [
    "fcm.googleapis.com", "oauth2.googleapis.com", "sts.googleapis.com", "iamcredentials.googleapis.com",
    "api.onesignal.com", "onesignal.com", "api.push.apple.com", "api.sandbox.push.apple.com",
  ]

  init(stage: Stage, settings: SandboxSettings, authority: CertificateAuthority) throws(SandboxFailure) {
    self.stage = stage
    self.settings = settings
    let usual = authority.issue(hosts: Self.hosts + Self.vendorHosts)
    var bad: [Rule.CertificateFault: Leaf] = [:]
    for fault in Rule.CertificateFault.allCases {
      bad[fault] =
        switch fault {
        case .unknownAuthority: CertificateAuthority(name: "Another sandbox").issue(hosts: Self.hosts)
        case .expired: authority.issue(hosts: Self.hosts, days: -1)
        case .otherHost: authority.issue(hosts: ["elsewhere.invalid"])
        }
    }
    let clients = authority.certificatePEM
    do {
      func secured(_ alpn: [String]) throws(TLSFault) -> Secured {
        var contexts: [Rule.CertificateFault: TLSContext] = [:]
        for (fault, leaf) in bad {
          contexts[fault] = try TLSContext.server(certificate: leaf.certificate, key: leaf.key, alpn: alpn)
        }
        return Secured(
          usual: try TLSContext.server(
            certificate: usual.certificate, key: usual.key, alpn: alpn, clientAuthorities: clients),
          bad: contexts)
      }
      http2 = try secured(["h2"])
      both = try secured(["h2", "http/1.1"])
    } catch {
      throw SandboxFailure(reason: "no TLS: \(error.reason)")
    }
  }

  /// `streams`: what a connection may carry at first. `vendor` is given the port, which it may need before it is made.
  func serve(
    _ versions: Versions, port: Int, address: String? = nil, streams: Int, _ vendor: (_ port: Int) -> any Vendor
  ) throws(SandboxFailure) -> (front: VendorFront, port: Int) {
    let secured: Secured? =
      switch versions {
      case .http2: http2
      case .both: both
      case .plain: nil
      }
    let server = try Sandbox.listen(port, settings) { port throws(ListenFailure) in
      var server = HTTP2ServerSettings()
      server.maximumConcurrentStreams = streams
      if case .http2 = versions {} else { server.speaksHTTP1 = true }
      server.maximumBody = Self.maximumBody
      return try HTTP2Server(
        loop: stage.loop, address: address ?? settings.address, port: port, tls: secured?.usual, settings: server)
    }
    let front = VendorFront(stage: stage, vendor: vendor(server.port), badCertificates: secured?.bad ?? [:])
    front.serve(server)
    return (front, server.port)
  }

  private static let maximumBody = 8 << 20
}
