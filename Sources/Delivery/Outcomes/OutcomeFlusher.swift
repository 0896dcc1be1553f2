import Domain
import Loop
import Store
import Telemetry

/// Writes outcomes down in groups (design D9): every few milliseconds or a few hundred outcomes, one flush at work per
/// partition.
final class OutcomeFlusher: WorkerPart {
  private var flushTimer: Timer?

  /// A delivery has its outcome.
  func add(_ final: Flush.Final, prune: Flush.Prune? = nil, of job: JobAtWork? = nil, to partition: Partition) {
    let finished = ledger.ended(of: job, in: partition.usage)
    partition.flush.add(final, prune: prune, finishedJob: finished)
    flushSoon(partition)
  }

  /// A delivery waits in the retry set.
  func add(_ retry: Flush.RetryEntry, of job: JobAtWork? = nil, to partition: Partition) {
    let finished = ledger.ended(of: job, in: partition.usage)
    partition.rests(retry.target.delivery)
    partition.flush.add(retry, finishedJob: finished)
    flushSoon(partition)
  }

  /// Members of an audience were accepted.
  func add(
    accepted indexes: [UInt32], of message: MessageID, firstAttempt: WallTime, job: JobAtWork, to partition: Partition
  ) {
    let finished = ledger.ended(indexes.count, of: job, in: partition.usage)
    partition.flush.add(accepted: indexes, of: message, firstAttempt: firstAttempt, finishedJob: finished)
    flushSoon(partition)
  }

  // MARK: Writing

  func flushSoon(_ partition: Partition) {
    if partition.flush.isFull { return flush(partition) }
    guard flushTimer == nil else { return }
    flushTimer = loop.after(milliseconds: settings.flush.interval) { [weak self] in
      self?.flushTimer = nil
      self?.flushAll()
    }
  }

  func flushAll() {
    for partition in worker.leaseKeeper.partitions.values { flush(partition) }
  }

  private func flush(_ partition: Partition) {
    guard !partition.flushing, !partition.isLost, let lease = worker.leaseKeeper.leases[partition.number]?.lease,
      let flush = partition.flush.next(lease)
    else { return }
    partition.flushing = true
    background { await self.carryOut(flush, of: partition) }
  }

  /// Repeats the flush until the store has answered it.
  private func carryOut(_ first: Flush, of partition: Partition) async {
    var flush = first
    while !partition.isLost {
      do throws(StoreError) {
        let result = try await store.outcomes.flush(flush)
        guard !partition.isLost else { return }
        return confirmed(partition, result)
      } catch {
        guard !partition.isLost else { return }
        if case .leaseLost = error { return worker.leaseKeeper.lost(partition) }
        counts.flushRepeats.add()
        await loop.sleep(milliseconds: settings.flush.repeatAfter)
        if let lease = worker.leaseKeeper.leases[partition.number]?.lease { flush = partition.flush.again(lease) }
      }
    }
  }

  /// The flush at work is written.
  func confirmed(_ partition: Partition, _ result: FlushResult) {
    let piece = partition.flush.confirmed()
    partition.flushing = false
    ledger.flushed(piece.outcomes, in: partition.usage)
    counts.flushes.add()
    counts.flushSize.observe(seconds: Double(piece.outcomes))
    if result.pruned > 0 { counts.pruned.add(UInt64(result.pruned)) }
    if result.held > 0 { counts.held.add(UInt64(result.held)) }
    if !partition.atHand.isEmpty { for final in piece.finals { partition.settled(final.delivery) } }
    var due: WallTime?
    for retry in piece.retries {
      partition.settled(retry.target.delivery)
      if retry.due < JobQueue.parked { due = min(due ?? retry.due, retry.due) }
    }
    if let due { worker.retries.expectRetry(of: partition, at: due) }
    for job in piece.finishedJobs where !worker.control.settledAside(job, partition) {
      worker.claimer.claims.finished(job)
    }
    for (message, control) in result.controls { worker.control.learned(message, control, in: partition) }
    // Whoever ended what waits of a cancelled message before this was confirmed has passed these over.
    for message in Set(piece.retries.map(\.target.delivery.message)) {
      let isCancelled = result.controls[message]?.word == .cancelled || messages.inMemory(message)?.isCancelled ?? false
      if isCancelled { worker.control.cancelWaiting(of: message, in: partition) }
    }
    if partition.isLeaving { worker.leaseKeeper.handOverSoon(partition) }
    if partition.flush.isFull { flush(partition) } else if !partition.flush.isIdle { flushSoon(partition) }
    worker.turns.wakeAll()
    worker.claimer.claim()
  }
}
