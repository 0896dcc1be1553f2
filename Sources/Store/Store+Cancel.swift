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
        (
          [keys.work(partition, id), keys.starts(partition), keys.ends(partition)],
          [.text(keys.bell), .text(id.description), .bytes(id.raw), .number(Int64(partition))]
        )
      })
    return answer == 1 ? .cancelled : .alreadyCancelled
  }

  /// Records read at a time.
  private static let recordsPerStep = 500

  /// Deliveries of a message that was cancelled and that no lane holds: those in the retry set but for `atHand`, and members
  /// of an audience that were never handed out. In bounded steps. What is at hand ends by its own outcome: a request may be
  /// at work for it.
  package func cancelWaiting(_ lease: Lease, message: MessageID, atHand: Set<DeliveryID> = []) async throws(StoreError)
  {
    let partition = lease.partition
    let work = try await ask(RedisCommand("HMGET", keys.work(partition, message), "a", "r"), partition: partition)
    guard let fields = work.array, fields.count == 2, let waiting = fields[1].integer else { return }
    if !fields[0].isNull {
      guard let part = try await audiencePart(message, lease) else { return }
      try await endRest(of: part, lease, .cancelled)
    }
    guard waiting > 0 else { return }
    var cursor = "0"
    repeat {
      let page =
        try await ask(
          RedisCommand(
            "HSCAN", keys.deliveries(partition, message), cursor, "COUNT", String(Self.recordsPerStep)),
          partition: partition
        ).array ?? []
      var flush = Flush(lease: lease, number: 0)
      for (name, packed) in pairs(page.last?.array ?? []) {
        guard let index = Int(String(decoding: name, as: UTF8.self)), let record = try? DeliveryRecord(packed: packed),
          case .retrying(_, _, _, _, let target) = record.state
        else { continue }
        let delivery = DeliveryID(message: message, partition: partition, index: index)
        guard !atHand.contains(delivery) else { continue }
        flush.finals.append(
          Flush.Final(
            delivery: delivery, device: target.device,
            provider: record.provider ?? ProviderName(rawValue: ""), outcome: .cancelled, reason: nil))
      }
      // Number 0 is never compared: a final changes nothing the second time.
      if !flush.finals.isEmpty { _ = try await self.flush(flush) }
      cursor = page.first?.text ?? "0"
    } while cursor != "0"
  }
}
