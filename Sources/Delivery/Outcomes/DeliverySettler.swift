import Domain
import Loop
import Store
import Telemetry

/// What becomes of deliveries: ended, waiting in the retry set, or back in their lane.
final class DeliverySettler: WorkerPart {
  // MARK: Started deliveries

  /// A started delivery has its outcome.
  func end(_ delivery: Delivery, _ outcome: Outcome, reason: String?, verdict: Verdict? = nil) {
    worker.laneKeeper.lanes.change(delivery.lane) { $0.ended(ordered: delivery.message.ordered) }
    finish(delivery, outcome, reason: reason, verdict: verdict)
    worker.laneKeeper.requeue(delivery.lane)
  }

  func end(_ deliveries: [Delivery], _ outcome: Outcome, reason: String?) {
    var settlement = Settlement()
    for delivery in deliveries { settlement.ended.append((delivery, nil, outcome, reason)) }
    settle(settlement)
  }

  /// A started delivery waits for its retry, out of memory but for an order barrier in its lane.
  func rest(_ delivery: Delivery, until due: WallTime, reason: String) {
    worker.barriers.leaveBarrier(delivery, until: due)
    if leaves(delivery) {
      worker.flusher.add(retry(delivery, due: due, reason: reason), of: delivery.job, to: delivery.partition)
    }
    worker.laneKeeper.requeue(delivery.lane)
  }

  private func retry(_ delivery: Delivery, due: WallTime, reason: String) -> Flush.RetryEntry {
    var target = delivery.target
    target.slice = delivery.slice
    return .init(target: target, due: due, reason: reason, attempts: delivery.news)
  }

  /// All that one request settled, in one piece: the members of a slice stay together.
  func settle(_ settlement: Settlement) {
    guard let partition = (settlement.ended.first?.delivery ?? settlement.resting.first?.delivery)?.partition else {
      return
    }
    var piece = FlushPlan.Piece()
    for (delivery, verdict, outcome, reason) in settlement.ended {
      worker.laneKeeper.lanes.change(delivery.lane) { $0.ended(ordered: delivery.message.ordered) }
      if leaves(delivery) {
        piece.finals.append(final(delivery, outcome, reason: reason, verdict: verdict))
        if let prune = worker.pruner.prune(delivery, verdict) { piece.prunes.append(prune) }
        if let job = ledger.ended(of: delivery.job, in: partition.usage) { piece.finishedJobs.append(job) }
      }
      worker.laneKeeper.requeue(delivery.lane)
    }
    for (delivery, due, reason) in settlement.resting {
      worker.barriers.leaveBarrier(delivery, until: due)
      if leaves(delivery) {
        partition.rests(delivery.id)
        piece.retries.append(retry(delivery, due: due, reason: reason))
        if let job = ledger.ended(of: delivery.job, in: partition.usage) { piece.finishedJobs.append(job) }
      }
      worker.laneKeeper.requeue(delivery.lane)
    }
    guard !partition.isLost, !piece.isEmpty else { return }
    partition.flush.add(piece)
    worker.flusher.flushSoon(partition)
  }

  /// Members of slices end together.
  func endSlices(_ members: [Delivery], _ outcome: Outcome) {
    for (_, members) in Dictionary(grouping: members, by: \.partition.number) { end(members, outcome, reason: nil) }
  }

  /// A started delivery goes again as soon as it can.
  func goBack(_ delivery: Delivery, first: Bool = true) {
    if returnToLane(delivery) { worker.laneKeeper.requeue(delivery.lane, first: first) }
  }

  /// Into its lane without a place in a queue; false: it ended instead.
  @discardableResult
  func returnToLane(_ delivery: Delivery) -> Bool {
    guard delivery.partition.mayWork else {
      abandon([delivery])
      return false
    }
    let result = worker.laneKeeper.lanes.change(delivery.lane) { $0.returned(delivery.entry, delivery: delivery.id) }
    supersede(result, entering: delivery)
    if result.entering { worker.laneKeeper.requeue(delivery.lane) }
    return !result.entering
  }

