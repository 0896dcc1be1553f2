import Domain
import Loop
import Store

/// Order barriers: the places that deliveries keep in their lanes while they wait for a retry.
final class OrderBarriers: WorkerPart {
  /// A delivery that waits for its retry has left its lane.
  func leaveBarrier(_ delivery: Delivery, until due: WallTime) {
    var barrier: Lane<Delivery>.OrderBarrier?
    if !delivery.partition.isLost {
      barrier = self.barrier(
        delivery.target, place: delivery.place, message: delivery.message, due: due, since: delivery.firstAttempt,
        sender: delivery.sender, overtaken: delivery.overtaken, slice: delivery.slice)
    }
    let isLeft = worker.laneKeeper.lanes.change(delivery.lane) {
      $0.rested(ordered: delivery.message.ordered, leaving: barrier)
    }
    if isLeft { ledger.barrierSet(by: delivery.sender.usage) }
  }

  /// What a delivery in backoff leaves in its lane; nil: nothing, as no later one cares.
  func barrier(
    _ target: ClaimedTarget, place: Lane<Delivery>.Place, message: LoadedMessage, due: WallTime, since: WallTime?,
    sender: Sender, overtaken: Bool = false, slice: StoredSlice? = nil
  ) -> Lane<Delivery>.OrderBarrier? {
    // What is paused or cancelled delays nobody.
    if message.isAudience || message.isStopped { return nil }
    let end = (since ?? loop.wallNow) + settings.lane.orderHold
    // Waiting for one that comes back too late would not save the order.
    let holdsOrder = message.ordered && due <= end && !overtaken
    guard
      holdsOrder
        || ((message.ordered || message.collapseKey != nil) && sender.usage.barriers < settings.claim.barriers / 2)
    else {
      return nil
    }
    return .init(
      delivery: target.delivery, device: target.device, credential: target.credential, place: place,
      collapseKey: message.collapseKey, supersedable: (slice ?? target.slice) == nil,
      until: holdsOrder ? end : WallTime(milliseconds: 0), overtaken: overtaken)
  }

  /// Of a delivery whose barrier this worker has not seen from the beginning: it waits until `end` or longer, which is more than
  /// it may hold others, so that these were free to pass it.
  func mayHaveBeenPassed(_ message: LoadedMessage, since: WallTime?, by end: WallTime) -> Bool {
    guard let since, message.ordered, !message.isAudience else { return false }
    return since + settings.lane.orderHold < end
  }

  /// A delivery that ended or moved leaves no barrier behind.
  @discardableResult
  func dropBarrier(of delivery: DeliveryID) -> Lane<Delivery>.OrderBarrier? {
    guard worker.laneKeeper.lanes.barriers > 0, let (barrier, lane) = worker.laneKeeper.lanes.takeBarrier(of: delivery)
    else { return nil }
    barrierRemoved(barrier)
    if worker.laneKeeper.lanes.exists(lane) { worker.laneKeeper.requeue(lane) }
    return barrier
  }

  /// A barrier has left its lane.
  func barrierRemoved(_ barrier: Lane<Delivery>.OrderBarrier) {
    if let sender = worker.senders[barrier.credential] { ledger.barrierRemoved(by: sender.usage) }
  }

  func dropBarriers(of id: MessageID) {
    for lane in worker.laneKeeper.lanes.withBarriers {
      for barrier in worker.laneKeeper.lanes.change(lane, { $0.removeBarriers { $0.delivery.message == id } }) {
        barrierRemoved(barrier)
      }
      if worker.laneKeeper.lanes.exists(lane) { worker.laneKeeper.requeue(lane) }
    }
  }

  // MARK: A new owner

  /// Deliveries that wait for their retry keep later ones of their token waiting, also under a new owner (design D6): it
  /// learns of them before it claims anything. Returns when that is done, or the partition is lost.
  func recallBarriers(of partition: Partition) async {
    var place: JobQueue.RetryPlace?
    var left = settings.claim.barriers
    while left > 0, !partition.isLost, !isStopped, let lease = worker.leaseKeeper.leases[partition.number]?.lease {
      do throws(StoreError) {
        let waiting = try await store.queue.waitingRetries(lease, after: place, limit: min(left, Self.retriesPerRead))
        let ids = Set(waiting.found.map(\.target.delivery.message))
        guard let messages = await worker.claimer.load(ids, for: partition) else { return }
        for (target, due) in waiting.found {
          if let message = messages[target.delivery.message] { recall(target, message, due: due) }
        }
        guard let next = waiting.next else { return }
        place = next
        left -= Self.retriesPerRead
      } catch {
        worker.leaseKeeper.failed(error, partition)
        await loop.sleep(milliseconds: settings.flush.repeatAfter)
      }
    }
  }

  /// Retries that a new owner reads at a time.
  private static let retriesPerRead = 500

  private func recall(_ target: ClaimedTarget, _ message: LoadedMessage, due: WallTime) {
    guard let sender = worker.senders[target.credential], let address = target.address else { return }
    let place = Lane<Delivery>.Place(
      message: target.delivery.message, partition: target.delivery.partition, sequence: target.sequence,
      index: target.delivery.index)
    let since = target.attempts.first?.at
    guard
      let barrier = barrier(
        target, place: place, message: message, due: due, since: since, sender: sender,
        overtaken: mayHaveBeenPassed(message, since: since, by: max(due, loop.wallNow)))
    else { return }
    let lane = worker.laneKeeper.openLane(LaneKey(app: message.app, address: address))
    if worker.laneKeeper.lanes.change(lane, { $0.add(barrier) }) { ledger.barrierSet(by: sender.usage) }
  }
}
