package import Domain
import RedisClient

/// Retries of paused messages: they stay in the retry set, out of turn, so that they neither come back before their
/// time nor stand in front of others.
extension JobQueue {
  /// The due time of a retry that is out of turn.
  package static let parked = WallTime(milliseconds: 1 << 52)

  /// Messages of which a flush puts retries out of turn.
  static func parked(by flush: Flush) -> Set<MessageID> {
    var messages: Set<MessageID> = []
    for retry in flush.retries where retry.due >= Self.parked { messages.insert(retry.target.delivery.message) }
    return messages
  }

  /// Called before such a flush: `unpark` finds them whatever happens in between.
  func notePark(_ parked: Set<MessageID>, _ flush: Flush) async throws(StoreError) {
    guard !parked.isEmpty else { return }
    let partition = flush.lease.partition
    _ = try await ask(
      Scripts.park, keys: [keys.lease(partition), keys.parked(partition)],
      parked.map { .bytes($0.raw) }, under: flush.lease)
  }

  /// Messages that may have retries out of turn.
  package func parkedMessages(_ lease: Lease) async throws(StoreError) -> [MessageID] {
    (try await ask(RedisCommand("HKEYS", keys.parked(lease.partition))).array ?? []).compactMap {
      $0.bytes.flatMap { MessageID(raw: $0) }
    }
  }

  /// The message goes on: its retries that are out of turn are due now. In bounded steps; repeatable. What
  /// is out of turn is not at work, whatever its owner still remembers of it.
  package func unpark(_ lease: Lease, message: MessageID, now: WallTime) async throws(StoreError) {
    let partition = lease.partition
    // What a flush at work puts out of turn meanwhile may be missed, also if it is done before the search.
    let mayMiss = session.owned.parking[partition]?[message] != nil
    var asked = RedisCommand("HGET", keys.parked(partition))
    asked.append(message.raw)
    let replies = try await ask(
      [asked, RedisCommand("HGET", keys.work(partition, message), "a")], partition: partition)
    guard let count = replies[0].text else { return }
    if !replies[1].isNull { _ = try await AudienceShards(session).shard(message, lease) }
    try await eachWaiting(of: message, partition) { (waiting) throws(StoreError) in
      var flush = Flush(lease: lease, number: 0)
      for (index, record) in waiting {
        guard case .retrying(let due, let reason, let sequence, let credential, let packed) = record.state,
          due >= Self.parked
        else { continue }
        let delivery = DeliveryID(message: message, partition: partition, index: index)
        let target = ClaimedTarget(
          delivery: delivery, device: packed.device, registered: packed.address == nil, credential: credential,
          sequence: sequence, address: packed.address ?? record.provider.map { Address(provider: $0, token: "") },
          gone: nil, facts: nil, attempts: [], slice: nil)
        flush.retries.append(Flush.RetryEntry(target: target, due: now, reason: reason, attempts: []))
      }
      if !flush.retries.isEmpty { _ = try await OutcomeWriter(session).flush(flush) }
    }
    // The message stays noted for the next search.
    if mayMiss { return }
    _ = try await ask(
      Scripts.unparked, keys: [keys.lease(partition), keys.parked(partition)],
      [.bytes(message.raw), .text(count)], under: lease)
  }

  /// Records read at a time.
  private static let recordsPerStep = 500

  /// The records of a message's deliveries that wait for a retry, in bounded steps; some may come twice.
  func eachWaiting(
    of message: MessageID, _ partition: Int, _ body: ([(Int, DeliveryRecord)]) async throws(StoreError) -> Void
  ) async throws(StoreError) {
    var cursor = "0"
    repeat {
      let page =
        try await ask(
          RedisCommand(
            "HSCAN", keys.deliveries(partition, message), cursor, "COUNT", String(Self.recordsPerStep)),
          partition: partition
        ).array ?? []
      var waiting: [(Int, DeliveryRecord)] = []
      for (name, packed) in pairs(page.last?.array ?? []) {
        guard let index = StoredNumber.index(name), let record = try? DeliveryRecord(packed: packed),
          case .retrying = record.state
        else { continue }
        waiting.append((index, record))
      }
      try await body(waiting)
      cursor = page.first?.text ?? "0"
    } while cursor != "0"
  }
}
