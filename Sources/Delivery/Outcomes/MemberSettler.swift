import Domain
import Loop
import Store
import Telemetry

/// What becomes of members of audiences on the fast path: accepted in groups, ended together, or handed to the slow
/// path.
final class MemberSettler: WorkerPart {
  /// One that was not sent stays in its job.
  func abandon(_ inFlight: InFlightMembers.InFlightRequest, _ sender: Sender) {
    leaveLane(inFlight)
    left(1, of: inFlight.batch, sender)
  }

  private func leaveLane(_ inFlight: InFlightMembers.InFlightRequest) {
    guard let lane = inFlight.lane else { return }
    worker.laneKeeper.lanes.change(lane) { $0.ended(ordered: false) }
    worker.laneKeeper.requeue(lane)
  }

  /// Members of one batch that were accepted one after the other, and are written down together.
  struct Run {
    fileprivate var batch: DeliveryBatch?
    fileprivate var indexes: [UInt32] = []
    fileprivate var firstAttempt = WallTime(milliseconds: 0)
  }

  /// One more was accepted. Whoever began the run must `close` it before others have their turn.
  func accepted(_ inFlight: InFlightMembers.InFlightRequest, _ run: inout Run, _ sender: Sender) {
    leaveLane(inFlight)
    if run.batch !== inFlight.batch {
      close(&run, sender)
      run.batch = inFlight.batch
      run.firstAttempt = inFlight.batch.firstAttempt ?? inFlight.at
    }
    run.indexes.append(UInt32(inFlight.batch.members.index(at: inFlight.place)))
    ledger.grouped(by: sender.usage)
  }

  func close(_ run: inout Run, _ sender: Sender) {
    guard let batch = run.batch else { return }
    let partition = batch.partition
    let indexes = run.indexes
    run.batch = nil
    run.indexes = []
    left(indexes.count, grouped: true, of: batch, sender)
    guard !partition.isLost else { return counts.forgotten.add(UInt64(indexes.count)) }
    worker.flusher.add(
      accepted: indexes, of: batch.message.id, firstAttempt: run.firstAttempt, job: batch.job, to: partition)
  }

  // MARK: Batches

  /// Those of a batch that were not sent end alike.
  func endWaiting(of batch: DeliveryBatch, _ outcome: Outcome, _ sender: Sender) {
    for place in batch.takeWaiting() {
      if !batch.partition.isLost {
        worker.settler.write(
          batch.members.target(at: place) ?? batch.members.bare(at: place), outcome,
          reason: outcome == .expired ? sender.status.told.condition?.reason : nil, sender: sender,
          job: batch.job, partition: batch.partition)
      }
      left(1, of: batch, sender)
    }
  }

  /// A batch at its turn whose message may not go, or not any more; false: it may. It must leave its sender.
  func stop(_ batch: DeliveryBatch, _ sender: Sender, now: WallTime) -> Bool {
    if batch.message.isCancelled {
      endWaiting(of: batch, .cancelled, sender)
    } else if batch.message.isHeld(now: now) {
      worker.control.returnToJob(batch, sender)
    } else if batch.message.startBy < now {
      endWaiting(of: batch, .expired, sender)
    } else if let until = batch.until, until <= now {
      // Who was claimed before and moved since is told apart by the slow path.
      for place in batch.takeWaiting() { worker.admission.takeSlowPath(place, of: batch, sender) }
    } else {
      return false
    }
    return true
  }

  /// Waiting members that meet the condition, whose batches leave their sender.
  func endBatches(_ outcome: Outcome, where condition: (DeliveryBatch) -> Bool) {
    for sender in worker.senders.values {
      for batch in sender.members.take(where: condition) { endWaiting(of: batch, outcome, sender) }
    }
  }

  /// Waiting members of a partition that is lost or leaving: they stay in their jobs.
  func dropBatches(of partition: Partition) {
    for sender in worker.senders.values {
      for batch in sender.members.take(where: { $0.partition === partition }) { drop(batch, sender) }
    }
    for (sender, batch) in partition.parkedBatches { drop(batch, sender) }
    partition.parkedBatches = []
  }

  func drop(_ batch: DeliveryBatch, _ sender: Sender) {
    let count = batch.takeWaiting().count
    if count > 0 { left(count, of: batch, sender) }
  }

  // MARK: The slow path

  /// What a member that was sent is to those who judge it: a started delivery in its lane.
  func slowPathRequest(_ inFlight: InFlightMembers.InFlightRequest, _ sender: Sender) -> InFlightRequest {
    let batch = inFlight.batch
    guard let target = batch.members.target(at: inFlight.place, wholly: false), let address = target.address else {
      preconditionFailure("a member was sent that cannot be read")
    }
    let delivery = Delivery(
      target, address: address, message: batch.message, partition: batch.partition, sender: sender, job: batch.job,
      urgency: .bulk)
    // In memory it is counted as before.
    if let lane = inFlight.lane {
      delivery.lane = lane
    } else {
      delivery.lane = worker.laneKeeper.lanes.open(LaneKey(app: batch.message.app, address: address))
      worker.laneKeeper.lanes.change(delivery.lane) { $0.joined() }
    }
    return InFlightRequest(delivery, inFlight)
  }

  /// The memory that members took is free; nothing is said of what became of them.
  func left(_ count: Int, grouped: Bool = false, of batch: DeliveryBatch, _ sender: Sender) {
    let partition = batch.partition
    ledger.left(batch.message, count, grouped: grouped, by: sender.usage, in: partition.usage)
    if partition.isLeaving, partition.usage.inMemory == 0 { worker.leaseKeeper.handOverSoon(partition) }
  }
}
