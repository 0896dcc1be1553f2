import Domain
import Loop
import Store
import Telemetry

/// What becomes of deliveries: ended, resting in the retry set, or back in their lane.
extension Worker {
  // MARK: Started deliveries

  /// A started delivery has its outcome.
  func end(_ parcel: Parcel, _ outcome: Outcome, reason: String?, verdict: Verdict? = nil) {
    lanes.change(parcel.lane) { $0.ended(ordered: parcel.message.ordered) }
    finish(parcel, outcome, reason: reason, verdict: verdict)
    requeue(parcel.lane)
  }

  func end(_ parcels: [Parcel], _ outcome: Outcome, reason: String?) {
    var settlement = Settlement()
    for parcel in parcels { settlement.ended.append((parcel, nil, outcome, reason)) }
    settle(settlement)
  }

  /// A started delivery waits for its retry, out of memory but for a hold in its lane.
  func rest(_ parcel: Parcel, until due: WallTime, reason: String) {
    leaveHold(parcel, until: due)
    if leaves(parcel) {
      parcel.partition.flush.add(retry(parcel, due: due, reason: reason), finishedJob: parcel.job?.one())
      unflushed += 1
      flushSoon(parcel.partition)
    }
    requeue(parcel.lane)
  }

  /// A delivery that ended or moved leaves no hold behind.
  @discardableResult
  func dropHold(of delivery: DeliveryID) -> Lane<Parcel>.Hold? {
    guard lanes.holds > 0, let (hold, lane) = lanes.takeHold(of: delivery) else { return nil }
    senders[hold.credential]?.holds -= 1
    if lanes.exists(lane) { requeue(lane) }
    return hold
  }

  private func leaveHold(_ parcel: Parcel, until due: WallTime) {
    var hold: Lane<Parcel>.Hold?
    if !parcel.partition.isLost {
      hold = self.hold(
        parcel.target, place: parcel.place, message: parcel.message, due: due, since: parcel.firstAttempt,
        sender: parcel.sender, overtaken: parcel.overtaken, slice: parcel.slice)
    }
    lanes.change(parcel.lane) { $0.rested(ordered: parcel.message.ordered, leaving: hold) }
    if hold != nil { parcel.sender.holds += 1 }
  }

  private func retry(_ parcel: Parcel, due: WallTime, reason: String) -> Flush.RetryEntry {
    var target = parcel.target
    target.slice = parcel.slice
    return .init(target: target, due: due, reason: reason, attempts: parcel.news)
  }

  /// All that one request settled, in one piece: the members of a slice stay together.
  func settle(_ settlement: Settlement) {
    guard let partition = (settlement.ended.first?.parcel ?? settlement.resting.first?.parcel)?.partition else {
      return
    }
    var piece = FlushPlan.Piece()
    for (parcel, verdict, outcome, reason) in settlement.ended {
      lanes.change(parcel.lane) { $0.ended(ordered: parcel.message.ordered) }
      if leaves(parcel) {
        piece.finals.append(final(parcel, outcome, reason: reason, verdict: verdict))
        if let prune = prune(parcel, verdict) { piece.prunes.append(prune) }
        if let job = parcel.job?.one() { piece.finishedJobs.append(job) }
      }
      requeue(parcel.lane)
    }
    for (parcel, due, reason) in settlement.resting {
      leaveHold(parcel, until: due)
      if leaves(parcel) {
        piece.retries.append(retry(parcel, due: due, reason: reason))
        if let job = parcel.job?.one() { piece.finishedJobs.append(job) }
      }
      requeue(parcel.lane)
    }
    guard !partition.isLost, !piece.isEmpty else { return }
    partition.flush.add(piece)
    unflushed += piece.outcomes
    flushSoon(partition)
  }

  /// What a delivery in backoff leaves in its lane; nil: nothing, as no later one cares.
  func hold(
    _ target: ClaimedTarget, place: Lane<Parcel>.Place, message: LoadedMessage, due: WallTime, since: WallTime?,
    sender: Sender, overtaken: Bool = false, slice: StoredSlice? = nil
  ) -> Lane<Parcel>.Hold? {
    // What is paused or cancelled holds up nobody.
    if message.isAudience || message.isStopped { return nil }
    let end = (since ?? loop.wallNow) + settings.lane.orderHold
    // Waiting for one that comes back too late would not save the order.
    let holds = message.ordered && due <= end && !overtaken
    guard holds || ((message.ordered || message.collapseKey != nil) && sender.holds < settings.claim.holds / 2) else {
      return nil
    }
    return .init(
      delivery: target.delivery, device: target.device, credential: target.credential, place: place,
      collapseKey: message.collapseKey, supersedable: (slice ?? target.slice) == nil,
      until: holds ? end : WallTime(milliseconds: 0), overtaken: overtaken)
  }

  /// A started delivery goes again as soon as it can.
  func goBack(_ parcel: Parcel, first: Bool = true) {
    if putBack(parcel) { requeue(parcel.lane, first: first) }
  }

  /// Into its lane without a place in a queue; false: it ended instead.
  @discardableResult
  func putBack(_ parcel: Parcel) -> Bool {
    guard parcel.partition.mayWork else {
      abandon([parcel])
      return false
    }
    let result = lanes.change(parcel.lane) { $0.returned(parcel.entry, delivery: parcel.id) }
    supersede(result, entering: parcel)
    if result.entering { requeue(parcel.lane) }
    return !result.entering
  }

