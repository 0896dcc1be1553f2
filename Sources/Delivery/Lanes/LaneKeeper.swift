import Domain
import Loop
import Store

/// The lanes of all tokens, and who needs none.
final class LaneKeeper: WorkerPart {
  var lanes = Lanes<Delivery>()
  var index = LaneIndex()

  /// The lane of a token. Who stands in the index with that token joins it: a row at work counts there from now on, and
  /// one that waits leaves its batch and waits there.
  func openLane(_ key: LaneKey) -> Int {
    guard let (number, row) = index.row(key.hash) else { return lanes.open(key) }
    guard row.isAtWork else {
      row.batch.asDirect?.leave(row.place)
      _ = index.end(number)
      worker.admission.takeSlowPath(row.place, of: row.batch)
      return lanes.open(key)
    }
    let lane = lanes.open(key)
    index.join(number, lane)
    lanes.change(lane) { $0.joined(ordered: row.batch.message.ordered) }
    return lane
  }

  /// A row of a batch may wait without a lane; false: another delivery is at its token, or has left a barrier anywhere.
  func wait(_ place: Int, of batch: DirectBatch) -> Bool {
    guard let address = batch.targets[place].address, address.provider == batch.sender.provider else { return false }
    let hash = TokenTable.hash(address.token, owner: batch.owner)
    guard index.tokens.number(hash) == nil, !lanes.has(hash), !lanes.hasBarrier(of: batch.targets[place].delivery)
    else { return false }
    batch.wait(place, index.wait(place, of: batch, hash: hash))
    return true
  }

  /// All rows that wait leave their batch.
  func takeWaiting(of batch: DeliveryBatch) -> [Int] {
    let places = batch.takeWaiting()
    if let direct = batch.asDirect { for place in places { _ = index.end(direct.number(at: place)) } }
    return places
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