  /// Started deliveries of a lost partition: another worker sends them.
  func abandon(_ deliveries: [Delivery]) {
    for delivery in deliveries {
      worker.laneKeeper.lanes.change(delivery.lane) { $0.ended(ordered: delivery.message.ordered) }
      left(delivery)
      worker.laneKeeper.requeue(delivery.lane)
    }
  }

  // MARK: Waiting deliveries

  /// What the entering delivery made needless, or it itself.
  func supersede(_ result: Lane<Delivery>.Superseded, entering delivery: Delivery) {
    for entry in result.waiting { finish(entry.ticket, .superseded, reason: nil) }
    for barrier in result.resting {
      worker.barriers.barrierRemoved(barrier)
      supersedeResting(barrier, provider: delivery.address.provider)
    }
    if result.entering { finish(delivery, .superseded, reason: nil) }
  }

  private func supersedeResting(_ barrier: Lane<Delivery>.OrderBarrier, provider: ProviderName) {
    guard let partition = worker.leaseKeeper.partitions[barrier.delivery.partition] else { return }
    partition.superseded(barrier.delivery)
    let final = Flush.Final(
      delivery: barrier.delivery, device: barrier.device, provider: provider, outcome: .superseded, reason: nil,
      overtaken: barrier.overtaken)
    worker.flusher.add(final, to: partition)
  }

  // MARK: Writing down

  /// A delivery that has left its lane has its outcome.
  func finish(_ delivery: Delivery, _ outcome: Outcome, reason: String?, verdict: Verdict? = nil) {
    guard leaves(delivery) else { return }
    worker.flusher.add(
      final(delivery, outcome, reason: reason, verdict: verdict), prune: worker.pruner.prune(delivery, verdict),
      of: delivery.job,
      to: delivery.partition)
  }

  private func final(_ delivery: Delivery, _ outcome: Outcome, reason: String?, verdict: Verdict?) -> Flush.Final {
    var providerID: String?
    if case .accepted(let id)? = verdict { providerID = id }
    var final = Flush.Final(
      delivery: delivery.id, device: delivery.target.device, provider: delivery.address.provider, outcome: outcome,
      reason: reason, platform: delivery.target.facts?.platform, providerID: providerID, attempts: delivery.news,
      overtaken: delivery.overtaken)
    if outcome == .accepted, delivery.cap != nil { final.cap = worker.caps.countCap(of: delivery) }
    final.slice = delivery.slice?.key
    return final
  }

  /// The end of a delivery that never came into a lane.
  func write(
    _ target: ClaimedTarget, _ outcome: Outcome, reason: String?, sender: Sender, job: JobAtWork?,
    partition: Partition
  ) {
    worker.barriers.dropBarrier(of: target.delivery)
    var final = Flush.Final(
      delivery: target.delivery, device: target.device, provider: sender.provider, outcome: outcome, reason: reason,
      platform: target.facts?.platform)
    final.slice = target.slice?.key
    worker.flusher.add(final, of: job, to: partition)
  }

  /// The delivery leaves memory; false: its partition is lost, and nothing is written down.
  private func leaves(_ delivery: Delivery) -> Bool {
    left(delivery)
    if delivery.partition.isLost { counts.forgotten.add() }
    return !delivery.partition.isLost
  }

  func left(_ delivery: Delivery) {
    if delivery.cap != nil { worker.caps.releaseCap(of: delivery) }
    if !delivery.rateQueues.isEmpty { delivery.refund() }
    let partition = delivery.partition
    ledger.left(delivery.message, by: delivery.sender.usage, in: partition.usage)
    if partition.isLeaving, partition.usage.inMemory == 0 { worker.leaseKeeper.handOverSoon(partition) }
  }
}