  /// Started deliveries of a lost partition: another worker sends them.
  func abandon(_ parcels: [Parcel]) {
    for parcel in parcels {
      lanes.change(parcel.lane) { $0.ended(ordered: parcel.message.ordered) }
      left(parcel)
      requeue(parcel.lane)
    }
  }

  // MARK: Waiting deliveries

  /// What the entering delivery made needless, or it itself.
  func supersede(_ result: Lane<Parcel>.Superseded, entering parcel: Parcel) {
    for entry in result.waiting { finish(entry.ticket, .superseded, reason: nil) }
    for hold in result.resting {
      senders[hold.credential]?.holds -= 1
      supersedeResting(hold, provider: parcel.address.provider)
    }
    if result.entering { finish(parcel, .superseded, reason: nil) }
  }

  private func supersedeResting(_ hold: Lane<Parcel>.Hold, provider: ProviderName) {
    guard let partition = partitions[hold.delivery.partition] else { return }
    partition.atHand.insert(hold.delivery)
    let final = Flush.Final(
      delivery: hold.delivery, device: hold.device, provider: provider, outcome: .superseded, reason: nil,
      overtaken: hold.overtaken)
    partition.flush.add(final, prune: nil, finishedJob: nil)
    unflushed += 1
    flushSoon(partition)
  }

  /// Waiting deliveries whose time is over end, and holds that ended let others go.
  func sweepLanes() {
    let now = loop.wallNow
    for parcel in takeWaiting(where: { $0.end(now: now) != nil }) {
      if let end = parcel.end(now: now) { finish(parcel, end.outcome, reason: end.reason) }
    }
    for sender in senders.values {
      expire(sender.takeSlices(where: { $0.end(now: now) != nil }, members: { $0.message.startBy < now }), now: now)
    }
    endBatches(.expired) { $0.message.startBy < now }
    for lane in lanes.withHolds { requeue(lane) }
  }

  /// Members of slices end together.
  func endSlices(_ members: [Parcel], _ outcome: Outcome) {
    for (_, members) in Dictionary(grouping: members, by: \.partition.number) { end(members, outcome, reason: nil) }
  }

  private func expire(_ members: [Parcel], now: WallTime) {
    for (_, members) in Dictionary(grouping: members, by: \.partition.number) {
      var settlement = Settlement()
      for parcel in members {
        let end = parcel.end(now: now) ?? (.expired, parcel.expiryReason)
        settlement.ended.append((parcel, nil, end.outcome, end.reason))
      }
      settle(settlement)
    }
  }

  func takeWaiting(where condition: (Parcel) -> Bool) -> [Parcel] {
    var taken: [Parcel] = []
    for pacer in pacers.values { taken += pacer.remove(where: condition) }
    for parcel in taken { dropHold(of: parcel.id) }
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
  func finish(_ parcel: Parcel, _ outcome: Outcome, reason: String?, verdict: Verdict? = nil) {
    guard leaves(parcel) else { return }
    parcel.partition.flush.add(
      final(parcel, outcome, reason: reason, verdict: verdict), prune: prune(parcel, verdict),
      finishedJob: parcel.job?.one())
    unflushed += 1
    flushSoon(parcel.partition)
  }

  private func final(_ parcel: Parcel, _ outcome: Outcome, reason: String?, verdict: Verdict?) -> Flush.Final {
    var providerID: String?
    if case .accepted(let id)? = verdict { providerID = id }
    var final = Flush.Final(
      delivery: parcel.id, device: parcel.target.device, provider: parcel.address.provider, outcome: outcome,
      reason: reason, platform: parcel.target.facts?.platform, providerID: providerID, attempts: parcel.news,
      overtaken: parcel.overtaken)
    if outcome == .accepted, parcel.cap != nil { final.cap = countCap(of: parcel) }
    final.slice = parcel.slice?.key
    return final
  }

  /// The end of a delivery that never came into a lane.
  func write(
    _ target: ClaimedTarget, _ outcome: Outcome, reason: String?, sender: Sender, job: JobAtWork?,
    partition: Partition
  ) {
    dropHold(of: target.delivery)
    var final = Flush.Final(
      delivery: target.delivery, device: target.device, provider: sender.provider, outcome: outcome, reason: reason,
      platform: target.facts?.platform)
    final.slice = target.slice?.key
    partition.flush.add(final, prune: nil, finishedJob: job?.one())
    unflushed += 1
    flushSoon(partition)
  }

  /// The delivery leaves memory; false: its partition is lost, and nothing is written down.
  private func leaves(_ parcel: Parcel) -> Bool {
    left(parcel)
    if parcel.partition.isLost { counts.forgotten.add() }
    return !parcel.partition.isLost
  }

  func left(_ parcel: Parcel) {
    if parcel.cap != nil { giveBackCap(of: parcel) }
    if !parcel.pacers.isEmpty { parcel.passed() }
    messages.released(parcel.message)
    parcel.sender.inMemory -= 1
    parcel.partition.inMemory -= 1
    if parcel.partition.isLeaving, parcel.partition.inMemory == 0 { handOverSoon(parcel.partition) }
  }
}
