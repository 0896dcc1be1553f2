package import Domain
import RedisClient

extension JobQueue {
  /// Deliveries of a message that was cancelled and that no lane holds: those in the retry set but for `atHand`, and
  /// members of an audience that were never handed out. In bounded steps. What is at hand ends by its own outcome: a
  /// request may be at work for it.
  package func cancelWaiting(_ lease: Lease, message: MessageID, atHand: Set<DeliveryID> = []) async throws(StoreError)
  {
    let partition = lease.partition
    let work = try await ask(RedisCommand("HMGET", keys.work(partition, message), "a", "r"), partition: partition)
    guard let fields = work.array, fields.count == 2, let waiting = fields[1].integer else { return }
    if !fields[0].isNull {
      guard let part = try await AudienceShards(session).shard(message, lease) else { return }
      try await AudienceMembers(session).endRest(of: part, lease, .cancelled, nil)
    }
    guard waiting > 0 else { return }
    try await eachWaiting(of: message, partition) { (waiting) throws(StoreError) in
      var flush = Flush(lease: lease, number: 0)
      for (index, record) in waiting {
        guard case .retrying(_, _, _, _, let target) = record.state else { continue }
        let delivery = DeliveryID(message: message, partition: partition, index: index)
        guard !atHand.contains(delivery) else { continue }
        var final = Flush.Final(
          delivery: delivery, device: target.device,
          provider: record.provider ?? ProviderName(rawValue: ""), outcome: .cancelled, reason: nil)
        final.slice = record.slice
        flush.finals.append(final)
      }
      // Number 0 is never compared: a final changes nothing the second time.
      if !flush.finals.isEmpty { _ = try await OutcomeWriter(session).flush(flush) }
    }
  }
}
