import Domain
import Loop
import Store

/// Members of audiences on the fast path: into batches, or over to the slow path.
extension Admission {
  /// Claimed members come into memory.
  func enter(_ members: ClaimedMembers, _ message: LoadedMessage?, job: JobAtWork, partition: Partition) {
    for target in members.others { enter(target, message, job: job, urgency: .bulk, partition: partition) }
    guard members.count > 0 else { return }
    guard let message, message.takesFastPath, !message.isStopped, let sender = worker.senders[members.credential],
      sender.members.takes(message)
    else {
      for place in 0..<members.count { enterWhole(place, of: members, message, job: job, partition: partition) }
      return
    }
    guard message.timing != nil else { return enqueue(DeliveryBatch(members, message, partition, job), sender) }
    let (groups, others) = LocalTimeGroups.of(members, message, now: loop.wallNow)
    for group in groups {
      enqueue(
        DeliveryBatch(members.picked(group.places), group.message, partition, job, until: group.until), sender)
    }
    for place in others { enterWhole(place, of: members, message, job: job, partition: partition) }
  }

  private func enqueue(_ batch: DeliveryBatch, _ sender: Sender) {
    ledger.claimed(batch.message, batch.members.count, by: sender.usage, in: batch.partition.usage)
    sender.members.enqueue(batch)
  }

  /// One that never was in a batch.
  private func enterWhole(
    _ place: Int, of members: ClaimedMembers, _ message: LoadedMessage?, job: JobAtWork, partition: Partition
  ) {
    if let target = members.target(at: place) {
      return enter(target, message, job: job, urgency: .bulk, partition: partition)
    }
    read(place, of: members, partition) { [unowned self] target in
      if let target { enter(target, message, job: job, urgency: .bulk, partition: partition) }
    }
  }

  /// Reads a member anew, as what is at hand of it cannot be understood. Nil: the partition is lost or leaving.
  private func read(
    _ place: Int, of members: ClaimedMembers, _ partition: Partition, _ done: @escaping (ClaimedTarget?) -> Void
  ) {
    background {
      var target: ClaimedTarget?
      let known = await self.worker.leaseKeeper.untilStored(partition) { (lease) throws(StoreError) in
        target = try await self.store.members.target(members, at: place, lease)
      }
      done(known ? target : nil)
    }
  }

  /// A member that was to be sent needs a lane, or its own way of saying why not.
  func takeSlowPath(_ place: Int, of batch: DeliveryBatch, _ sender: Sender) {
    let enterAgain = { [unowned self] (target: ClaimedTarget?) in
      worker.memberSettler.left(1, of: batch, sender)
      let message = batch.message.origin ?? batch.message
      if let target { enter(target, message, job: batch.job, urgency: .bulk, partition: batch.partition) }
    }
    if let target = batch.members.target(at: place) { return enterAgain(target) }
    read(place, of: batch.members, batch.partition, enterAgain)
  }
}
