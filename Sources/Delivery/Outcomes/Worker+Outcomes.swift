import Domain
import Loop
import Store
import Telemetry

/// What becomes of deliveries: ended, resting in the retry set, or back in their lane.
extension Worker {
  // MARK: Started deliveries

  /// A started delivery has its outcome.
  func end(_ delivery: Delivery, _ outcome: Outcome, reason: String?, verdict: Verdict? = nil) {
    lanes.change(delivery.lane) { $0.ended(ordered: delivery.message.ordered) }
    finish(delivery, outcome, reason: reason, verdict: verdict)
    requeue(delivery.lane)
  }

  func end(_ deliveries: [Delivery], _ outcome: Outcome, reason: String?) {
    var settlement = Settlement()
    for delivery in deliveries { settlement.ended.append((delivery, nil, outcome, reason)) }
    settle(settlement)
  }

  /// A started delivery waits for its retry, out of memory but for a hold in its lane.
  func rest(_ delivery: Delivery, until due: WallTime, reason: String) {
    leaveBarrier(delivery, until: due)
    if leaves(delivery) {
      add(retry(delivery, due: due, reason: reason), of: delivery.job, to: delivery.partition)
    }
    requeue(delivery.lane)
  }

  /// A delivery that ended or moved leaves no hold behind.
  @discardableResult
  func dropBarrier(of delivery: DeliveryID) -> Lane<Delivery>.OrderBarrier? {
    guard lanes.barriers > 0, let (barrier, lane) = lanes.takeBarrier(of: delivery) else { return nil }
    barrierRemoved(barrier)
    if lanes.exists(lane) { requeue(lane) }
    return barrier
  }

  /// A barrier has left its lane.
  func barrierRemoved(_ barrier: Lane<Delivery>.OrderBarrier) {
    if let sender = senders[barrier.credential] { ledger.barrierRemoved(by: sender.usage) }
  }

