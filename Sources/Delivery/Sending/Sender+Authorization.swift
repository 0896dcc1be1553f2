import Domain
import HTTPClient
import Loop
import Telemetry

/// How requests show who sends them.
extension Sender {
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
      let wait = min(max(1, until - wall), context.settings.gate.maximumWait)
      tell(gate.unavailable(blocked: blocked, passing: authorization.difficulty, until: now + wait))
      wake(at: now + wait, now: now)
      return nil
    }
  }

  /// False, once, where connections are left that must not see another header yet: one of them may have been chosen for
  /// what goes next.
  private func mayShow(_ header: String) -> Bool {
    guard header != shown else { return true }
    let isFirst = shown.isEmpty
    shown = header
    guard !isFirst, authorization.headerInterval > 0 else { return true }
    transport.headerChanges(interval: authorization.headerInterval)
    worker.turns.wake(self)
    return false
  }

  /// The operator may have acted: what was refused or waits is tried at once, by one delivery. With nothing to try, and
  /// no retry to come, what was known is dropped: the next send tells.
  func tryAgain() {
    guard !isRemoved else { return }
    let now = context.loop.now
    if !hasWork, streak.nextRetry.map({ $0 <= now }) ?? true {
      authorization.retry()
      resetGate()
      tellCondition()
    } else {
      if !gate.isOpen {
        authorization.retry()
        gate.hurry(now: now)
      }
      transport.hurry()
      worker.turns.wake(self)
    }
  }

  private func fetch(_ fetch: TokenFetch) {
    let asked = generation
    let tokenFetcher = AccessTokenFetcher(client: worker.http, timeout: context.settings.authorizationTimeout)
    tokenFetcher.carry(fetch) { [weak self] result in
      guard let self, generation == asked else { return }
      if case .failure(let failure) = result {
        context.log(.warning, "authorization_failed", ["credential": id.rawValue, "reason": failure.reason])
      }
      var answer = try? result.get()
      answer?.receivedAt = context.loop.wallNow
      authorization.fetched(answer, now: context.loop.wallNow)
      worker.turns.wake(self)
    }
  }
}
