import Configuration
import Delivery
import Domain
import Gateway
import HTTP2
import HTTPClient
import Loop
import TLS

/// Looks at one credential: what it says of itself, whether an authorization can be had, and whether its vendor takes
/// it.
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
    let peer = account.origin.authority
    do {
      guard let probe = account.probe(authorization: try await authorize(client)) else {
        finding.note = "not asked: each subscription names its own host"
        return finding
      }
      let answer = try await ask(probe, at: account.origin, client)
      switch account.read(probe: answer) {
      case .proven(let text): finding.note = "\(peer) accepts it: \(text)"
      case .reached(let text): finding.note = "\(peer) answers; \(text)"
      case .refused(let text): finding.problem = "\(peer) refuses it: \(text)"
      case .unclear(let text):
        let told = "\(peer) did not say whether it accepts the credential (\(text)): check again later"
        finding.warning = [finding.warning, told].compactMap { $0 }.joined(separator: "; ")
      }
    } catch {
      finding.problem = error.reason
      finding.isAway = error.isAway
    }
    if let text = await channelWarning(client) {
      finding.warning = [finding.warning, text].compactMap { $0 }.joined(separator: "; ")
    }
    return finding
  }

  /// Where channels are managed is another host: a list of them shows whether it answers. What it answers is no matter,
  /// as few apps have channels.
  private func channelWarning(_ client: HTTPClient) async -> String? {
    guard let channels = account as? any ChannelAccount, let origin = channels.channelOrigin else { return nil }
    do {
      let list = channels.request(
        .list, bundleID: nil, id: UUIDBytes.v5(namespace: Self.namespace, name: []),
        authorization: try await authorize(client))
      _ = try await ask(list, at: origin, client)
      return nil
    } catch {
      return "channels of Live Activities cannot be managed (\(error.reason)): see channels_origin"
    }
  }
  private static let namespace = UUIDBytes(high: 0x6661_6e66_6172_6540, low: 0x8063_6865_636b_6564)

  private struct Trouble: Error {
    let reason: String
    /// Nobody answered.
    var isAway = false
  }

  /// Nobody could be asked.
  private func away(_ subject: String, _ reason: String) -> Trouble {
    let told = reason.hasPrefix(subject) ? reason : "\(subject): \(reason)"
    // The words of OpenSSL and of libcurl.
    let isUntrusted = setup.configuration.caFile == nil && reason.contains("certificate")
    let fix = isUntrusted ? " (for a private certificate authority, name its file in `ca_file`)" : ""
    return Trouble(reason: told + fix, isAway: true)
  }

  private func authorize(_ client: HTTPClient) async throws(Trouble) -> String {
    var authorization = account.makeAuthorization()
    let tokenFetcher = AccessTokenFetcher(client: client, timeout: Self.fetchTimeout)
    for _ in 0..<Self.fetches {
      switch authorization.need(now: loop.wallNow) {
      case .use(let header, _): return header
      case .unavailable(_, let blocked): throw Trouble(reason: blocked ?? "no access token is available now")
      case .wait: throw Trouble(reason: "the token endpoint gave no access token")
      case .fetch(let fetch):
        do {
          authorization.fetched(try await tokenFetcher.carry(fetch), now: loop.wallNow)
        } catch {
          throw away("the token endpoint does not answer", error.reason)
        }
      }
    }
    throw Trouble(reason: "no access token after \(Self.fetches) requests")
  }

  private func ask(
    _ request: ProviderRequest, at origin: Origin, _ client: HTTPClient
  ) async throws(Trouble) -> ProviderAnswer {
    let peer = origin.authority
    guard case .http2 = account.wire else {
      do {
        return try await client.send(
          HTTPClientRequest(
            method: request.method, url: "https://\(peer)\(request.path)", headers: request.headers, body: request.body)
        )
      } catch { throw away(peer, error.reason) }
    }
    do {
      let tls = try TLSContext.client(
        caFile: setup.configuration.caFile, alpn: ["h2"],
        identity: account.clientCertificate.map { ($0.chain, $0.key) })
      let caller = HTTP2Caller(loop: loop, origin: origin, tls: tls, settings: setup.worker.http2)
      defer { caller.close() }
      return try await caller.send(request)
    } catch let fault as TLSFault {
      throw Trouble(reason: fault.reason)
    } catch let failure as HTTP2CallFailure {
      throw away(peer, failure.reason)
    } catch {
      throw Trouble(reason: "\(peer): \(error)")
    }
  }
}