  private func leaveBarrier(_ delivery: Delivery, until due: WallTime) {
    var barrier: Lane<Delivery>.OrderBarrier?
    if !delivery.partition.isLost {
      barrier = self.barrier(
        delivery.target, place: delivery.place, message: delivery.message, due: due, since: delivery.firstAttempt,
        sender: delivery.sender, overtaken: delivery.overtaken, slice: delivery.slice)
    }
    lanes.change(delivery.lane) { $0.rested(ordered: delivery.message.ordered, leaving: barrier) }
    if barrier != nil { ledger.barrierSet(by: delivery.sender.usage) }
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
      lanes.change(delivery.lane) { $0.ended(ordered: delivery.message.ordered) }
      if leaves(delivery) {
        piece.finals.append(final(delivery, outcome, reason: reason, verdict: verdict))
        if let prune = prune(delivery, verdict) { piece.prunes.append(prune) }
        if let job = ledger.ended(of: delivery.job, in: partition.usage) { piece.finishedJobs.append(job) }
      }
      requeue(delivery.lane)
    }
    for (delivery, due, reason) in settlement.resting {
      leaveBarrier(delivery, until: due)
      if leaves(delivery) {
        piece.retries.append(retry(delivery, due: due, reason: reason))
        if let job = ledger.ended(of: delivery.job, in: partition.usage) { piece.finishedJobs.append(job) }
      }
      requeue(delivery.lane)
    }
    guard !partition.isLost, !piece.isEmpty else { return }
    partition.flush.add(piece)
    flushSoon(partition)
  }

  /// What a delivery in backoff leaves in its lane; nil: nothing, as no later one cares.
  func barrier(
    _ target: ClaimedTarget, place: Lane<Delivery>.Place, message: LoadedMessage, due: WallTime, since: WallTime?,
    sender: Sender, overtaken: Bool = false, slice: StoredSlice? = nil
  ) -> Lane<Delivery>.OrderBarrier? {
    // What is paused or cancelled holds up nobody.
    if message.isAudience || message.isStopped { return nil }
    let end = (since ?? loop.wallNow) + settings.lane.orderHold
    // Waiting for one that comes back too late would not save the order.
    let barriers = message.ordered && due <= end && !overtaken
    guard
      barriers
        || ((message.ordered || message.collapseKey != nil) && sender.usage.barriers < settings.claim.barriers / 2)
    else {
      return nil
    }
    return .init(
      delivery: target.delivery, device: target.device, credential: target.credential, place: place,
      collapseKey: message.collapseKey, supersedable: (slice ?? target.slice) == nil,
      until: barriers ? end : WallTime(milliseconds: 0), overtaken: overtaken)
  }

  /// A started delivery goes again as soon as it can.
  func goBack(_ delivery: Delivery, first: Bool = true) {
    if putBack(delivery) { requeue(delivery.lane, first: first) }
  }

  /// Into its lane without a place in a queue; false: it ended instead.
  @discardableResult
  func putBack(_ delivery: Delivery) -> Bool {
    guard delivery.partition.mayWork else {
      abandon([delivery])
      return false
    }
    let result = lanes.change(delivery.lane) { $0.returned(delivery.entry, delivery: delivery.id) }
    supersede(result, entering: delivery)
    if result.entering { requeue(delivery.lane) }
    return !result.entering
  }

  /// Started deliveries of a lost partition: another worker sends them.
  func abandon(_ deliveries: [Delivery]) {
    for delivery in deliveries {
      lanes.change(delivery.lane) { $0.ended(ordered: delivery.message.ordered) }
      left(delivery)
      requeue(delivery.lane)
    }
  }

  // MARK: Waiting deliveries

  /// What the entering delivery made needless, or it itself.
  func supersede(_ result: Lane<Delivery>.Superseded, entering delivery: Delivery) {
    for entry in result.waiting { finish(entry.ticket, .superseded, reason: nil) }
    for barrier in result.resting {
      barrierRemoved(barrier)
      supersedeResting(barrier, provider: delivery.address.provider)
    }
    if result.entering { finish(delivery, .superseded, reason: nil) }
  }

  private func supersedeResting(_ barrier: Lane<Delivery>.OrderBarrier, provider: ProviderName) {
    guard let partition = partitions[barrier.delivery.partition] else { return }
    partition.atHand.insert(barrier.delivery)
    let final = Flush.Final(
      delivery: barrier.delivery, device: barrier.device, provider: provider, outcome: .superseded, reason: nil,
      overtaken: barrier.overtaken)
    add(final, to: partition)
  }

  /// Waiting deliveries whose time is over end, and holds that ended let others go.
  func sweepLanes() {
    let now = loop.wallNow
    for delivery in takeWaiting(where: { $0.end(now: now) != nil }) {
      if let end = delivery.end(now: now) { finish(delivery, end.outcome, reason: end.reason) }
    }
    for sender in senders.values {
      expire(sender.takeSlices(where: { $0.end(now: now) != nil }, members: { $0.message.startBy < now }), now: now)
    }
    endBatches(.expired) { $0.message.startBy < now }
    for lane in lanes.withBarriers { requeue(lane) }
  }

  /// Members of slices end together.
  func endSlices(_ members: [Delivery], _ outcome: Outcome) {
    for (_, members) in Dictionary(grouping: members, by: \.partition.number) { end(members, outcome, reason: nil) }
  }

  private func expire(_ members: [Delivery], now: WallTime) {
    for (_, members) in Dictionary(grouping: members, by: \.partition.number) {
      var settlement = Settlement()
      for delivery in members {
        let end = delivery.end(now: now) ?? (.expired, delivery.expiryReason)
        settlement.ended.append((delivery, nil, end.outcome, end.reason))
      }
      settle(settlement)
    }
  }

  func takeWaiting(where condition: (Delivery) -> Bool) -> [Delivery] {
    var taken: [Delivery] = []
    for rateQueue in rateQueues.values { taken += rateQueue.remove(where: condition) }
    for delivery in taken { dropBarrier(of: delivery.id) }
    for lane in lanes.all where lanes.waits(lane) {
      let entries = lanes.change(lane) { $0.remove { condition($0.ticket) } }
      taken += entries.map(\.ticket)
    }
    return taken
  }

  /// Puts the lane into its sender's queue if it may start something.
  func requeue(_ lane: Int, first: Bool = false) {
    guard let next = lanes.enqueue(lane, concurrency: settings.lane.concurrency, now: loop.wallNow) else { return }
    next.sender.enqueue(lane: lane, next, first: first)
  }

  // MARK: Writing down

  /// A delivery that has left its lane has its outcome.
  func finish(_ delivery: Delivery, _ outcome: Outcome, reason: String?, verdict: Verdict? = nil) {
    guard leaves(delivery) else { return }
    add(
      final(delivery, outcome, reason: reason, verdict: verdict), prune: prune(delivery, verdict), of: delivery.job,
      to: delivery.partition)
  }

  private func final(_ delivery: Delivery, _ outcome: Outcome, reason: String?, verdict: Verdict?) -> Flush.Final {
    var providerID: String?
    if case .accepted(let id)? = verdict { providerID = id }
    var final = Flush.Final(
      delivery: delivery.id, device: delivery.target.device, provider: delivery.address.provider, outcome: outcome,
      reason: reason, platform: delivery.target.facts?.platform, providerID: providerID, attempts: delivery.news,
      overtaken: delivery.overtaken)
    if outcome == .accepted, delivery.cap != nil { final.cap = countCap(of: delivery) }
    final.slice = delivery.slice?.key
    return final
  }

  /// The end of a delivery that never came into a lane.
  func write(
    _ target: ClaimedTarget, _ outcome: Outcome, reason: String?, sender: Sender, job: JobAtWork?,
    partition: Partition
  ) {
    dropBarrier(of: target.delivery)
    var final = Flush.Final(
      delivery: target.delivery, device: target.device, provider: sender.provider, outcome: outcome, reason: reason,
      platform: target.facts?.platform)
    final.slice = target.slice?.key
    add(final, of: job, to: partition)
  }

  /// The delivery leaves memory; false: its partition is lost, and nothing is written down.
  private func leaves(_ delivery: Delivery) -> Bool {
    left(delivery)
    if delivery.partition.isLost { counts.forgotten.add() }
    return !delivery.partition.isLost
  }

  func left(_ delivery: Delivery) {
    if delivery.cap != nil { giveBackCap(of: delivery) }
    if !delivery.rateQueues.isEmpty { delivery.passed() }
    let partition = delivery.partition
    ledger.left(delivery.message, by: delivery.sender.usage, in: partition.usage)
    if partition.isLeaving, partition.usage.inMemory == 0 { handOverSoon(partition) }
  }
}
