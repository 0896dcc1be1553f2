import Domain
import Loop
import Store
import Telemetry

/// Looks again and again for what no wakeup told of, and for what has ended by time.
final class PartitionSweeper: WorkerPart {
  func everySweep() {
    loop.after(milliseconds: settings.sweepInterval) { [weak self] in
      guard let self, mayBegin else { return }
      worker.leaseKeeper.leaseAll()
      for partition in worker.leaseKeeper.partitions.values { look(at: partition) }
      sweepLanes()
      worker.rateQueues.tidyRateQueues()
      worker.unconfigured.sweepConditions()
      observe()
      everySweep()
    }
  }

  /// Looks for work that no wakeup told of, and lets the store repair and end what it has to.
  func look(at partition: Partition) {
    guard partition.takesWork, let lease = worker.leaseKeeper.leases[partition.number]?.lease else { return }
    background {
      do throws(StoreError) {
        for (stream, _) in try await self.store.queue.readyStreams(lease) where !partition.isLost {
          if self.worker.unconfigured.knows(stream.credential) { self.worker.claimer.claims.woken(stream) }
          try await self.worker.unconfigured.expireUnsent(stream, of: partition, lease)
        }
        self.worker.claimer.claim()
        self.worker.starter.startAudiences(of: partition)
        if !partition.isLost { try await self.worker.control.lookAside(partition, lease) }
        if !partition.isLost { self.worker.control.tell(try await self.store.control.sweepBrakes(lease)) }
        if !partition.isLost { try await self.store.sweep.run(lease, now: self.loop.wallNow) }
        if !partition.isLost { await self.countEnds(of: partition, lease) }
        if !partition.isLost, !partition.readsRetries, let due = try await self.store.queue.nextRetry(lease) {
          self.worker.retries.expectRetry(of: partition, at: due)
        }
      } catch {
        self.worker.leaseKeeper.failed(error, partition)
      }
    }
  }

  /// Waiting deliveries whose time is over end, and order barriers that ended let others go.
  private func sweepLanes() {
    let now = loop.wallNow
    for delivery in worker.laneKeeper.takeWaiting(where: { $0.end(now: now) != nil }) {
      if let end = delivery.end(now: now) { worker.settler.finish(delivery, end.outcome, reason: end.reason) }
    }
    for sender in worker.senders.values {
      expire(sender.slices.take(where: { $0.end(now: now) != nil }, members: { $0.message.startBy < now }), now: now)
    }
    worker.batchSettler.endBatches(.expired) { $0.message.startBy < now }
    for lane in worker.laneKeeper.lanes.withBarriers { worker.laneKeeper.requeue(lane) }
  }

  private func expire(_ members: [Delivery], now: WallTime) {
    for (_, members) in Dictionary(grouping: members, by: \.partition.number) {
      var settlement = Settlement()
      for delivery in members {
        let end = delivery.end(now: now) ?? (.expired, delivery.expiryReason)
        settlement.ended.append((delivery, nil, end.outcome, end.reason))
      }
      worker.settler.settle(settlement)
    }
  }

  /// Counting ends: what the store has counted when it wrote outcomes, whoever had them written, this process tells of
  /// the partitions that it owns. Whether that fails or not, the sweep goes on: deliveries matter more than their counts.
  private func countEnds(of partition: Partition, _ lease: Lease) async {
    // One at a time: a number that is asked for twice at once would be counted twice.
    guard !partition.countsEnds else { return }
    partition.countsEnds = true
    defer { partition.countsEnds = false }
    let isRepeated = partition.tallyNumber != nil
    let number = partition.tallyNumber ?? UInt64.random(in: 1...UInt64.max)
    partition.tallyNumber = number
    do throws(StoreError) {
      for tally in try await store.tallies.take(lease, number: number, isRepeated: isRepeated) { counts.ended(tally) }
      partition.tallyNumber = nil
    } catch {
      worker.leaseKeeper.failed(error, partition)
    }
  }

  private func observe() {
    counts.lanes.set(Int64(worker.laneKeeper.lanes.count + worker.laneKeeper.index.count))
    counts.unflushed.set(Int64(ledger.unflushed))
    for sender in worker.senders.values {
      sender.metrics.connections(sender.transport.connections)
      sender.metrics.limit(sender.limits.concurrency)
      sender.tidyRetired()
    }
  }
}
