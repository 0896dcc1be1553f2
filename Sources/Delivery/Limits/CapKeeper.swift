import Domain
import Loop
import Store

/// Caps: at most so many messages of a topic to a device. A delivery counts from when it comes into memory; one that
/// ends otherwise than accepted, or waits for a retry, is given back.
final class CapKeeper: WorkerPart {
  /// Reads what is counted for these messages, however long the store is away; false: the partition is lost.
  func readCaps(of messages: some Sequence<LoadedMessage>, for partition: Partition) async -> Bool {
    for message in messages {
      guard let cap = message.content?.cap else { continue }
      while !(await readCap(cap, message.app, partition)) {
        guard partition.mayWork, !isStopped else { return false }
        await loop.sleep(milliseconds: settings.flush.repeatAfter)
      }
    }
    return true
  }

  private func readCap(_ cap: Cap, _ app: AppID, _ partition: Partition) async -> Bool {
    let count = CapCount(cap, app: app, now: loop.wallNow)
    guard partition.caps[count] == nil else { return true }
    do throws(StoreError) {
      let counts = try await store.caps.counts(count, partition: partition.number)
      guard partition.caps[count] == nil else { return true }
      // Periods that are over are asked for no more. Which they are the wall clock does not say: it may jump, and come
      // back.
      let now = loop.now
      partition.caps = partition.caps.filter { $0.value.out > 0 || now - $0.value.lastUsed < Self.capsKept }
      partition.caps[count] = FrequencyCaps(counts, now: now)
      return true
    } catch {
      worker.leaseKeeper.failed(error, partition)
      return false
    }
  }

  /// What is not used for so long has been written down; it is read again when it is asked for.
  private static let capsKept: Int64 = 3_600_000

  enum CapDecision {
    case free
    case counted(CapUse)
    case full
    /// What is counted is not known: a period began a moment ago.
    case unknown
  }

  func cap(_ target: ClaimedTarget, _ message: LoadedMessage, _ partition: Partition) -> CapDecision {
    // A token that is not registered is nobody's: nothing of it is counted.
    guard let cap = message.content?.cap, let number = target.number else { return .free }
    let count = CapCount(cap, app: message.app, now: loop.wallNow)
    guard partition.caps[count] != nil else { return .unknown }
    partition.caps[count]!.lastUsed = loop.now
    guard partition.caps[count]!.take(number, limit: cap.limit) else { return .full }
    return .counted(CapUse(count: count, number: number))
  }

  /// The delivery leaves memory.
  func releaseCap(of delivery: Delivery) {
    guard let use = delivery.cap else { return }
    delivery.partition.caps[use.count]?.release(use.number)
    delivery.partition.caps[use.count]?.lastUsed = loop.now
  }

  /// … as accepted: it is counted, here and by its flush.
  func countCap(of delivery: Delivery) -> CapUse? {
    guard let use = delivery.cap else { return nil }
    delivery.partition.caps[use.count]?.add(use.number)
    return use
  }
}
