import Domain
import Loop
import Store

/// What waits in the retry set of each partition: when it is read, what comes back, and what waits on.
final class RetrySet: WorkerPart {
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
      let lease = worker.leaseKeeper.leases[partition.number]?.lease
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
        let fresh = due.filter { partition.atHand[$0.delivery] == nil }
        guard let messages = await self.worker.claimer.load(Set(fresh.map(\.delivery.message)), for: partition),
          await self.worker.caps.readCaps(of: messages.values, for: partition)
        else { return }
        // The set is read in steps: a flush that ended in between has settled some of what they show.
        for target in fresh
        where !partition.settledMeanwhile.contains(target.delivery) && partition.take(target.delivery) {
          self.enterRetry(target, messages[target.delivery.message], partition: partition)
        }
        if !fresh.isEmpty { pause = 20 }
        let next = try await self.store.queue.nextRetry(lease)
        partition.readsRetries = false
        if let next { self.expectRetry(of: partition, at: max(next, self.loop.wallNow + pause)) }
      } catch {
        partition.readsRetries = false
        self.worker.leaseKeeper.failed(error, partition)
        self.expectRetry(of: partition, at: self.loop.wallNow + pause)
      }
    }
  }

  /// What its credential cannot take now goes back to the set at once: it must not hold up the others' retries.
  private func enterRetry(_ target: ClaimedTarget, _ message: LoadedMessage?, partition: Partition) {
    guard let sender = worker.senders[target.credential], !sender.isRemoved else {
      return worker.unconfigured.postpone(target, of: message, partition: partition)
    }
    if let message, message.isHeld(now: loop.wallNow) { return park(target, partition: partition) }
    // What ends in any case needs no credential that sends.
    if let message, !message.isCancelled, target.address != nil, !sender.takesRetries {
      return postpone(target, of: message, sender, partition: partition)
    }
    let rateQueue = worker.rateQueues.rateQueue(of: message, by: target.credential)
    if let rateQueue, rateQueue.free(.bulk) == 0 {
      postpone(target, pause: Self.pacedPause, partition: partition)
      return
    }
    worker.admission.enter(target, message, job: nil, urgency: .bulk, through: rateQueue, partition: partition)
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
      if let slice = target.slice { sender.slices.absent(from: slice) }
      return worker.settler.write(
        target, end.outcome, reason: end.reason, sender: sender, job: nil, partition: partition)
    }
    let wait = min(sender.status.breaker.pause(now: loop.now), max(1, message.expiresAt - loop.wallNow + 1))
    let pause = sender.retryPauses.next(wait: wait, now: loop.now)
    sender.status.postponed(until: postpone(target, pause: pause, partition: partition))
  }

  /// When it looks again.
  @discardableResult
  func postpone(_ target: ClaimedTarget, pause: Int64? = nil, partition: Partition) -> WallTime {
    let pause = pause ?? Self.strangerPause
    let due = loop.wallNow + (pause + .random(in: 0...max(1, pause / 4)))
    let entry = Flush.RetryEntry(
      target: target, due: due, reason: target.attempts.last?.reason ?? "waiting", attempts: [])
    worker.flusher.add(entry, to: partition)
    return due
  }

  /// A retry of a paused message stays in the retry set, out of turn.
  func park(_ target: ClaimedTarget, attempts: AttemptLog = [], partition: Partition) {
    let entry = Flush.RetryEntry(
      target: target, due: JobQueue.parked, reason: attempts.last?.reason ?? target.attempts.last?.reason ?? "paused",
      attempts: attempts)
    worker.flusher.add(entry, to: partition)
  }
}
