import Domain
import Loop
import Store
import Telemetry

/// Claiming (design D7): jobs for credentials that have room, retries that are due, and what a new owner has to know of
/// those that are not.
extension Worker {
  /// Claims what the plan asks for.
  func claim() {
    guard mayBegin else { return }
    for claim in claims.next(room: { senders[$0]?.room ?? (0, 0) }) { make(claim) }
  }

  private func make(_ claim: ClaimPlan.Claim) {
    guard let partition = partitions[claim.stream.partition], partition.takesWork,
      let lease = leases[partition.number]?.lease
    else {
      return claims.failed(claim)
    }
    background {
      do throws(StoreError) {
        let claimed = try await self.store.queue.claim(
          lease, claim.stream, after: claim.after, jobs: claim.jobs, targets: claim.targets, packed: true
        ) { self.expect($0) }
        for job in claimed { if let stored = job.stored { self.messages.enter(stored) } }
        guard let messages = await self.load(Set(claimed.map(\.message)), for: partition),
          await self.readCaps(of: messages.values, for: partition)
        else { return }
        let jobs = try await self.unpacked(claimed, messages, lease)
        var found = ClaimPlan.Catch(jobs: jobs.count, last: jobs.last?.place)
        for job in jobs {
          if self.keepsAside(job, messages[job.message], partition) { continue }
          let rateQueue = self.rateQueue(of: messages[job.message])
          guard let job = rateQueue.map({ self.paced(job, $0) }) ?? job else { continue }
          if job.lastMember == nil { found.direct = (found.direct.targets + job.targets.count, found.direct.jobs + 1) }
          self.enter(job, messages[job.message], through: rateQueue, partition: partition)
        }
        if !claim.isContinuation { self.counts.claimedJobs.add(UInt64(jobs.count)) }
        self.claims.claimed(claim, found)
        self.pollSoon()
        self.claim()
      } catch {
        self.failed(error, partition)
        if !partition.isLost { self.claims.failed(claim) }
      }
    }
  }

  /// A read of the store got no answer; the sweep and the doorbell bring it back.
  func failed(_ error: StoreError, _ partition: Partition) {
    if case .leaseLost = error, !partition.isLost { lost(partition) }
  }

  /// Reads these messages, however long the store is away; nil: the partition is lost or leaving meanwhile. One that is
  /// missing in the result is beyond retention.
  private func load(_ ids: Set<MessageID>, for partition: Partition) async -> [MessageID: LoadedMessage]? {
    var found: [MessageID: LoadedMessage] = [:]
    var missing: [MessageID] = []
    found.reserveCapacity(ids.count)
    for id in ids { if let message = messages.inMemory(id) { found[id] = message } else { missing.append(id) } }
    while partition.mayWork, !isStopped {
      guard !missing.isEmpty else { return found }
      let unanswered = await fetch(missing, into: &found)
      if !unanswered.isEmpty { await loop.sleep(milliseconds: settings.flush.repeatAfter) }
      missing = unanswered
    }
    return nil
  }

  /// A message that will be needed is read in the meantime; whoever loads it waits for the same answer.
  private func expect(_ id: MessageID) {
    guard messages.inMemory(id) == nil, !messages.isLoading(id) else { return }
    background { _ = try? await self.messages.load(id) }
  }

  /// At the same time, as they share one connection; returns those that got no answer.
  private func fetch(_ ids: [MessageID], into found: inout [MessageID: LoadedMessage]) async -> [MessageID] {
    var loaded: [MessageID: LoadedMessage] = [:]
    var unanswered: [MessageID] = []
    var left = ids.count
    await withUnsafeContinuation { (waiter: UnsafeContinuation<Void, Never>) in
      for id in ids {
        background {
          do throws(StoreError) {
            loaded[id] = try await self.messages.load(id)
          } catch {
            unanswered.append(id)
          }
          left -= 1
          if left == 0 { waiter.resume() }
        }
      }
    }
    found.merge(loaded) { old, _ in old }
    return unanswered
  }

