import Domain
import Loop
import Store
import Telemetry

/// What becomes of rows of batches: accepted, ended together, or handed to the slow path.
final class BatchSettler: WorkerPart {
  /// One that was not sent stays in its job.
  func abandon(_ row: LaneIndex.Row) {
    leaveLane(row)
    left(1, of: row.batch)
  }

  private func leaveLane(_ row: LaneIndex.Row) {
    guard let lane = row.lane else { return }
    worker.laneKeeper.lanes.change(lane) { $0.ended(ordered: row.batch.message.ordered) }
    worker.laneKeeper.requeue(lane)
  }

  /// A target of a direct send was accepted.
  func accepted(_ row: LaneIndex.Row, of batch: DirectBatch, _ receipt: PushReceipt) {
    leaveLane(row)
    left(1, of: batch)
    guard !batch.partition.isLost else { return counts.forgotten.add() }
    worker.flusher.add(
      batch.acceptance(of: row.place, at: row.at, receipt), of: batch.job, to: batch.partition)
  }

  /// Members of one batch that were accepted one after the other, and are written down together.
  struct Run {
    fileprivate var batch: MemberBatch?
    fileprivate var indexes: [UInt32] = []
    fileprivate var firstAttempt = WallTime(milliseconds: 0)
  }

  /// One more member was accepted. Whoever began the run must `close` it before others have their turn.
  func accepted(_ row: LaneIndex.Row, _ run: inout Run) {
    leaveLane(row)
    if run.batch !== row.batch {
      close(&run)
      run.batch = row.batch.asMembers
      run.firstAttempt = row.batch.firstAttempt ?? row.at
    }
    run.indexes.append(UInt32(row.batch.id(at: row.place).index))
    ledger.grouped(by: row.batch.sender.usage)
  }

  func close(_ run: inout Run) {
    guard let batch = run.batch else { return }
    let partition = batch.partition
    let indexes = run.indexes
    run.batch = nil
    run.indexes = []
    left(indexes.count, grouped: true, of: batch)
    guard !partition.isLost else { return counts.forgotten.add(UInt64(indexes.count)) }
    worker.flusher.add(
      accepted: indexes, of: batch.message.id, firstAttempt: run.firstAttempt, job: batch.job, to: partition)
  }

  // MARK: Batches

  /// Those of a batch that were not sent end alike.
  func endWaiting(of batch: DeliveryBatch, _ outcome: Outcome) {
    let sender = batch.sender
    for place in worker.laneKeeper.takeWaiting(of: batch) {
      if !batch.partition.isLost {
        worker.settler.write(
          batch.target(at: place) ?? batch.bare(at: place), outcome,
          reason: outcome == .expired ? batch.message.expiryReason(sender) : nil, sender: sender,
          job: batch.job, partition: batch.partition)
      }
      left(1, of: batch)
    }
  }

  /// A batch at its turn whose message may not go, or not any more; false: it may. It must leave its sender.
  func stop(_ batch: DeliveryBatch, now: WallTime) -> Bool {
    if batch.message.isCancelled {
      endWaiting(of: batch, .cancelled)
    } else if batch.message.isHeld(now: now) {
      worker.control.returnToJob(batch)
    } else if batch.message.startBy < now {
      endWaiting(of: batch, .expired)
    } else if let until = batch.until, until <= now {
      // Who was claimed before and moved since is told apart by the slow path.
      for place in worker.laneKeeper.takeWaiting(of: batch) { worker.admission.takeSlowPath(place, of: batch) }
    } else {
      return false
    }
    return true
  }

  /// Waiting rows that meet the condition, whose batches leave their sender.
  func endBatches(_ outcome: Outcome, where condition: (DeliveryBatch) -> Bool) {
    for sender in worker.senders.values {
      for batch in sender.batches.take(where: condition) { endWaiting(of: batch, outcome) }
    }
  }

  /// Waiting rows of a partition that is lost or leaving: they stay in their jobs.
  func dropBatches(of partition: Partition) {
    for sender in worker.senders.values {
      for batch in sender.batches.take(where: { $0.partition === partition }) { drop(batch) }
    }
    for batch in partition.parkedBatches { drop(batch) }
    partition.parkedBatches = []
  }

  /// Its waiting rows stay in their job; how many these were.
  @discardableResult
  func drop(_ batch: DeliveryBatch) -> Int {
    let count = worker.laneKeeper.takeWaiting(of: batch).count
    if count > 0 { left(count, of: batch) }
    return count
  }

  // MARK: The slow path

  /// What a row that was sent is to those who judge it: a started delivery in its lane.
  func slowPathRequest(_ row: LaneIndex.Row) -> InFlightRequest {
    let batch = row.batch
    guard let target = batch.target(at: row.place, wholly: false), let address = target.address else {
      preconditionFailure("a row was sent that cannot be read")
    }
    let delivery = Delivery(
      target, address: address, message: batch.message, partition: batch.partition, sender: batch.sender,
      job: batch.job, urgency: batch.urgency)
    // In memory it is counted as before.
    if let lane = row.lane {
      delivery.lane = lane
    } else {
      delivery.lane = worker.laneKeeper.lanes.open(LaneKey(app: batch.message.app, address: address))
      worker.laneKeeper.lanes.change(delivery.lane) { $0.joined(ordered: batch.message.ordered) }
    }
    return InFlightRequest(delivery, row)
  }

  /// The memory that rows took is free; nothing is said of what became of them.
  func left(_ count: Int, grouped: Bool = false, of batch: DeliveryBatch) {
    let partition = batch.partition
    ledger.left(batch.message, count, grouped: grouped, by: batch.sender.usage, in: partition.usage)
    if partition.isLeaving, partition.usage.inMemory == 0 { worker.leaseKeeper.handOverSoon(partition) }
  }
}

extension DirectBatch {
  /// As `DeliverySettler` writes it of a delivery that was accepted with its first request.
  fileprivate func acceptance(of place: Int, at time: WallTime, _ receipt: PushReceipt) -> Flush.Final {
    let id = targets[place].delivery
    let providerID: String? =
      switch receipt {
      case .unnamed: nil
      case .requestID: id.requestID.description
      case .named(let name): name
      }
    return Flush.Final(
      delivery: id, device: targets[place].device, provider: sender.provider, outcome: .accepted, reason: nil,
      platform: targets[place].facts?.platform, providerID: providerID,
      attempts: [Attempt(at: time, verdict: Outcome.accepted.rawValue, reason: nil, status: 200)])
  }
}
