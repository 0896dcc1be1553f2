import Domain
import Store

/// Counts what a worker holds: deliveries in memory, requests at work, outcomes that are not written, and what is left
/// of each job. Nobody else changes these counts. Loop-owned.
///
/// A delivery is `claimed` into memory. Its request has `started` until it is `answered`. It has `left` memory when it
/// has an outcome or waits in the retry set, which counts as `ended` until it is `flushed`, or when it was `returned`
/// to its job. A member of a batch is counted as a delivery.
final class DeliveryLedger {
  private let messages: KeptMessages
  /// Outcomes that no flush has confirmed, over all partitions.
  private(set) var unflushed = 0

  init(messages: KeptMessages) { self.messages = messages }

  // MARK: Jobs

  /// Deliveries of a job were claimed. `isWhole`: no more of it will be.
  func claimed(_ count: Int, of job: JobAtWork, isWhole: Bool) {
    job.left += count
    job.isWhole = isWhole
  }

  /// Nothing more of the job is claimed, as its message is paused.
  func pause(_ job: JobAtWork) { job.isAside = true }

  // MARK: Memory

  /// Deliveries of a message came into memory.
  func claimed(_ message: LoadedMessage, _ count: Int = 1, by sender: SenderUsage, in partition: PartitionUsage) {
    messages.used(message, count)
    sender.inMemory += count
    partition.inMemory += count
  }

  /// Deliveries left memory. `grouped`: they were counted as such.
  func left(
    _ message: LoadedMessage, _ count: Int = 1, grouped: Bool = false, by sender: SenderUsage,
    in partition: PartitionUsage
  ) {
    messages.released(message, count)
    sender.inMemory -= count
    partition.inMemory -= count
    if grouped { sender.grouped -= count }
    assert(sender.inMemory >= 0 && partition.inMemory >= 0 && sender.grouped >= 0, "more left than were in memory")
  }

  /// One in memory waits for a rate, or waits no more.
  func paced(by sender: SenderUsage) { sender.paced += 1 }
  func unpaced(by sender: SenderUsage) {
    sender.paced -= 1
    assert(sender.paced >= 0, "more went on than waited for a rate")
  }

  /// One in memory was accepted, and is written down with others.
  func grouped(by sender: SenderUsage) { sender.grouped += 1 }

  // MARK: Requests

  func started(_ count: Int = 1, isAside: Bool = false, by sender: SenderUsage) {
    sender.atWork += count
    if isAside { sender.suspectsAtWork += count }
  }

  func answered(_ count: Int = 1, isAside: Bool = false, by sender: SenderUsage) {
    sender.atWork -= count
    if isAside { sender.suspectsAtWork -= count }
    assert(sender.suspectsAtWork >= 0 && sender.atWork >= sender.suspectsAtWork, "more answers than requests")
  }

  // MARK: Ends

  /// Deliveries have an outcome, or wait in the retry set: that is to be written. The job, if they were its last.
  func ended(_ count: Int = 1, of job: JobAtWork?, in partition: PartitionUsage) -> JobID? {
    if !partition.isLost {
      partition.unflushed += count
      unflushed += count
    }
    return job?.without(count)
  }

  /// Deliveries stay in their job without an outcome. The job, if they were its last.
  func returned(_ count: Int = 1, to job: JobAtWork) -> JobID? { job.without(count) }

  /// Outcomes are written.
  func flushed(_ count: Int, in partition: PartitionUsage) {
    precondition(!partition.isLost && count <= partition.unflushed, "more outcomes written than there were")
    partition.unflushed -= count
    unflushed -= count
  }

  /// Another worker owns the partition: what was to be written is void, and so is what comes after.
  func lost(_ partition: PartitionUsage) {
    unflushed -= partition.unflushed
    partition.unflushed = 0
    partition.isLost = true
  }

  // MARK: Order barriers

  /// A delivery that waits for its retry left a barrier in its lane, or that is gone.
  func barrierSet(by sender: SenderUsage) { sender.barriers += 1 }
  func barrierRemoved(by sender: SenderUsage) {
    sender.barriers -= 1
    assert(sender.barriers >= 0, "more barriers removed than were set")
  }
}

/// What one credential has in a worker's memory. Only `DeliveryLedger` changes it.
final class SenderUsage {
  /// Deliveries, waiting or at work.
  fileprivate(set) var inMemory = 0
  /// Of those: they wait for the rate of their message or app.
  fileprivate(set) var paced = 0
  /// Of those: accepted, and soon written down as one group.
  fileprivate(set) var grouped = 0
  /// Order barriers of deliveries that wait for a retry, out of memory.
  fileprivate(set) var barriers = 0
  /// Requests, and those of them over connections for suspects.
  fileprivate(set) var atWork = 0
  fileprivate(set) var suspectsAtWork = 0
}

/// What one partition has in a worker's memory, under one lease. Only `DeliveryLedger` changes it.
final class PartitionUsage {
  /// Deliveries, waiting or at work.
  fileprivate(set) var inMemory = 0
  /// Outcomes that no flush has confirmed.
  fileprivate(set) var unflushed = 0
  /// Nothing of it is written any more.
  fileprivate(set) var isLost = false
}

/// A claimed job; finished when it is claimed as a whole, or will not be, and none of its deliveries is left. Only
/// `DeliveryLedger` changes it.
final class JobAtWork {
  let id: JobID
  fileprivate(set) var left = 0
  fileprivate var isWhole = false
  /// Its message is paused: nothing more of it is claimed, and it stays in its stream.
  fileprivate(set) var isAside = false

  init(id: JobID) { self.id = id }

  var isFinished: Bool { left == 0 && (isWhole || isAside) }

  fileprivate func without(_ count: Int) -> JobID? {
    left -= count
    precondition(left >= 0, "more ends than deliveries in a job")
    return isFinished ? id : nil
  }
}
