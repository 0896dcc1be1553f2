import Domain
import HTTPClient
import Loop
import Telemetry

/// How requests show who sends them.
final class Authorizer: SenderPart {
  private var authorization: any Authorization
  /// The header that requests went with last.
  private var shown = ""

  override init(_ sender: Sender) {
    authorization = sender.account.makeAuthorization(probeInterval: sender.context.settings.breaker.probeInterval)
    super.init(sender)
  }

  /// The account is another one now.
  func renew() {
    authorization = sender.account.makeAuthorization(probeInterval: settings.breaker.probeInterval)
    sender.metrics.credentialReplaced()
  }

  /// What was refused is tried once more.
  func retry() { authorization.retry() }
  func refused(_ cause: Retry.Cause) { authorization.refused(cause, now: loop.wallNow) }

  /// The header to send with, or nil while none can be had.
  func header(now: Instant, wall: WallTime) -> String? {
    switch authorization.need(now: wall) {
    case .use(let header, let early):
      if let early { fetch(early) }
      return mayShow(header) ? header : nil
    case .fetch(let fetch):
      self.fetch(fetch)
      return nil
    case .wait: return nil
    case .unavailable(let until, let blocked):
      let wait = min(max(1, until - wall), settings.breaker.maximumWait)
      let status = sender.status
      status.tell(status.breaker.unavailable(blocked: blocked, passing: authorization.difficulty, until: now + wait))
      sender.wake(at: now + wait, now: now)
      return nil
    }
  }

  /// False, once, where connections are left that must not see another header yet: one of them may have been chosen for
  /// what goes next.
  private func mayShow(_ header: String) -> Bool {
    guard header != shown else { return true }
    let isFirst = shown.isEmpty
    shown = header
    sender.metrics.tokenChanged(now: loop.now)
    guard !isFirst, authorization.headerInterval > 0 else { return true }
    sender.transport.headerChanges(interval: authorization.headerInterval)
    worker.turns.wake(sender)
    return false
  }

  private func fetch(_ fetch: TokenFetch) {
    let asked = sender.generation
    let tokenFetcher = AccessTokenFetcher(client: worker.http, timeout: settings.authorizationTimeout)
    tokenFetcher.carry(fetch) { [weak self] result in
      guard let self, sender.generation == asked else { return }
      if case .failure(let failure) = result {
        log(.warning, "authorization_failed", ["credential": sender.id.rawValue, "reason": failure.reason])
      }
      var answer = try? result.get()
      answer?.receivedAt = loop.wallNow
      authorization.fetched(answer, now: loop.wallNow)
      worker.turns.wake(sender)
    }
  }
}
