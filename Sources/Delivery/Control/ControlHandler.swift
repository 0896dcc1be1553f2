import Domain
import Loop
import Store
import Telemetry

/// What operators want of a message (pause, resume, cancel), as wakeups, claims, flushes and sweeps tell of it. What is
/// at work finishes in any case.
final class ControlHandler: WorkerPart {
  /// A wakeup or a sweep tells of one partition; if it is news, it is so for the others here as well.
  func controlled(_ id: MessageID, _ control: Control, in partition: Partition) {
    let isNews = messages.inMemory(id)?.adopt(control) ?? false
    if isNews {
      stopWaiting(of: id, control)
    } else if control.word == .cancelled {
      // The message may have left memory before its retries come back, which will not come.
      worker.barriers.dropBarriers(of: id)
    }
    for other in worker.leaseKeeper.partitions.values where isNews || other === partition {
      carryOut(id, control, in: other)
    }
  }

  /// A flush or a claim tells of it each time: nothing is done if it is known.
  func learned(_ id: MessageID, _ control: Control, in partition: Partition) {
    if let known = messages.inMemory(id)?.control, known.version >= control.version { return }
    controlled(id, control, in: partition)
  }

  private func carryOut(_ id: MessageID, _ control: Control, in partition: Partition) {
    switch control.word {
    case .paused: break
    case .running: goOn(id, partition)
    case .cancelled:
      // Jobs set aside are claimed, and end.
      goOn(id, partition)
      for rateQueue in worker.rateQueues.all { rateQueue.giveUp() }
      cancelWaiting(of: id, in: partition)
    }
  }

  /// Retries of a cancelled message end in the store. Those that no flush has written yet are not there: it is asked
  /// once more behind that flush.
  func cancelWaiting(of id: MessageID, in partition: Partition) {
    background {
      _ = await self.worker.leaseKeeper.untilStored(partition) { (lease) throws(StoreError) in
        try await self.store.queue.cancelWaiting(lease, message: id, atHand: Set(partition.atHand.keys))
      }
    }
  }

  /// The message goes on, or ends: its jobs are claimed again, its retries are due.
  private func goOn(_ id: MessageID, _ partition: Partition) {
    for job in partition.aside.take(of: id) { worker.claimer.claims.resume(job) }
    worker.claimer.claim()
    background {
      _ = await self.worker.leaseKeeper.untilStored(partition) { (lease) throws(StoreError) in
        try await self.store.queue.unpark(lease, message: id, now: self.loop.wallNow)
      }
      self.worker.retries.expectRetry(of: partition, at: self.loop.wallNow)
    }
  }

  // MARK: Stopping

  /// What waits in lanes and slices leaves them: to its end, or back to where it came from.
  private func stopWaiting(of id: MessageID, _ control: Control) {
    guard control.word != .running else { return }
    for delivery in worker.laneKeeper.takeWaiting(where: { $0.message.id == id }) {
      delivery.message.adopt(control)
      if control.word == .cancelled {
        worker.settler.finish(delivery, .cancelled, reason: nil)
      } else {
        returnToJob(delivery)
      }
    }
    worker.barriers.dropBarriers(of: id)
    for sender in worker.senders.values {
      let members = sender.slices.take(where: { $0.message.id == id }, members: { $0.message.id == id })
      for delivery in members { delivery.message.adopt(control) }
      if control.word == .cancelled {
        worker.settler.endSlices(members, .cancelled)
      } else {
        returnStartedToJob(members)
      }
      for batch in sender.batches.take(where: { $0.message.id == id }) {
        batch.message.adopt(control)
        if control.word == .cancelled {
          worker.batchSettler.endWaiting(of: batch, .cancelled)
        } else {
          returnToJob(batch)
        }
      }
    }
  }

  /// Started deliveries of one message, not at work yet, that may not go; false: they may.
  func stop(_ deliveries: [Delivery], now: WallTime) -> Bool {
    let message = deliveries[0].message
    if message.isCancelled {
      worker.settler.end(deliveries, .cancelled, reason: nil)
      return true
    }
    guard message.isHeld(now: now) else { return false }
    returnStartedToJob(deliveries)
    return true
  }

