import Domain
import Loop
import Store
import Telemetry

/// Leases (design D5): free partitions are asked for up to this worker's share, renewed at a third of their lease,
/// handed over when others come, and forgotten when lost.
final class LeaseKeeper: WorkerPart {
  /// Those that this worker owns.
  private(set) var partitions: [Int: Partition] = [:]
  /// Of all partitions.
  private(set) var leases: [Int: LeasePlan] = [:]
  private(set) var share: SharePlan

  override init(_ worker: Worker) {
    let settings = worker.context.store.session.settings
    share = SharePlan(partitions: settings.partitions)
    super.init(worker)
    for number in 0..<settings.partitions {
      leases[number] = LeasePlan(duration: settings.leaseMilliseconds, now: loop.now)
    }
  }

  /// `hurry`: whatever the time.
  func leaseAll(hurry: Bool = false) {
    let now = loop.now
    for number in leases.keys where leases[number]!.lease != nil && !isStopped {
      if leases[number]!.ask(now: now, hurry: hurry) { lease(number) }
    }
    guard mayBegin else { return }
    var wanted = share.wanted(held: leases.values.count(where: \.isWanted))
    for number in share.order where wanted > 0 && leases[number]!.lease == nil {
      guard leases[number]!.ask(now: now, hurry: hurry) else { continue }
      wanted -= 1
      lease(number)
    }
  }

  /// Held ones are renewed, while draining too; others are asked for by `leaseAll`.
  private func wantsRenewal(_ number: Int) -> Bool { !isStopped && leases[number]?.lease != nil }

  private func lease(_ number: Int) {
    background {
      let change: LeasePlan.Change
      var isOthers = false
      do throws(StoreError) {
        let granted = try await self.store.leases.take(
          number, renewing: self.leases[number]!.lease, worker: self.worker.serial)
        change = self.leases[number]!.answered(granted, now: self.loop.now)
        isOthers = granted == nil
      } catch {
        self.leases[number]!.failed(now: self.loop.now)
        change = .none
      }
      self.leaseChanged(number, change)
      self.leaseLater(number)
      // The next one in the row may be free; each is asked for again only after its pause, so this ends.
      if isOthers { self.leaseAll() }
    }
  }

  private func leaseLater(_ number: Int) {
    guard wantsRenewal(number), let plan = leases[number] else { return }
    loop.after(milliseconds: max(1, plan.nextTry - loop.now)) { [weak self] in
      guard let self, wantsRenewal(number), leases[number]!.ask(now: loop.now) else { return }
      lease(number)
    }
  }

  func leaseChanged(_ number: Int, _ change: LeasePlan.Change) {
    switch change {
    case .none: break
    case .renewed: unpark(number)
    case .acquired: begin(number)
    case .lost:
      log(.warning, "lease_lost", ["partition": String(number)])
      forget(number)
    case .replaced:
      forget(number)
      begin(number)
    }
  }

  private func begin(_ number: Int) {
    guard mayBegin else { return }
    log(.info, "partition_taken", ["partition": String(number)])
    let partition = Partition(number: number, flush: settings.flush)
    partitions[number] = partition
    counts.leases.add(1)
    background {
      await self.worker.pruner.awaitBrakes(for: partition)
      await self.worker.barriers.recallBarriers(of: partition)
      partition.isReady = true
      self.worker.sweeper.look(at: partition)
    }
  }

  /// Another owner has the partition, or has had it: what is known of its work is void. Requests at work end unheard.
  private func forget(_ number: Int) {
    guard let partition = partitions.removeValue(forKey: number) else { return }
    counts.leases.add(-1)
    partition.isLost = true
    assert(partition.usage.unflushed == partition.flush.unflushed, "outcomes were added past the ledger")
    ledger.lost(partition.usage)
    stopClaiming(for: partition)
    dropWaiting(of: partition)
    worker.turns.wakeAll()
  }

  /// Whatever is not at work leaves memory; it stays in its jobs and in the retry set.
  private func dropWaiting(of partition: Partition) {
    let number = partition.number
    for rateQueue in worker.rateQueues.all {
      for delivery in rateQueue.remove(where: { $0.partition === partition }) { worker.settler.left(delivery) }
    }
    for lane in worker.laneKeeper.lanes.all {
      let (waiting, barriers) = worker.laneKeeper.lanes.change(lane) { lane in
        (lane.remove { $0.place.partition == number }, lane.removeBarriers { $0.place.partition == number })
      }
      for entry in waiting { worker.settler.left(entry.ticket) }
      for barrier in barriers { worker.barriers.barrierRemoved(barrier) }
    }
    for (_, slice) in partition.parkedSlices { worker.settler.abandon(slice.deliveries) }
    partition.parkedSlices = []
    for sender in worker.senders.values {
      worker.settler.abandon(
        sender.slices.take(where: { $0.partition === partition }, members: { $0.partition === partition }))
    }
    worker.batchSettler.dropBatches(of: partition)
    worker.pruner.lost(partition)
  }

  private func stopClaiming(for partition: Partition) {
    if let timer = partition.retryTimer { loop.cancel(timer) }
    if let timer = partition.startTimer { loop.cancel(timer) }
    worker.claimer.claims.drop(partition: partition.number)
  }

  // MARK: Deadlines

