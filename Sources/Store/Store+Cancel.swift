package import Domain
import RedisClient

extension Store {
  package func cancel(_ id: MessageID, app: AppID) async throws(StoreError) -> Cancellation {
    guard let parts = try await find([id])[0], parts.text("app") == app.rawValue else { return .unknown }
    if parts.text("don") != nil { return parts.text("can") == nil ? .alreadyCompleted : .alreadyCancelled }
    let answer = try await ask(Scripts.cancel, keys: [keys.message(id)], []).integer
    guard answer != 0 else { return .alreadyCompleted }
    // Also when it was cancelled before: whoever did may not have come this far.
    _ = try await ask(
      Scripts.cancelPart,
      parts.partitions.filter { (0..<settings.partitions).contains($0) }.map { partition in
        ([keys.work(partition, id)], [.text(keys.bell), .text(id.description)])
      })
    return answer == 1 ? .cancelled : .alreadyCancelled
  }

  /// Deliveries in the retry set of a message that was cancelled: ended here, as no lane holds them.
  package func cancelWaiting(_ lease: Lease, message: MessageID) async throws(StoreError) {
    let partition = lease.partition
    let stored = try await ask(RedisCommand("HGETALL", keys.deliveries(partition, message)), partition: partition)
    var flush = Flush(lease: lease, number: 0)
    for (name, packed) in pairs(stored.array ?? []) {
      guard let index = Int(String(decoding: name, as: UTF8.self)), let record = try? DeliveryRecord(packed: packed),
        case .retrying(_, _, _, _, let target) = record.state
      else { continue }
      flush.finals.append(
        Flush.Final(
          delivery: DeliveryID(message: message, partition: partition, index: index), device: target.device,
          provider: record.provider ?? ProviderName(rawValue: ""), outcome: .cancelled, reason: nil))
    }
    // Number 0 is never compared: a final changes nothing the second time.
    if !flush.finals.isEmpty { _ = try await self.flush(flush) }
  }
}