  private func returnStartedToJob(_ deliveries: [Delivery]) {
    for delivery in deliveries {
      worker.laneKeeper.lanes.change(delivery.lane) { $0.ended(ordered: delivery.message.ordered) }
      returnToJob(delivery)
      worker.laneKeeper.requeue(delivery.lane)
    }
  }

  /// A delivery that has left its lane goes back without an outcome and without an attempt.
  private func returnToJob(_ delivery: Delivery) {
    worker.settler.left(delivery)
    let partition = delivery.partition
    guard !partition.isLost else { return }
    guard let job = delivery.job else {
      var target = delivery.target
      target.slice = delivery.slice
      return worker.retries.park(target, attempts: delivery.news, partition: partition)
    }
    pause(job, of: delivery.message.id, partition)
    if let done = ledger.returned(to: job) { settleSoon(done, partition) }
  }

  /// Rows that have not been sent stay in their job.
  func returnToJob(_ batch: DeliveryBatch) {
    let waiting = worker.batchSettler.drop(batch)
    guard waiting > 0, !batch.partition.isLost else { return }
    pause(batch.job, of: batch.message.id, batch.partition)
    if let done = ledger.returned(waiting, to: batch.job) { settleSoon(done, batch.partition) }
  }

  // MARK: Jobs set aside

  private func pause(_ job: JobAtWork, of message: MessageID, _ partition: Partition) {
    guard !job.isAside else { return }
    ledger.pause(job)
    partition.audienceJobs[job.id] = nil
    for rateQueue in worker.rateQueues.all { rateQueue.forget(job.id) }
    partition.aside.put(job.id, of: message, settled: false)
    worker.claimer.claims.pause(job.id)
  }

  /// A flush behind the last of its outcomes tells that all are written down.
  private func settleSoon(_ job: JobID, _ partition: Partition) {
    partition.flush.add(FlushPlan.Piece(finishedJobs: [job]))
    worker.flusher.flushSoon(partition)
  }

  /// True: this claimed job is not to be worked on, as its message is paused or it was set aside while it was claimed.
  func keepsAside(_ job: ClaimedJob, _ message: LoadedMessage?, _ partition: Partition) -> Bool {
    if let control = job.control {
      learned(job.message, control, in: partition)
      message?.adopt(control)
    }
    let isHeld = message?.isHeld(now: loop.wallNow) ?? false
    if worker.claimer.claims.isAside(job.id) {
      // This claim began before: what it has handed out goes back as well.
      if !partition.aside.isUnsettled(job.id) { store.members.returned(job.id, of: job.message) }
      return true
    }
    guard isHeld else { return false }
    if let earlier = partition.audienceJobs[job.id] {
      pause(earlier, of: job.message, partition)
      if earlier.isFinished { settleSoon(job.id, partition) }
    } else {
      partition.aside.put(job.id, of: job.message, settled: true)
      store.members.returned(job.id, of: job.message)
      worker.claimer.claims.pause(job.id)
      for rateQueue in worker.rateQueues.all { rateQueue.forget(job.id) }
    }
    return true
  }

  /// A flush has written the last of a job's outcomes; false: it is none that was set aside.
  func settledAside(_ job: JobID, _ partition: Partition) -> Bool {
    guard !partition.aside.isEmpty, let message = partition.aside.settle(job) else { return false }
    store.members.returned(job, of: message)
    if messages.inMemory(message)?.isHeld(now: loop.wallNow) != true { goOn(message, partition) }
    return true
  }

  // MARK: Sweeping

  /// Messages that the error brake has paused.
  func tell(_ braked: [ErrorBraked]) {
    for one in braked {
      log(
        .warning, "error_brake",
        ["message": one.message.description, "failed": "\(one.failed)", "of": "\(one.decided)"])
      counts.errorBrakes.add()
    }
  }

  /// Paused messages of which no wakeup told that they go on, have ended, or have no time left.
  func lookAside(_ partition: Partition, _ lease: Lease) async throws(StoreError) {
    let ids = Set(try await store.queue.parkedMessages(lease) + partition.aside.paused)
    guard !ids.isEmpty else { return }
    let controls = try await store.control.controls(lease, of: Array(ids))
    for id in ids where !partition.isLost {
      guard let message = try await messages.load(id), case .some(let control?) = controls[id] else {
        goOn(id, partition)
        continue
      }
      learned(id, control, in: partition)
      if !message.isHeld(now: loop.wallNow) { goOn(id, partition) }
    }
  }
}
