import Configuration
import Delivery
import Domain
import HTTP2
import HTTPClient
import Loop
import TLS

/// Looks at one credential: what it says of itself, whether an authorization can be had, and a real handshake with it.
struct CredentialCheck {
  let account: any ProviderAccount
  let setup: Setup
  let loop: EventLoop

  /// Requests on the way to an access token, at most.
  private static let fetches = 4
  private static let fetchTimeout: Int64 = 15_000

  func run(handshake: Bool) async -> Finding {
    var finding = Finding(account.credential.rawValue)
    finding.facts = account.facts
    if let expiry = account.facts.expiryWarning(now: loop.wallNow) {
      if expiry.isOver { finding.problem = expiry.text } else { finding.warning = expiry.text }
    }
    guard handshake, finding.problem == nil else { return finding }
    var settings = HTTPClientSettings()
    settings.caFile = setup.configuration.caFile
    let client = HTTPClient(loop: loop, settings: settings)
    defer { client.close() }
    do {
      if let made = try await authorize(client) { finding.note = made + ", " }
      finding.note += try await greet(client)
    } catch {
      finding.problem = error.reason
      finding.note = ""
    }
    return finding
  }

  private struct Trouble: Error { let reason: String }

  private func authorize(_ client: HTTPClient) async throws(Trouble) -> String? {
    var authorization = account.makeAuthorization()
    let courier = TokenCourier(client: client, timeout: Self.fetchTimeout)
    for _ in 0..<Self.fetches {
      switch authorization.need(now: loop.wallNow) {
      case .use(let header, _): return header.isEmpty ? nil : "authorization made"
      case .unavailable(_, let blocked): throw Trouble(reason: blocked ?? "no access token can be had now")
      case .wait: throw Trouble(reason: "no access token was given")
      case .fetch(let fetch):
        do {
          authorization.fetched(try await courier.carry(fetch), now: loop.wallNow)
        } catch {
          throw Trouble(reason: "the token endpoint does not answer: \(error.reason)")
        }
      }
    }
    throw Trouble(reason: "no access token after \(Self.fetches) requests")
  }

  private func greet(_ client: HTTPClient) async throws(Trouble) -> String {
    let peer = account.origin.authority
    guard case .http2 = account.wire else {
      do {
        let answer = try await client.send(HTTPClientRequest(method: "GET", url: "https://\(peer)/"))
        return "\(peer) answers over TLS (\(answer.status))"
      } catch { throw Trouble(reason: "\(peer): \(error.reason)") }
    }
    let tls: TLSContext
    do {
      tls = try TLSContext.client(
        caFile: setup.configuration.caFile, alpn: ["h2"],
        identity: account.clientCertificate.map { ($0.chain, $0.key) })
    } catch { throw Trouble(reason: error.reason) }
    let greeting = Greeting()
    var connection: HTTP2ClientConnection?
    let end = await withUnsafeContinuation { (waiter: UnsafeContinuation<ConnectionEnd, Never>) in
      greeting.ended = { waiter.resume(returning: $0) }
      // Not before somebody waits for its end.
      connection = HTTP2ClientConnection(loop: loop, origin: account.origin, tls: tls, settings: setup.worker.http2)
      connection?.delegate = greeting
    }
    connection = nil
    if case .unreachable(let reason) = end { throw Trouble(reason: reason) }
    if case .lost(let reason) = end, greeting.streams == nil { throw Trouble(reason: "\(peer): \(reason)") }
    let streams = greeting.streams ?? 0
    return "\(peer) speaks HTTP/2 over TLS (\(streams == 1 ? "1 stream" : "\(streams) streams"))"
  }
}

/// Closes a connection as soon as it stands.
private final class Greeting: HTTP2ClientDelegate {
  var streams: Int?
  var ended: ((ConnectionEnd) -> Void)?

  func connected(_ connection: HTTP2ClientConnection) {
    streams = connection.streamLimit
    connection.close()
  }
  func answered(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ answer: ProviderAnswer) {}
  func failed(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ failure: StreamFailure) {}
  func capacityChanged(_ connection: HTTP2ClientConnection) {}
  func draining(_ connection: HTTP2ClientConnection, reason: String?) {}
  func closed(_ connection: HTTP2ClientConnection, _ reason: ConnectionEnd) {
    ended?(reason)
    ended = nil
  }
}
