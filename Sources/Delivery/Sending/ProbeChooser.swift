import Domain
import Loop
import Store

/// Chooses which delivery finds out for the others whether the credential may send again.
final class ProbeChooser: SenderPart {
  /// Next goes one that has not failed before, if there is one.
  private var freshTurn = false

  /// So many are looked through for one that has not failed before.
  private static let searched = 1_000

  /// Whether the next may go. A probe is, where there is one, a delivery that has not failed before: those that have
  /// may be what gets no answer: `isFresh`. `isUrgent` tells whose turn it is, and changes if only bulk has such a
  /// delivery.
  func passage(
    urgent isUrgent: inout Bool, onlyUrgent: Bool, now: Instant
  ) -> (passage: CircuitBreaker.Passage, isFresh: Bool) {
    guard sender.status.breaker.wantsProbe(now: now) else {
      // Where few may be at work at once, those that have failed before take every second place only.
      if sender.status.breaker.isClosed, sender.limits.limit.bound != nil, !sender.gathersSlices {
        freshTurn.toggle()
        if freshTurn { _ = bringFreshLane(urgent: isUrgent, youngest: false) }
      }
      return (sender.status.breaker.passage(now: now, isFresh: false), false)
    }
    var isFresh = bringFresh(urgent: isUrgent)
    if !isFresh, isUrgent, !onlyUrgent, !sender.gathersSlices, bringFresh(urgent: false) {
      (isUrgent, isFresh) = (false, true)
    }
    return (sender.status.breaker.passage(now: now, isFresh: isFresh), isFresh)
  }

  /// The next in turn has not failed before, now.
  private func bringFresh(urgent isUrgent: Bool) -> Bool {
    let youngest = sender.status.breaker.wantsAnother
    if sender.gathersSlices {
      return sender.slices.ready.isEmpty || sender.slices.ready.bringFresh(among: Self.searched, youngest: youngest)
    }
    if bringFreshLane(urgent: isUrgent, youngest: youngest) { return true }
    // A row takes the slow path, as a probe is judged by itself.
    let kinds: [ReadyBatches.Kind] = isUrgent ? [.urgent] : [.bulk, .members]
    guard kinds.contains(where: { sender.requests.takeOneOut($0, youngest: youngest) }) else { return false }
    return bringFreshLane(urgent: isUrgent, youngest: youngest)
  }

  private func bringFreshLane(urgent isUrgent: Bool, youngest: Bool) -> Bool {
    let (lanes, concurrency, wall) = (worker.laneKeeper.lanes, settings.lane.concurrency, loop.wallNow)
    let sender = self.sender
    return sender.lanes.bringForward(urgent: isUrgent, among: Self.searched, youngest: youngest) { lane in
      lanes.next(lane, concurrency: concurrency, now: wall).map { $0.sender === sender && $0.isFresh } ?? false
    }
  }
}

extension ReadySlices {
  /// One request that has not failed before is the first of those whose turn it is.
  fileprivate mutating func bringFresh(among most: Int, youngest: Bool) -> Bool {
    bringForward(among: most, youngest: youngest) { $0.isFresh }
  }
}

extension SlicePlan<SliceTicket>.Closed {
  /// No request of it has failed.
  fileprivate var isFresh: Bool { if case .delivery(let first) = members[0] { first.isFresh } else { true } }
}

extension Delivery {
  /// No request of it has failed.
  fileprivate var isFresh: Bool { attempts.spent == 0 }
}
