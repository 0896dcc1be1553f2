import Domain
import Loop
import Store

/// Which delivery finds out for the others whether the credential may send again.
extension Sender {
  /// So many are looked through for one that has not failed before.
  private static let searched = 1_000

  /// Whether the next may go. A probe is, where there is one, a delivery that has not failed before: those that have
  /// may be what gets no answer: `isFresh`. `isUrgent` tells whose turn it is, and changes if only bulk has such a
  /// delivery.
  func passage(
    urgent isUrgent: inout Bool, onlyUrgent: Bool, now: Instant
  ) -> (passage: CircuitBreaker.Passage, isFresh: Bool) {
    guard gate.wantsProbe(now: now) else {
      // Where few may be at work at once, those that have failed before take every second place only.
      if gate.isOpen, limit.bound != nil, !gathersSlices {
        freshTurn.toggle()
        if freshTurn { _ = bringFreshLane(urgent: isUrgent, youngest: false) }
      }
      return (gate.passage(now: now, isFresh: false), false)
    }
    var isFresh = bringFresh(urgent: isUrgent)
    if !isFresh, isUrgent, !onlyUrgent, !gathersSlices, bringFresh(urgent: false) {
      (isUrgent, isFresh) = (false, true)
    }
    return (gate.passage(now: now, isFresh: isFresh), isFresh)
  }

  /// The next in turn has not failed before, now.
  private func bringFresh(urgent isUrgent: Bool) -> Bool {
    let youngest = gate.wantsAnother
    if gathersSlices {
      return closedSlices.isEmpty || closedSlices.bringFresh(among: Self.searched, youngest: youngest)
    }
    if bringFreshLane(urgent: isUrgent, youngest: youngest) { return true }
    guard !isUrgent, let batch = batches.first else { return false }
    // A member takes the slow path, as a probe is judged by itself.
    takeOneOut(of: batch)
    return bringFreshLane(urgent: false, youngest: false)
  }

  private func bringFreshLane(urgent isUrgent: Bool, youngest: Bool) -> Bool {
    let (lanes, concurrency, wall) = (worker.laneKeeper.lanes, context.settings.lane.concurrency, context.loop.wallNow)
    return bringForward(urgent: isUrgent, among: Self.searched, youngest: youngest) { lane in
      lanes.next(lane, concurrency: concurrency, now: wall).map { $0.sender === self && $0.isFresh } ?? false
    }
  }
}

extension ReadySlices {
  /// One request that has not failed before is the first of those whose turn it is.
  fileprivate mutating func bringFresh(among most: Int, youngest: Bool) -> Bool {
    bringForward(among: most, youngest: youngest) { $0.members[0].isFresh }
  }
}

extension Delivery {
  /// No request of it has failed.
  fileprivate var isFresh: Bool { attempts.spent == 0 }
}
