import Domain
import HTTPClient
import Loop
import TLS
import Telemetry

/// Makes what carries an account's requests. Loop-owned.
struct Transports {
  private let loop: EventLoop
  private let http: HTTPClient
  private let settings: WorkerSettings
  private let log: Log
  /// Of all accounts that show no certificate of their own.
  private let tls: TLSContext

  init(loop: EventLoop, http: HTTPClient, settings: WorkerSettings, log: Log) throws(TLSFault) {
    self.loop = loop
    self.http = http
    self.settings = settings
    self.log = log
    tls = try TLSContext.client(caFile: settings.caFile, alpn: ["h2"])
  }

  /// Connections of its own: APNs binds each to the first team, key and environment that it sees
  /// (protocols/apns.md section 6).
  func make(_ account: any ProviderAccount) throws(TLSFault) -> any Transport {
    switch account.wire {
    case .http2(let cautious):
      return HTTP2Pool(
        loop: loop, origin: account.origin, tls: try context(for: account), maximum: settings.connectionsPerCredential,
        cautious: cautious, settings: settings.http2, pool: settings.pool, log: log)
    case .http1(let connections):
      return CurlTransport(
        loop: loop, client: http, origin: account.origin, maximum: connections, timeout: settings.http1Timeout,
        pool: settings.pool)
    }
  }

  private func context(for account: any ProviderAccount) throws(TLSFault) -> TLSContext {
    guard let own = account.clientCertificate else { return tls }
    return try TLSContext.client(caFile: settings.caFile, alpn: ["h2"], identity: (own.chain, own.key))
  }
}
