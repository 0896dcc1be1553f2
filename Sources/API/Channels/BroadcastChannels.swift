import Domain
import HTTP2
import Loop
import TLS

/// Carries channel calls to providers: an authorization and a connection per account, kept for the next call, as
/// vendors take quick opening and closing for abuse. Belongs to the loop.
final class BroadcastChannels {
  private struct Counter {
    var authorization: any Authorization
    var caller: HTTP2Caller
    /// The header that the last call went with.
    var shown = ""
  }
  private let loop: EventLoop
  private let caFile: String?
  private let settings: HTTP2Settings
  private var counters: [CredentialID: Counter] = [:]

  init(loop: EventLoop, caFile: String?, settings: HTTP2Settings) {
    self.loop = loop
    self.caFile = caFile
    self.settings = settings
  }

  enum Failure: Error {
    /// No answer; `processed`: the provider may have done it.
    case unreachable(String, processed: Bool)
    case unauthorized(String)
    /// The configuration does not say whom to ask.
    case nowhere(String)
  }

  func carryOut(
    _ call: ChannelCall, _ account: any ChannelAccount, bundleID: String?, id: UUIDBytes
  ) async throws(Failure) -> ChannelReply {
    let reply = try await ask(call, account, bundleID: bundleID, id: id)
    guard case .refused(let refusal) = reply, refusal.cause == .authorizationExpired else { return reply }
    // Once more, with a fresh token on a new connection.
    counters[account.credential]?.authorization.refused(.authorizationExpired, now: loop.wallNow)
    counters[account.credential]?.caller.renew()
    return try await ask(call, account, bundleID: bundleID, id: id)
  }

  private func ask(
    _ call: ChannelCall, _ account: any ChannelAccount, bundleID: String?, id: UUIDBytes
  ) async throws(Failure) -> ChannelReply {
    if counters[account.credential] == nil { counters[account.credential] = try open(account) }
    let header: String
    switch counters[account.credential]!.authorization.need(now: loop.wallNow) {
    case .use(let value, _): header = value
    case .unavailable(_, let blocked): throw .unauthorized(blocked ?? "no access token is available now")
    // Providers with channels sign by themselves.
    case .fetch, .wait: throw .unauthorized("the credential cannot sign requests itself")
    }
    let caller = counters[account.credential]!.caller
    // Calls are few: the next header goes over a connection that has seen none, however long this one has seen the
    // last.
    if header != counters[account.credential]!.shown, counters[account.credential]!.authorization.headerInterval > 0 {
      caller.renew()
    }
    counters[account.credential]!.shown = header
    let request = account.request(call, bundleID: bundleID, id: id, authorization: header)
    do throws(HTTP2CallFailure) {
      return account.read(try await caller.send(request), to: call)
    } catch {
      throw .unreachable(error.reason, processed: error.processed)
    }
  }

  private func open(_ account: any ChannelAccount) throws(Failure) -> Counter {
    guard let origin = account.channelOrigin else {
      throw .nowhere(
        "the credential \(account.credential.rawValue) has its own `origin`: set the origin of channels too, as "
          + "`channels_origin`")
    }
    let tls: TLSContext
    do throws(TLSFault) {
      tls = try TLSContext.client(
        caFile: caFile, alpn: ["h2"], identity: account.clientCertificate.map { ($0.chain, $0.key) })
    } catch {
      throw .unauthorized(error.reason)
    }
    return Counter(
      authorization: account.makeAuthorization(),
      caller: HTTP2Caller(loop: loop, origin: origin, tls: tls, settings: settings))
  }

  /// Credentials have changed, or the service ends: calls at work fail.
  func close() {
    for counter in counters.values { counter.caller.close() }
    counters = [:]
  }
}
