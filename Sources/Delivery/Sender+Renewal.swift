import Domain
import Telemetry

/// Changed credentials while the worker runs: what is at work ends with the old ones, what waits goes with the new.
extension Sender {
  /// Why nothing goes out after `remove`.
  static let notConfigured = "not configured"

  /// The connections of an account that was replaced, until their last request has ended.
  struct Retired {
    var generation: Int
    var account: any ProviderAccount
    var carrier: any Carrier
  }

  /// Sends with `account` over `carrier` from now on. A suspended credential starts anew: its fault was the old one's.
  func renew(_ account: any ProviderAccount, carrier: any Carrier) {
    retire()
    replace(account: account, carrier: carrier)
    isRemoved = false
    worker.log(.info, "credential_renewed", ["credential": id.rawValue])
    tellCondition()
    isTaken()
    worker.wake(self)
  }

  /// The account, or what its vendor lets it send, is another now.
  func renewQuota() {
    quota = SenderQuota(worker.quotas[provider], group: account.quotaGroup, sender: self)
    subscriberLimit?.end()
    subscriberLimit = SubscriberLimit(worker.quotas[provider], account.subscriberRule, sender: self)
    worker.wake(self)
  }

  /// It left the configuration: nothing goes out any more, nothing is claimed, what is queued stays where it is until its time
  /// is over.
  func remove() {
    guard !isRemoved else { return }
    retire()
    isRemoved = true
    worker.log(.warning, "credential_removed", ["credential": id.rawValue])
    tellCondition()
  }

  private func retire() {
    guard !isRemoved else { return }
    carrier.drain()
    retired.append(Retired(generation: generation, account: account, carrier: carrier))
  }

  /// Lets go of connections that are at work no more.
  func tidyRetired() { retired.removeAll { $0.carrier.isDone } }

  /// The account that a request went out with.
  func account(of flight: Flight) -> any ProviderAccount {
    guard flight.generation != generation else { return account }
    return retired.first { $0.generation == flight.generation }?.account ?? account
  }
}