  /// A request of this partition may be written to a socket.
  func holdsLease(_ partition: Partition, now: Instant) -> Bool {
    !partition.isLost && leases[partition.number]!.permitsWrites(now: now)
  }

  /// Its lease is past its deadline: it waits until that is renewed, or void.
  func park(_ delivery: Delivery) {
    delivery.partition.parkedLanes.append(delivery.lane)
    worker.settler.returnToLane(delivery)
  }

  private func unpark(_ number: Int) {
    guard let partition = partitions[number] else { return }
    let (parkedLanes, parkedSlices) = (partition.parkedLanes, partition.parkedSlices)
    partition.parkedLanes = []
    partition.parkedSlices = []
    for lane in parkedLanes where worker.laneKeeper.lanes.exists(lane) { worker.laneKeeper.requeue(lane) }
    for (sender, slice) in parkedSlices { sender.slices.ready.append(slice) }
    for batch in partition.parkedBatches { batch.sender.requests.enqueue(batch) }
    partition.parkedBatches = []
    worker.turns.wakeAll()
  }

  // MARK: Loss

  /// Repeats a write of this partition until the store has answered; false: the partition is lost or leaving.
  func untilStored(_ partition: Partition, _ write: (Lease) async throws(StoreError) -> Void) async -> Bool {
    while !partition.isLost, !isStopped {
      guard let lease = leases[partition.number]?.lease else { return false }
      do throws(StoreError) {
        try await write(lease)
        return partition.mayWork
      } catch {
        if case .leaseLost = error {
          if !partition.isLost { lost(partition) }
          return false
        }
        await loop.sleep(milliseconds: settings.flush.repeatAfter)
      }
    }
    return false
  }

  /// A read of the store got no answer; the sweep and the wakeups bring it back.
  func failed(_ error: StoreError, _ partition: Partition) {
    if case .leaseLost = error, !partition.isLost { lost(partition) }
  }

  /// Redis has lost writes that were confirmed to this worker: nothing in memory is known to be stored, in no
  /// partition, as lanes of one may hold what has superseded deliveries of another. All of it is dropped, and read
  /// again under new leases.
  func historyEnded(_ words: String) {
    log(.error, "store_went_back", ["detail": words])
    messages.forgetAll()
    for partition in Array(partitions.values) {
      guard let lease = leases[partition.number]?.lease else { continue }
      lost(partition)
      background { try? await self.store.leases.release(lease) }
    }
  }

  func lost(_ partition: Partition) {
    leaseChanged(partition.number, leases[partition.number]!.taken(now: loop.now))
    leaseLater(partition.number)
  }

  // MARK: Sharing with other workers

  /// Heartbeats: who else lives, and how many partitions are this worker's.
  func everyBeat() {
    guard mayBegin else { return }
    background {
      do throws(StoreError) {
        let workers = try await self.store.workers.beat(self.worker.report)
        guard self.mayBegin else { return }
        try await self.store.leases.watch(of: self.leases.filter { $0.value.lease == nil }.map(\.key))
        guard self.mayBegin else { return }
        self.share.heard(workers: workers, own: self.worker.serial)
        self.counts.workers.set(Int64(workers.count))
        self.shareOut()
        try await self.worker.pruner.readBrakes()
        try await self.worker.pruner.concludeEnded()
      } catch {
        // What is held stays held; the leases say for how long.
      }
      guard self.mayBegin else { return }
      self.loop.after(milliseconds: max(1, self.store.session.settings.leaseMilliseconds / 5)) { [weak self] in
        self?.everyBeat()
      }
    }
  }

  private func shareOut() {
    let held = partitions.values.filter { !$0.isLeaving }.sorted { $0.number < $1.number }
    for partition in held.suffix(share.surplus(held: held.count)) { leave(partition) }
    leaseAll()
  }

  /// Another worker has let go of a partition: it may be this one's.
  func askForFreed(_ number: Int) {
    guard mayBegin, leases.keys.contains(number), leases[number]!.lease == nil,
      share.wanted(held: leases.values.count(where: \.isWanted)) > 0,
      leases[number]!.ask(now: loop.now, hurry: true)
    else { return }
    lease(number)
  }

  /// Hands a partition over: what waits goes back at once, what is at work ends here.
  private func leave(_ partition: Partition) {
    partition.isLeaving = true
    stopClaiming(for: partition)
    dropWaiting(of: partition)
    worker.flusher.flushAll()
    handOverSoon(partition)
  }

  /// At the end of this turn, if nothing of it is left by then.
  func handOverSoon(_ partition: Partition) {
    loop.atEndOfTurn { [weak self] in self?.handOverIfDone(partition) }
  }

  private func handOverIfDone(_ partition: Partition) {
    guard partition.isLeaving, !partition.isLost, partition.isDone,
      let lease = leases[partition.number]?.lease
    else { return }
    leases[partition.number]!.released(now: loop.now)
    forget(partition.number)
    log(.info, "partition_handed_over", ["partition": String(partition.number)])
    background { try? await self.store.leases.release(lease) }
  }

  /// The leases of all partitions end, as the worker stops.
  func releaseAll() {
    for partition in partitions.values { partition.isLost = true }
    for plan in leases.values {
      guard let lease = plan.lease else { continue }
      background { try? await self.store.leases.release(lease) }
    }
    background { try? await self.store.workers.leave(worker: self.worker.serial) }
    counts.leases.add(Int64(-partitions.count))
    partitions = [:]
  }
}
