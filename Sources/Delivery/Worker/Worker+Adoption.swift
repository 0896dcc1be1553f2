package import Domain
import Store
package import TLS

/// A configuration that changed while the worker runs.
extension Worker {
  /// Takes on the accounts of a new configuration: `changed` names those that are new or were opened from other
  /// settings. What is queued or at work stays; credentials that are gone keep what they hold until its time is over,
  /// and send nothing. Throws before it changes anything. `resolver`: of audiences that start from now on, `clocks`: of
  /// messages that are read from now on; nil: as before.
  package func adopt(
    _ accounts: [CredentialID: any ProviderAccount], changed: Set<CredentialID>,
    resolver: ((AppID, Message) -> (Address) -> Route)? = nil, clocks: ((AppID) -> AppClock)? = nil,
    rates: [AppID: Int]? = nil, quotas: [ProviderName: Quota]? = nil
  ) throws(TLSFault) {
    guard context.mayBegin else { return }
    var fresh: [(account: any ProviderAccount, transport: any Transport)] = []
    for (id, account) in accounts where changed.contains(id) || senders[id] == nil || senders[id]!.isRemoved {
      fresh.append((account, try transports.make(account)))
    }
    if let resolver { self.resolver = resolver }
    if let clocks { context.messages.timing = { [zones] in Timing($1, clocks($0), zones) } }
    if let rates { rateQueues.rates = rates }
    if let quotas, quotas != self.quotas {
      self.quotas = quotas
      for sender in senders.values { sender.renewQuota() }
    }
    for sender in senders.values where accounts[sender.id] == nil { sender.remove() }
    for (account, transport) in fresh {
      let id = account.credential
      unconfigured.configured(id, isNew: senders[id] == nil)
      context.messages.forgetRenderings(of: id)
      if let sender = senders[id] {
        sender.renew(account, transport: transport)
      } else {
        senders[id] = Sender(worker: self, account: account, transport: transport)
        context.background { try? await self.context.store.conditions.set(id, nil) }
      }
    }
    // Also where nothing changed here: what was wrong may have been mended at the provider.
    for sender in senders.values where !changed.contains(sender.id) { sender.tryAgain() }
    unconfigured.dropConditions(known: true)
    // Jobs of credentials that were unknown until now sent no wakeup that was heeded.
    for partition in leaseKeeper.partitions.values { sweeper.look(at: partition) }
  }
}
