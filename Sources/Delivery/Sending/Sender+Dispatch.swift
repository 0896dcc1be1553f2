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
      batches.trim()
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
        if status.breaker.isClosed { _ = authorizer.header(now: now, wall: wall) }
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
        if probe { status.breaker.withdrawn(now: now) }
        return false
      }
      guard subscriberLimit?.mayGo(nextRecipients, now: now) ?? true,
        quota?.mayGo(urgent: isUrgent, waiting: ready(urgent: isUrgent), now: now) ?? true
      else {
        if probe { status.breaker.withdrawn(now: now) }
        return false
      }
      var pass = Pass(
        header: header, connectionSlot: connectionSlot, probe: probe, now: now, wall: wall, generation: generation)
      pass.takesYoungest =
        probe ? !isFresh && status.breaker.wantsAnother : transport.wantsAnother(connectionSlot: connectionSlot)
      if let kind = nextBatches(isUrgent: isUrgent) {
        // The probe is judged by itself.
        if probe {
          status.breaker.withdrawn(now: now)
          _ = requests.takeOneOut(kind, youngest: pass.takesYoungest)
          left -= 1
        } else {
          let turn = isAlone(kind) ? left : min(left, Self.turn)
          let gone = requests.send(kind, pass, most: quota.map { min(turn, $0.inHand(urgent: isUrgent)) } ?? turn)
          quota?.spend(gone, urgent: isUrgent)
          left -= gone
        }
        continue
      }
      let sent = gathersSlices ? slices.sendNext(pass) : requests.sendNext(urgent: isUrgent, pass)
      if probe, !sent { status.breaker.withdrawn(now: now) }
      if sent {
        quota?.spend(1, urgent: isUrgent)
        subscriberLimit?.spend()
      }
      left -= 1
    }
    return hasReady
  }

  private var hasReady: Bool {
    gathersSlices ? !slices.ready.isEmpty : !lanes.isEmpty || !batches.isEmpty
  }

  /// Rows of batches before a lane's turn, or that of other batches.
  private static let turn = 16

  /// The batches whose turn it is; nil: it is the lanes'.
  private func nextBatches(isUrgent: Bool) -> ReadyBatches.Kind? {
    guard !gathersSlices, !batches.isEmpty else { return nil }
    guard !isUrgent else {
      let urgent = !batches.urgent.isEmpty && (lanes.urgent.isEmpty || lastUrgent == nil)
      lastUrgent = urgent ? .urgent : nil
      return lastUrgent
    }
    let others: [ReadyBatches.Kind] = lastBulk == nil ? [.bulk, .members] : lastBulk == .bulk ? [.members] : []
    for kind in others where batches.first(kind) != nil {
      lastBulk = kind
      return kind
    }
    lastBulk = nil
    guard lanes.bulk.isEmpty else { return nil }
    lastBulk = batches.first(.bulk) != nil ? .bulk : batches.first(.members) != nil ? .members : nil
    return lastBulk
  }

  /// Nothing else of its urgency waits for a turn.
  private func isAlone(_ kind: ReadyBatches.Kind) -> Bool {
    switch kind {
    case .urgent: lanes.urgent.isEmpty
    case .bulk: lanes.bulk.isEmpty && batches.members.isEmpty
    case .members: lanes.bulk.isEmpty && batches.bulk.isEmpty
    }
  }

  /// Whatever had its turn last, the lanes have theirs now.
  func lanesAreNext() { (lastUrgent, lastBulk) = (.urgent, .members) }

  private func ready(urgent isUrgent: Bool) -> Int {
    if gathersSlices { return isUrgent ? slices.ready.urgent.count : slices.ready.bulk.count }
    if isUrgent { return lanes.urgent.count + (batches.urgent.first?.waiting ?? 0) + max(0, batches.urgent.count - 1) }
    return lanes.bulk.count + (batches.bulk.first?.waiting ?? 0) + (batches.members.first?.waiting ?? 0)
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
