import Domain
import Loop
import Telemetry

/// Changed credentials while the worker runs: what is at work ends with the old ones, what waits goes with the new.
extension Sender {
  /// Why nothing goes out after `remove`.
  static let notConfigured = "not configured"

  /// The connections of an account that was replaced, until their last request has ended.
  struct Retired {
    var generation: Int
    var account: any ProviderAccount
    var transport: any Transport
  }

  /// Sends with `account` over `transport` from now on. A suspended credential starts anew: its fault was the old
  /// one's.
  func renew(_ account: any ProviderAccount, transport: any Transport) {
    retire()
    replace(account: account, transport: transport)
    isRemoved = false
    context.log(.info, "credential_renewed", ["credential": id.rawValue])
    status.tellCondition()
    status.isTaken()
    worker.turns.wake(self)
  }

  /// The account, or what its vendor lets it send, is another now.
  func renewQuota() {
    quota = SenderQuota(worker.quotas[provider], group: account.quotaGroup, sender: self)
    subscriberLimit?.end()
    subscriberLimit = SubscriberLimit(worker.quotas[provider], account.subscriberRule, sender: self)
    worker.turns.wake(self)
  }

  /// It left the configuration: nothing goes out any more, nothing is claimed, what is queued stays where it is until
  /// its time is over.
  func remove() {
    guard !isRemoved else { return }
    retire()
    isRemoved = true
    context.log(.warning, "credential_removed", ["credential": id.rawValue])
    status.tellCondition()
  }

  /// The operator may have acted: what was refused or waits is tried at once, by one delivery. With nothing to try, and
  /// no retry to come, what was known is dropped: the next send tells.
  func tryAgain() {
    guard !isRemoved else { return }
    let now = context.loop.now
    if !hasWork, status.streak.nextRetry.map({ $0 <= now }) ?? true {
      authorizer.retry()
      status.resetBreaker()
      status.tellCondition()
    } else {
      if !status.breaker.isClosed {
        authorizer.retry()
        status.breaker.hurry(now: now)
      }
      transport.hurry()
      worker.turns.wake(self)
    }
  }

  private func retire() {
    guard !isRemoved else { return }
    transport.drain()
    retired.append(Retired(generation: generation, account: account, transport: transport))
  }

  /// Ends all that is at work.
  func close() {
    transport.close()
    for old in retired { old.transport.close() }
  }

  /// Lets go of connections that are at work no more.
  func tidyRetired() { retired.removeAll { $0.transport.isDone } }

  /// The account that a request went out with.
  func account(of inFlight: InFlightRequest) -> any ProviderAccount {
    guard inFlight.generation != generation else { return account }
    return retired.first { $0.generation == inFlight.generation }?.account ?? account
  }
}
