import Domain
import Loop
import Store
import Telemetry

/// Leases (design D5): each partition is asked for, renewed at a third of its lease, and forgotten when lost.
extension Worker {
  func leaseAll(hurry: Bool = false) {
    let now = loop.now
    for number in leases.keys where wantsLease(number) && leases[number]!.ask(now: now, hurry: hurry) {
      lease(number)
    }
  }

  /// While draining, what is held is renewed and nothing new is taken.
  private func wantsLease(_ number: Int) -> Bool { !isStopped && (mayBegin || leases[number]?.lease != nil) }

  private func lease(_ number: Int) {
    background {
      let change: LeasePlan.Change
      do throws(StoreError) {
        let granted = try await self.store.lease(number, renewing: self.leases[number]!.lease)
        change = self.leases[number]!.answered(granted, now: self.loop.now)
      } catch {
        self.leases[number]!.failed(now: self.loop.now)
        change = .none
      }
      self.leaseChanged(number, change)
      self.leaseLater(number)
    }
  }

  private func leaseLater(_ number: Int) {
    guard wantsLease(number), let plan = leases[number] else { return }
    loop.after(milliseconds: max(1, plan.nextTry - loop.now)) { [weak self] in
      guard let self, wantsLease(number), leases[number]!.ask(now: loop.now) else { return }
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
    let partition = Partition(number: number, flush: settings.flush)
    partitions[number] = partition
    counts.leases.add(1)
    background {
      await self.recallHolds(of: partition)
      partition.isReady = true
      self.look(at: partition)
    }
  }

  /// Another owner has the partition, or has had it: what is known of its work is void. Requests at work end unheard.
  private func forget(_ number: Int) {
    guard let partition = partitions.removeValue(forKey: number) else { return }
    counts.leases.add(-1)
    partition.isLost = true
    unflushed -= partition.flush.unflushed
    if let timer = partition.retryTimer { loop.cancel(timer) }
    claims.drop(partition: number)
    for lane in lanes.all {
      let (waiting, holds) = lanes.change(lane) { lane in
        (lane.remove { $0.place.partition == number }, lane.removeHolds { $0.place.partition == number })
      }
      for entry in waiting { left(entry.ticket) }
      for hold in holds { senders[hold.credential]?.holds -= 1 }
    }
    for (_, slice) in partition.parkedSlices { abandon(slice.members) }
    partition.parkedSlices = []
    for sender in senders.values {
      abandon(sender.takeSlices { $0.partition === partition })
    }
    wakeAll()
  }

  // MARK: Deadlines

  /// A request of this partition may be written to a socket.
  func holdsLease(_ partition: Partition, now: Instant) -> Bool {
    !partition.isLost && leases[partition.number]!.holds(now: now)
  }

  /// Its lease is past its deadline: it waits until that is renewed, or void.
  func park(_ parcel: Parcel) {
    parcel.partition.parkedLanes.append(parcel.lane)
    putBack(parcel)
  }

  private func unpark(_ number: Int) {
    guard let partition = partitions[number] else { return }
    let (parkedLanes, parkedSlices) = (partition.parkedLanes, partition.parkedSlices)
    partition.parkedLanes = []
    partition.parkedSlices = []
    for lane in parkedLanes where lanes.exists(lane) { requeue(lane) }
    for (sender, slice) in parkedSlices { sender.closedSlices.append(slice) }
    wakeAll()
  }

  /// Repeats a write of this partition until the store has answered; false: the partition is lost.
  func untilStored(_ partition: Partition, _ write: (Lease) async throws(StoreError) -> Void) async -> Bool {
    while !partition.isLost, !isStopped {
      guard let lease = leases[partition.number]?.lease else { return false }
      do throws(StoreError) {
        try await write(lease)
        return !partition.isLost
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

  func lost(_ partition: Partition) {
    leaseChanged(partition.number, leases[partition.number]!.taken(now: loop.now))
    leaseLater(partition.number)
  }
}
