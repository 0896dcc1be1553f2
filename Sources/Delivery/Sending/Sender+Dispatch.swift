import Domain
import Loop

/// A sender at its turn: what goes next, as long as the connections, the limits and the credential let it.
extension Sender {
  /// Sends at most `quantum` requests; false: nothing more can go now.
  func dispatch(quantum: Int, onlyUrgent: Bool = false) -> Bool {
    if gathersSlices, !onlyUrgent { slices.gather() }
    defer { if !onlyUrgent { suspects.dispatch() } }
    var left = quantum
    let now = context.loop.now
    let wall = context.loop.wallNow
    while left > 0 {
      guard context.mayOpen, !isRemoved, hasReady else {
        if !hasReady { subscriberLimit?.rest() }
        return false
      }
      var isUrgent = hasUrgent
      guard isUrgent || !onlyUrgent else { return true }
      let reserve = isUrgent || gathersSlices ? 0 : Self.reserve
      guard limits.mayBegin(reserve: reserve, now: now) else { return false }
      guard reserve == 0 || limits.window.room(atWork: limits.occupied) > 0 else { return false }
      guard let connectionSlot = transport.connectionSlot(avoiding: nil, reserve: reserve) else {
        transport.demand()
        // A token can be fetched while the connection opens.
        if status.gate.isOpen { _ = authorizer.header(now: now, wall: wall) }
        return false
      }
      let probe: Bool
      let (passage, isFresh) = probing.passage(urgent: &isUrgent, onlyUrgent: onlyUrgent, now: now)
      switch passage {
      case .go: probe = false
      case .probe: probe = true
      case .wait(let until):
        wake(at: until, now: now)
        return false
      }
      guard let header = authorizer.header(now: now, wall: wall) else {
        if probe { status.gate.withdrawn(now: now) }
        return false
      }
      guard subscriberLimit?.mayGo(nextRecipients, now: now) ?? true,
        quota?.mayGo(urgent: isUrgent, waiting: ready(urgent: isUrgent), now: now) ?? true
      else {
        if probe { status.gate.withdrawn(now: now) }
        return false
      }
      var pass = Pass(
        header: header, connectionSlot: connectionSlot, probe: probe, now: now, wall: wall, generation: generation)
      pass.takesYoungest =
        probe ? !isFresh && status.gate.wantsAnother : transport.wantsAnother(connectionSlot: connectionSlot)
      if takesBatch(isUrgent: isUrgent) {
        // The probe is judged by itself.
        if probe, let batch = members.batches.first {
          status.gate.withdrawn(now: now)
          members.takeOneOut(of: batch)
          left -= 1
        } else {
          let turn = lanes.bulk.isEmpty ? left : min(left, Self.turn)
          let gone = members.send(pass, most: quota.map { min(turn, $0.inHand(urgent: false)) } ?? turn)
          quota?.spend(gone, urgent: false)
          left -= gone
        }
        continue
      }
      let sent = gathersSlices ? slices.sendNext(pass) : deliveries.sendNext(urgent: isUrgent, pass)
      if probe, !sent { status.gate.withdrawn(now: now) }
      if sent {
        quota?.spend(1, urgent: isUrgent)
        subscriberLimit?.spend()
      }
      left -= 1
    }
    return hasReady
  }

  private var hasReady: Bool {
    gathersSlices ? !slices.ready.isEmpty : !lanes.isEmpty || !members.batches.isEmpty
  }

  /// Members of a batch before a lane's turn.
  private static let turn = 16

  private func takesBatch(isUrgent: Bool) -> Bool {
    guard !gathersSlices, !isUrgent, !members.batches.isEmpty else { return false }
    batchesTurn = lanes.bulk.isEmpty || !batchesTurn
    return batchesTurn
  }

  private func ready(urgent isUrgent: Bool) -> Int {
    if gathersSlices { return isUrgent ? slices.ready.urgent.count : slices.ready.bulk.count }
    return isUrgent ? lanes.urgent.count : lanes.bulk.count + (members.batches.first?.waiting ?? 0)
  }

  /// What a request needs to go now.
  struct Pass {
    var header: String
    var connectionSlot: Int
    var probe: Bool
    var now: Instant
    var wall: WallTime
    var generation: Int
    /// Over a connection for suspects.
    var isAside = false
    /// Those whose turn it is may be what goes wrong: another one tells more.
    var takesYoungest = false
  }
}
