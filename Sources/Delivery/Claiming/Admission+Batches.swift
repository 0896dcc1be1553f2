import Domain
import Loop
import Store

/// What was claimed together: into batches, or over to the slow path.
extension Admission {
  /// Claimed targets of a direct send come into memory, through the queue of their rate if they have one.
  func enter(
    _ targets: [ClaimedTarget], _ message: LoadedMessage?, job: JobAtWork, urgency: Urgency,
    through rateQueue: RateLimitedQueue?, partition: Partition
  ) {
    guard rateQueue == nil, let message, message.takesFastPath, !message.isAudience, !message.isStopped,
      let sender = targets.first.flatMap({ worker.senders[$0.credential] }), sender.requests.takes(message)
    else {
      for target in targets {
        enter(target, message, job: job, urgency: urgency, through: rateQueue, partition: partition)
      }
      return
    }
    let batch = DirectBatch(targets, message, partition, job, urgency: urgency, sender)
    var uncounted = 0
    for place in targets.indices {
      if targets[place].isPlain, worker.laneKeeper.wait(place, of: batch) {
        uncounted += 1
        continue
      }
      // It may call a row before it out of the batch, which has to be in the books by then.
      ledger.claimed(message, uncounted, by: sender.usage, in: partition.usage)
      uncounted = 0
      enter(targets[place], message, job: job, urgency: urgency, partition: partition)
    }
    ledger.claimed(message, uncounted, by: sender.usage, in: partition.usage)
    sender.requests.enqueue(batch)
  }

  /// Claimed members of an audience come into memory.
  func enter(_ members: ClaimedMembers, _ message: LoadedMessage?, job: JobAtWork, partition: Partition) {
    for target in members.others { enter(target, message, job: job, urgency: .bulk, partition: partition) }
    guard members.count > 0 else { return }
    guard let message, message.takesFastPath, message.isAudience, !message.isStopped,
      let sender = worker.senders[members.credential], sender.requests.takes(message)
    else {
      for place in 0..<members.count { enterWhole(place, of: members, message, job: job, partition: partition) }
      return
    }
    guard message.timing != nil else { return enqueue(MemberBatch(members, message, partition, job, sender)) }
    let (groups, others) = LocalTimeGroups.of(members, message, now: loop.wallNow)
    for group in groups {
      enqueue(MemberBatch(members.picked(group.places), group.message, partition, job, sender, until: group.until))
    }
    for place in others { enterWhole(place, of: members, message, job: job, partition: partition) }
  }

  private func enqueue(_ batch: MemberBatch) {
    ledger.claimed(batch.message, batch.count, by: batch.sender.usage, in: batch.partition.usage)
    batch.sender.requests.enqueue(batch)
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

  /// A row that has left its batch unsent needs a lane, or its own way of saying why not.
  func takeSlowPath(_ place: Int, of batch: DeliveryBatch) {
    let enterAgain = { [unowned self] (target: ClaimedTarget?) in
      worker.batchSettler.left(1, of: batch)
      let message = batch.message.origin ?? batch.message
      if let target { enter(target, message, job: batch.job, urgency: batch.urgency, partition: batch.partition) }
    }
    if let target = batch.target(at: place) { return enterAgain(target) }
    if let members = batch.asMembers { read(place, of: members.members, batch.partition, enterAgain) }
  }
}

extension ClaimedTarget {
  /// Nothing but its request and its answer is to be expected: nobody has tried before, and it goes to one recipient.
  fileprivate var isPlain: Bool { address != nil && gone == nil && slice == nil && attempts.isEmpty }
}
