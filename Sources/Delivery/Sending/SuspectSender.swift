import Domain
import Loop
import Store

/// Sends suspects: behind all others, and over connections of their own.
final class SuspectSender: SenderPart {
  /// What was at work when a connection ended.
  var queue = Suspects()

  var isEmpty: Bool { queue.isEmpty }

  func dispatch() {
    // The others tell more of the credential.
    guard !queue.isEmpty, sender.status.breaker.isClosed || !sender.hasWaitingOthers else { return }
    let now = loop.now
    let wall = loop.wallNow
    while context.mayOpen, !sender.isRemoved, !queue.isEmpty {
      guard let connectionSlot = sender.transport.asideSlot(together: queue.together) else {
        return sender.transport.demandAside(waiting: queue.count)
      }
      let probe: Bool
      switch sender.status.breaker.passage(now: now, isFresh: false) {
      case .go: probe = false
      case .probe: probe = true
      case .wait(let until): return sender.wake(at: until, now: now)
      }
      var isSent = false
      defer { if probe, !isSent { sender.status.breaker.withdrawn(now: now) } }
      guard let header = sender.authorizer.header(now: now, wall: wall),
        sender.subscriberLimit?.mayGo(1, now: now) ?? true,
        sender.quota?.mayGo(urgent: true, waiting: 1, now: now) ?? true
      else { return }
      guard let lane = queue.next(), let delivery = sender.requests.take(lane, asSuspect: true, now: now, wall: wall)
      else {
        continue
      }
      var pass = Sender.Pass(
        header: header, connectionSlot: connectionSlot, probe: probe, now: now, wall: wall,
        generation: sender.generation)
      pass.isAside = true
      guard sender.requests.send(delivery, pass) else { continue }
      isSent = true
      sender.quota?.spend(1, urgent: true)
      sender.subscriberLimit?.spend()
    }
  }

  /// A request that went aside has ended.
  func ended(isAnswered: Bool) {
    if isAnswered { queue.answered() } else { queue.unanswered() }
    if queue.isEmpty, usage.suspectsAtWork == 0 { sender.transport.restAside() } else { worker.turns.wake(sender) }
  }
}
