import Domain
import Loop

/// Suspects on their way: behind all others, and over connections of their own.
extension Sender {
  /// Places that are taken of those that the limits allow: suspects have none, nor has who waits for an answer that is
  /// late.
  var occupied: Int {
    let all = usage.atWork - usage.suspectsAtWork
    guard limit.bound != nil || window.bound != nil else { return all }
    return max(0, all - transport.requests(olderThan: limit.patience))
  }

  /// One more may begin. If not, those at work may be late by and by.
  func mayBegin(reserve: Double, now: Instant) -> Bool {
    if limit.mayBegin(atWork: occupied, reserve: reserve) { return true }
    wake(at: now + limit.patience, now: now)
    return false
  }

  func dispatchSuspects() {
    // The others tell more of the credential.
    guard !suspects.isEmpty, gate.isOpen || !hasWaitingOthers else { return }
    let now = context.loop.now
    let wall = context.loop.wallNow
    while context.mayOpen, !isRemoved, !suspects.isEmpty {
      guard let connectionSlot = transport.asideSlot(together: suspects.together) else {
        return transport.demandAside(waiting: suspects.count)
      }
      let probe: Bool
      switch gate.passage(now: now, isFresh: false) {
      case .go: probe = false
      case .probe: probe = true
      case .wait(let until): return wake(at: until, now: now)
      }
      var isSent = false
      defer { if probe, !isSent { gate.withdrawn(now: now) } }
      guard let header = header(now: now, wall: wall), subscriberLimit?.mayGo(1, now: now) ?? true,
        quota?.mayGo(urgent: true, waiting: 1, now: now) ?? true
      else { return }
      guard let lane = suspects.next(), let delivery = take(lane, asSuspect: true, now: now, wall: wall) else {
        continue
      }
      var pass = Pass(
        header: header, connectionSlot: connectionSlot, probe: probe, now: now, wall: wall, generation: generation)
      pass.isAside = true
      guard send(delivery, pass) else { continue }
      isSent = true
      quota?.spend(1, urgent: true)
      subscriberLimit?.spend()
    }
  }

  /// A request that went aside has ended.
  func suspectEnded(isAnswered: Bool) {
    if isAnswered { suspects.answered() } else { suspects.unanswered() }
    if suspects.isEmpty, usage.suspectsAtWork == 0 { transport.restAside() } else { worker.turns.wake(self) }
  }
}
