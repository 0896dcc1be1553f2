import Domain
import Loop

/// The lanes of all tokens, and members of audiences that are at work without one.
final class LaneKeeper: WorkerPart {
  var lanes = Lanes<Delivery>()
  var inFlightMembers = InFlightMembers()

  /// The lane of a token; one that is new knows of the member of an audience that is at work there.
  func openLane(_ key: LaneKey) -> Int {
    let before = lanes.count
    let lane = lanes.open(key)
    if lanes.count > before, inFlightMembers.join(lane, key) { lanes.change(lane) { $0.joined() } }
    return lane
  }

  /// Puts the lane into its sender's queue if it may start something.
  func requeue(_ lane: Int, first: Bool = false) {
    guard let next = lanes.enqueue(lane, concurrency: settings.lane.concurrency, now: loop.wallNow) else { return }
    next.sender.enqueue(lane: lane, next, first: first)
  }

  /// Deliveries that wait, in lanes or for a rate, and meet the condition, leave both.
  func takeWaiting(where condition: (Delivery) -> Bool) -> [Delivery] {
    var taken: [Delivery] = []
    for rateQueue in worker.rateQueues.all { taken += rateQueue.remove(where: condition) }
    for delivery in taken { worker.barriers.dropBarrier(of: delivery.id) }
    for lane in lanes.all where lanes.waits(lane) {
      let entries = lanes.change(lane) { $0.remove { condition($0.ticket) } }
      taken += entries.map(\.ticket)
    }
    return taken
  }
}
