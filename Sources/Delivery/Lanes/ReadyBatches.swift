import Domain
import Loop
import Store

/// Batches of a credential that wait for their turn, in the order in which they came.
struct ReadyBatches {
  enum Kind: Int { case urgent, bulk, members }

  private(set) var urgent = FIFO<DeliveryBatch>()
  /// Of direct sends.
  private(set) var bulk = FIFO<DeliveryBatch>()
  private(set) var members = FIFO<DeliveryBatch>()

  var isEmpty: Bool { urgent.isEmpty && bulk.isEmpty && members.isEmpty }

  mutating func append(_ batch: DeliveryBatch) {
    batch.isQueued = true
    if !batch.isDirect {
      members.append(batch)
    } else if batch.urgency == .urgent {
      urgent.append(batch)
    } else {
      bulk.append(batch)
    }
  }

  func first(_ kind: Kind) -> DeliveryBatch? {
    switch kind {
    case .urgent: urgent.first
    case .bulk: bulk.first
    case .members: members.first
    }
  }
  /// The youngest that has rows.
  mutating func last(_ kind: Kind) -> DeliveryBatch? {
    func last(of queue: inout FIFO<DeliveryBatch>) -> DeliveryBatch? {
      while let batch = queue.popLast() {
        guard batch.waiting == 0 else {
          queue.append(batch)
          return batch
        }
        batch.isQueued = false
      }
      return nil
    }
    return switch kind {
    case .urgent: last(of: &urgent)
    case .bulk: last(of: &bulk)
    case .members: last(of: &members)
    }
  }

  /// The batch leaves, if it is the first or the last of its kind.
  mutating func remove(_ batch: DeliveryBatch, _ kind: Kind) {
    func remove(from queue: inout FIFO<DeliveryBatch>) {
      if queue.first === batch {
        _ = queue.popFirst()
      } else if let last = queue.popLast(), last !== batch {
        return queue.append(last)
      }
      batch.isQueued = false
    }
    switch kind {
    case .urgent: remove(from: &urgent)
    case .bulk: remove(from: &bulk)
    case .members: remove(from: &members)
    }
  }

  /// Batches whose rows all went other ways leave, as far as it would be their turn.
  mutating func trim() {
    func trim(_ queue: inout FIFO<DeliveryBatch>) {
      while let batch = queue.first, batch.waiting == 0 {
        _ = queue.popFirst()
        batch.isQueued = false
      }
    }
    trim(&urgent)
    trim(&bulk)
    trim(&members)
  }

  /// Batches that meet the condition leave.
  mutating func take(where condition: (DeliveryBatch) -> Bool) -> [DeliveryBatch] {
    guard !isEmpty else { return [] }
    var taken: [DeliveryBatch] = []
    func sift(_ queue: inout FIFO<DeliveryBatch>) {
      guard !queue.isEmpty else { return }
      for batch in queue.takeAll() { if condition(batch) { taken.append(batch) } else { queue.append(batch) } }
    }
    sift(&urgent)
    sift(&bulk)
    sift(&members)
    for batch in taken { batch.isQueued = false }
    return taken
  }
}
