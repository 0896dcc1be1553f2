import Domain
import Loop
import Store

/// Brings claimed deliveries into memory: into their lanes or their batch, or to their end if there is nobody to send
/// to.
final class Admission: WorkerPart {
  /// A delivery comes into memory: into its lane, or to its end if there is nobody to send to.
  func enter(
    _ target: ClaimedTarget, _ message: LoadedMessage?, job: JobAtWork?, urgency: Urgency,
    through rateQueue: RateLimitedQueue? = nil,
    partition: Partition
  ) {
    guard let sender = worker.senders[target.credential] else {
      worker.retries.postpone(target, partition: partition)
      return
    }
    guard var message else {
      return worker.settler.write(
        target, .failed, reason: "message_expired", sender: sender, job: job, partition: partition)
    }
    guard let address = target.address else {
      // Taken away by its owner, or dead at its provider: the first is nobody's failure.
      let gone = target.gone ?? SkipReason.deviceDeleted.rawValue
      let deleted = SkipReason(rawValue: gone) != nil
      if let slice = target.slice { sender.slices.absent(from: slice) }
      return worker.settler.write(
        target, deleted ? .skipped : .dead, reason: gone, sender: sender, job: job,
        partition: partition)
    }
    if message.isCancelled {
      return worker.settler.write(target, .cancelled, reason: nil, sender: sender, job: job, partition: partition)
    }
    message = message.begun(for: target)
    if let timing = message.timing {
      let zone = target.facts?.timeZone
      switch timing.decide(zone, now: loop.wallNow) {
      case .go: break
      case .hold(let until):
        return hold(
          target, until: until, reason: until > message.startedAt ? Timing.quietReason : Timing.localReason, message,
          sender: sender, job: job, partition: partition)
      case .skip:
        return worker.settler.write(
          target, .skipped, reason: Timing.quietReason, sender: sender, job: job, partition: partition)
      }
    }
    var use: CapUse?
    if message.content?.cap != nil {
      switch worker.caps.cap(target, message, partition) {
      case .free: break
      case .counted(let counted): use = counted
      case .full:
        if let slice = target.slice { sender.slices.absent(from: slice) }
        return worker.settler.write(
          target, .skipped, reason: Cap.reason, sender: sender, job: job, partition: partition)
      case .unknown:
        return hold(
          target, until: loop.wallNow + Self.capPause, reason: Cap.reason, message, sender: sender, job: job,
          partition: partition)
      }
    }
    let delivery = Delivery(
      target, address: address, message: message, partition: partition, sender: sender, job: job,
      urgency: urgency)
    delivery.cap = use
    ledger.claimed(message, by: sender.usage, in: partition.usage)
    if let rateQueue { rateQueue.add(delivery) } else { enterLane(delivery) }
  }

  /// It may go as soon as its token and its credential have room.
  func enterLane(_ delivery: Delivery) {
    let lane = worker.laneKeeper.openLane(LaneKey(app: delivery.message.app, address: delivery.address))
    delivery.lane = lane
    let result = worker.laneKeeper.lanes.change(lane) { $0.add(delivery.entry, delivery: delivery.id) }
    if let barrier = result.own {
      ledger.barrierRemoved(by: delivery.sender.usage)
      delivery.overtaken = barrier.overtaken
    } else if let barrier = worker.barriers.dropBarrier(of: delivery.id) {
      // Its device has another token by now.
      delivery.overtaken = barrier.overtaken
    } else {
      delivery.overtaken = worker.barriers.mayHaveBeenPassed(
        delivery.message, since: delivery.firstAttempt, by: loop.wallNow)
    }
    worker.settler.supersede(result, entering: delivery)
    worker.laneKeeper.requeue(lane)
  }

  /// Deliveries whose cap is not known look again after this.
  private static let capPause: Int64 = 500

  /// Its own time has not come: it waits out of memory, unless that would be too late.
  private func hold(
    _ target: ClaimedTarget, until: WallTime, reason: String, _ message: LoadedMessage, sender: Sender,
    job: JobAtWork?, partition: Partition
  ) {
    let isFirst = target.attempts.isEmpty
    if let slice = target.slice { sender.slices.absent(from: slice) }
    guard isFirst ? until <= message.startBy : until < message.expiresAt else {
      return worker.settler.write(target, .expired, reason: reason, sender: sender, job: job, partition: partition)
    }
    let entry = Flush.RetryEntry(target: target, due: until, reason: reason, attempts: [])
    worker.flusher.add(entry, of: job, to: partition)
  }
}
