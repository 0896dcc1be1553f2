import Domain
import RedisClient

/// Deliveries that wait for an operator: their credential is blocked.
extension Store {
  /// How many deliveries of a message wait behind each blocked credential's reason. Costs nothing while none of the app is blocked.
  func blocked(_ id: MessageID, _ parts: MessageParts, app: AppID) async throws(StoreError) -> [String: Int] {
    let reasons = try await blockedCredentials().filter { $0.key.rawValue.hasPrefix("\(app.rawValue)/") }
    guard !reasons.isEmpty, parts.text("don") == nil else { return [:] }
    var blocked: [String: Int] = [:]
    for (partition, work) in parts.work where !parts.told.contains(partition) {
      func number(_ name: String) -> Int { work[Array(name.utf8)].flatMap(StoredNumber.read) ?? 0 }
      if work[Array("a".utf8)] != nil {
        guard number("x") > 0, let snapshot = try await snapshot(id, partition) else { continue }
        for job in snapshot.jobs {
          guard let reason = reasons[job.credential] else { continue }
          blocked[reason, default: 0] += max(0, number("j\(job.range.lowerBound)"))
        }
      } else if let list = work[Array("t".utf8)].flatMap({ try? TargetList(packed: $0) }) {
        let known = try await ask(RedisCommand("HKEYS", keys.deliveries(partition, id)), partition: partition)
        let begun = Set((known.array ?? []).compactMap { $0.integer.map { Int($0) } })
        for (index, entry) in list.entries.enumerated() where !begun.contains(index) {
          guard let reason = entry.credential.flatMap({ reasons[$0] }) else { continue }
          blocked[reason, default: 0] += 1
        }
      }
    }
    return blocked.filter { $0.value > 0 }
  }
}
