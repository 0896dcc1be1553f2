import Domain
import Loop
import Store

/// One partition's work under one lease. A lost lease ends the object, and a new one begins empty: whatever still
/// refers to the old one writes nothing more.
final class Partition {
  let number: Int
  var flush: FlushPlan
  var isLost = false
  /// What waits for its retry is known; claiming may begin.
  var isReady = false
  /// It goes to another worker as soon as what is at work for it has ended and is written down: nothing new begins.
  var isLeaving = false
  /// What the ledger counts for it.
  let usage = PartitionUsage()
  /// Deliveries that are not taken from the retry set although a read finds them there: those taken already, those
  /// superseded in it, and those on their way into it, which a flush shows there before its end is heard. With the
  /// number of their outcomes that flushes have yet to confirm.
  private(set) var atHand: [DeliveryID: Int] = [:]
  /// When the retry set is read next.
  var retryTimer: Timer?
  var retryDue: WallTime?
  var readsRetries = false
  /// What this owner knows of caps: what is counted, and what is at work for them.
  var caps: [CapCount: FrequencyCaps] = [:]
  /// Settled while the retry set was being read: what is read may still show them as due.
  var settledMeanwhile: Set<DeliveryID> = []
  var flushing = false
  /// Under which ends were asked for, until that is answered.
  var tallyNumber: UInt64?
  var countsEnds = false
  /// Audiences' jobs of which more members are to be claimed.
  var audienceJobs: [JobID: JobAtWork] = [:]
  /// Jobs of paused messages.
  var aside = PausedJobs()
  /// An audience is being started; a wakeup came for another.
  var isStarting = false
  var hasStartWakeup = false
  /// When something starts before the next sweep.
  var startTimer: Timer?
  /// How far the streams of credentials that are not configured were searched for what is over.
  var unsent: [StreamID: JobID] = [:]
  /// Lanes whose next delivery, and slices that, found the lease past its deadline.
  var parkedLanes: [Int] = []
  var parkedSlices: [(sender: Sender, slice: GatheredSlice)] = []
  var parkedBatches: [DeliveryBatch] = []

  init(number: Int, flush: FlushSettings) {
    self.number = number
    self.flush = FlushPlan(limit: flush.outcomes)
  }

  /// It is this worker's, and stays so.
  var mayWork: Bool { !isLeaving && !isLost }
  /// Work of it may begin.
  var takesWork: Bool { isReady && mayWork }
  /// Nothing of it is at work, and all is written down.
  var isDone: Bool { usage.inMemory == 0 && !flushing && flush.isIdle }

  // MARK: At hand

  /// A delivery comes out of the retry set; false: it is at hand.
  func take(_ delivery: DeliveryID) -> Bool {
    guard atHand[delivery] == nil else { return false }
    atHand[delivery] = 1
    return true
  }

  /// It is to be written that a delivery waits in the retry set. One that was taken from there stays at hand for that.
  func rests(_ delivery: DeliveryID) { _ = take(delivery) }

  /// A delivery in the retry set, or on its way there, has an outcome.
  func superseded(_ delivery: DeliveryID) { atHand[delivery, default: 0] += 1 }

  /// A flush has written what became of it.
  func settled(_ delivery: DeliveryID) {
    guard let outcomes = atHand[delivery] else { return }
    atHand[delivery] = outcomes > 1 ? outcomes - 1 : nil
    if outcomes == 1, readsRetries { settledMeanwhile.insert(delivery) }
  }
}