  private func enter(
    _ job: ClaimedJob, _ message: LoadedMessage?, through rateQueue: RateLimitedQueue?, partition: Partition
  ) {
    let atWork: JobAtWork
    if job.lastMember == nil {
      atWork = JobAtWork(id: job.id)
      ledger.claimed(job.targets.count, of: atWork, isWhole: true)
    } else {
      atWork = partition.audienceJobs[job.id] ?? JobAtWork(id: job.id)
      ledger.claimed(job.count, of: atWork, isWhole: job.isWhole)
      partition.audienceJobs[job.id] = job.isWhole ? nil : atWork
    }
    if atWork.isFinished {
      partition.flush.add(FlushPlan.Piece(finishedJobs: [job.id]))
      return flushSoon(partition)
    }
    let urgency = job.id.stream.urgency
    for target in job.targets {
      enter(target, message, job: atWork, urgency: urgency, through: rateQueue, partition: partition)
    }
    if let members = job.members { enter(members, message, job: atWork, partition: partition) }
  }

  /// A delivery comes into memory: into its lane, or to its end if there is nobody to send to.
  func enter(
    _ target: ClaimedTarget, _ message: LoadedMessage?, job: JobAtWork?, urgency: Urgency,
    through rateQueue: RateLimitedQueue? = nil,
    partition: Partition
  ) {
    guard let sender = senders[target.credential] else {
      postpone(target, partition: partition)
      return
    }
    guard var message else {
      return write(target, .failed, reason: "message_expired", sender: sender, job: job, partition: partition)
    }
    guard let address = target.address else {
      // Taken away by its owner, or dead at its provider: the first is nobody's failure.
      let gone = target.gone ?? SkipReason.deviceDeleted.rawValue
      let deleted = SkipReason(rawValue: gone) != nil
      if let slice = target.slice { sender.absent(from: slice) }
      return write(
        target, deleted ? .skipped : .dead, reason: gone, sender: sender, job: job,
        partition: partition)
    }
    if message.isCancelled {
      return write(target, .cancelled, reason: nil, sender: sender, job: job, partition: partition)
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
        return write(
          target, .skipped, reason: Timing.quietReason, sender: sender, job: job, partition: partition)
      }
    }
    var use: CapUse?
    if message.content?.cap != nil {
      switch cap(target, message, partition) {
      case .free: break
      case .counted(let counted): use = counted
      case .full:
        if let slice = target.slice { sender.absent(from: slice) }
        return write(target, .skipped, reason: Cap.reason, sender: sender, job: job, partition: partition)
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
    let lane = openLane(LaneKey(app: delivery.message.app, address: delivery.address))
    delivery.lane = lane
    let result = lanes.change(lane) { $0.add(delivery.entry, delivery: delivery.id) }
    if let hold = result.own {
      ledger.barrierRemoved(by: delivery.sender.usage)
      delivery.overtaken = hold.overtaken
    } else if let hold = dropBarrier(of: delivery.id) {
      // Its device has another token by now.
      delivery.overtaken = hold.overtaken
    }
    supersede(result, entering: delivery)
    requeue(lane)
  }

  /// Deliveries whose cap is not known look again after this.
  private static let capPause: Int64 = 500

  /// Its own time has not come: it waits out of memory, unless that would be too late.
  private func hold(
    _ target: ClaimedTarget, until: WallTime, reason: String, _ message: LoadedMessage, sender: Sender,
    job: JobAtWork?, partition: Partition
  ) {
    let isFirst = target.attempts.isEmpty
    if let slice = target.slice { sender.absent(from: slice) }
    guard isFirst ? until <= message.startBy : until < message.expiresAt else {
      return write(target, .expired, reason: reason, sender: sender, job: job, partition: partition)
    }
    let entry = Flush.RetryEntry(target: target, due: until, reason: reason, attempts: [])
    add(entry, of: job, to: partition)
  }

  /// The lane of a token; one that is new knows of the member of an audience that is at work there.
  private func openLane(_ key: LaneKey) -> Int {
    let before = lanes.count
    let lane = lanes.open(key)
    if lanes.count > before, inFlightMembers.join(lane, key) { lanes.change(lane) { $0.joined() } }
    return lane
  }

  // MARK: Retries

  /// Looks for work that no doorbell told of, and lets the store repair and end what it has to.
  func look(at partition: Partition) {
    guard partition.takesWork, let lease = leases[partition.number]?.lease else { return }
    background {
      do throws(StoreError) {
        for (stream, _) in try await self.store.queue.readyStreams(lease) where !partition.isLost {
          if self.knows(stream.credential) { self.claims.rang(stream) }
          try await self.expireUnsent(stream, of: partition, lease)
        }
        self.claim()
        self.startAudiences(of: partition)
        if !partition.isLost { try await self.lookAside(partition, lease) }
        if !partition.isLost { self.tell(try await self.store.control.sweepBrakes(lease)) }
        if !partition.isLost { try await self.store.sweep.run(lease, now: self.loop.wallNow) }
        if !partition.isLost { try await self.countEnds(of: partition, lease) }
        if !partition.isLost, !partition.readsRetries, let due = try await self.store.queue.nextRetry(lease) {
          self.expectRetry(of: partition, at: due)
        }
      } catch {
        self.failed(error, partition)
      }
    }
  }

  /// The retry set has something due then; reads it then, or at an earlier time that is known.
  func expectRetry(of partition: Partition, at due: WallTime) {
    guard !partition.isLost else { return }
    if let known = partition.retryDue, known <= due { return }
    if let timer = partition.retryTimer { loop.cancel(timer) }
    partition.retryDue = due
    partition.retryTimer = loop.after(milliseconds: max(1, due - loop.wallNow)) { [weak self] in
      partition.retryDue = nil
      partition.retryTimer = nil
      self?.takeRetries(of: partition)
    }
  }

  private func takeRetries(of partition: Partition) {
    guard mayBegin, !partition.isLost, !partition.isLeaving, !partition.readsRetries,
      let lease = leases[partition.number]?.lease
    else {
      return
    }
    partition.readsRetries = true
    partition.settledMeanwhile.removeAll()
    background {
      var pause: Int64 = 250
      do throws(StoreError) {
        // Those at hand stay in the set until their flush: look behind them.
        let limit = partition.atHand.count + self.settings.claim.retriesAtOnce
        let due = try await self.store.queue.dueRetries(lease, now: self.loop.wallNow, limit: limit)
        let fresh = due.filter { !partition.atHand.contains($0.delivery) }
        guard let messages = await self.load(Set(fresh.map(\.delivery.message)), for: partition),
          await self.readCaps(of: messages.values, for: partition)
        else { return }
        // The set is read in steps: a flush that ended in between has settled some of what they show.
        for target in fresh
        where !partition.settledMeanwhile.contains(target.delivery) && partition.atHand.insert(target.delivery).inserted
        {
          self.enterRetry(target, messages[target.delivery.message], partition: partition)
        }
        if !fresh.isEmpty { pause = 20 }
        let next = try await self.store.queue.nextRetry(lease)
        partition.readsRetries = false
        if let next { self.expectRetry(of: partition, at: max(next, self.loop.wallNow + pause)) }
      } catch {
        partition.readsRetries = false
        self.failed(error, partition)
        self.expectRetry(of: partition, at: self.loop.wallNow + pause)
      }
    }
  }

  /// What its credential cannot take now goes back to the set at once: it must not hold up the others' retries.
  private func enterRetry(_ target: ClaimedTarget, _ message: LoadedMessage?, partition: Partition) {
    guard let sender = senders[target.credential], !sender.isRemoved else {
      return postpone(target, of: message, partition: partition)
    }
    if let message, message.isHeld(now: loop.wallNow) { return park(target, partition: partition) }
    // What ends in any case needs no credential that sends.
    if let message, !message.isCancelled, target.address != nil, !sender.takesRetries {
      return postpone(target, of: message, sender, partition: partition)
    }
    let rateQueue = rateQueue(of: message)
    if let rateQueue, rateQueue.free(.bulk) == 0 {
      postpone(target, pause: Self.pacedPause, partition: partition)
      return
    }
    enter(target, message, job: nil, urgency: .bulk, through: rateQueue, partition: partition)
  }

  /// Retries of a credential that is not configured look again this often.
  static let strangerPause: Int64 = 60_000
  /// Retries of a paced message that has enough in memory look again this often.
  private static let pacedPause: Int64 = 5_000

  /// Its credential does not take it now: it waits on, unless its time is over.
  private func postpone(
    _ target: ClaimedTarget, of message: LoadedMessage, _ sender: Sender, partition: Partition
  ) {
    let message = message.begun(for: target)
    if let end = target.attempts.end(of: message, sender, now: loop.wallNow) {
      if let slice = target.slice { sender.absent(from: slice) }
      return write(target, end.outcome, reason: end.reason, sender: sender, job: nil, partition: partition)
    }
    let wait = min(sender.gate.pause(now: loop.now), max(1, message.expiresAt - loop.wallNow + 1))
    let pause = sender.retryPauses.next(wait: wait, now: loop.now)
    sender.postponed(until: postpone(target, pause: pause, partition: partition))
  }

  /// When it looks again.
  @discardableResult
  func postpone(_ target: ClaimedTarget, pause: Int64? = nil, partition: Partition) -> WallTime {
    let pause = pause ?? Self.strangerPause
    let due = loop.wallNow + (pause + .random(in: 0...max(1, pause / 4)))
    let entry = Flush.RetryEntry(
      target: target, due: due, reason: target.attempts.last?.reason ?? "waiting", attempts: [])
    add(entry, to: partition)
    return due
  }

  /// Deliveries that wait for their retry hold later ones of their token, also under a new owner (design D6): it learns
  /// of them before it claims anything. Returns when that is done, or the partition is lost.
  func recallBarriers(of partition: Partition) async {
    var place: JobQueue.RetryPlace?
    var left = settings.claim.barriers
    while left > 0, !partition.isLost, !isStopped, let lease = leases[partition.number]?.lease {
      do throws(StoreError) {
        let waiting = try await store.queue.waitingRetries(lease, after: place, limit: min(left, Self.retriesPerRead))
        let ids = Set(waiting.found.map(\.target.delivery.message))
        guard let messages = await load(ids, for: partition) else { return }
        for (target, due) in waiting.found {
          if let message = messages[target.delivery.message] { recall(target, message, due: due) }
        }
        guard let next = waiting.next else { return }
        place = next
        left -= Self.retriesPerRead
      } catch {
        failed(error, partition)
        await loop.sleep(milliseconds: settings.flush.repeatAfter)
      }
    }
  }

  /// Retries that a new owner reads at a time.
  private static let retriesPerRead = 500

  private func recall(_ target: ClaimedTarget, _ message: LoadedMessage, due: WallTime) {
    guard let sender = senders[target.credential], let address = target.address else { return }
    let place = Lane<Delivery>.Place(
      message: target.delivery.message, partition: target.delivery.partition, sequence: target.sequence,
      index: target.delivery.index)
    guard
      let barrier = barrier(
        target, place: place, message: message, due: due, since: target.attempts.first?.at, sender: sender)
    else { return }
    let lane = openLane(LaneKey(app: message.app, address: address))
    if lanes.change(lane, { $0.add(barrier) }) { ledger.barrierSet(by: sender.usage) }
  }
}
