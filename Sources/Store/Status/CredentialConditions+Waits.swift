import Domain
import RedisClient

/// Deliveries that wait for their credential.
extension CredentialConditions {
  /// How many deliveries of a message have not begun, by each credential of the app that something stands against.
  /// Costs nothing while nothing does.
  func waits(_ id: MessageID, _ parts: StoredMessageHashes, app: AppID) async throws(StoreError) -> [CredentialWait] {
    let conditions = try await all().filter { $0.key.rawValue.hasPrefix("\(app.rawValue)/") }
    guard !conditions.isEmpty, parts.text("don") == nil else { return [] }
    var counts: [CredentialID: Int] = [:]
    for (partition, work) in parts.work where !parts.told.contains(partition) {
      func number(_ name: String) -> Int { work[Array(name.utf8)].flatMap(StoredNumber.read) ?? 0 }
      if work[Array("a".utf8)] != nil {
        guard number("x") > 0, let snapshot = try await DeliveryReports(session).snapshot(id, partition) else {
          continue
        }
        for job in snapshot.jobs where conditions[job.credential] != nil {
          counts[job.credential, default: 0] += max(0, number("j\(job.range.lowerBound)"))
        }
      } else if let list = TargetList(work: work) {
        let codes = try await AudienceMembers(session).codes(id, partition, list.entries.indices)
        for (index, entry) in list.entries.enumerated() where codes[index] == .none {
          guard let credential = entry.credential, conditions[credential] != nil else { continue }
          counts[credential, default: 0] += 1
        }
      }
    }
    return counts.filter { $0.value > 0 }.compactMap { credential, count in
      conditions[credential].map { CredentialWait(credential: credential, condition: $0, count: count) }
    }.sorted { $0.credential.rawValue < $1.credential.rawValue }
  }
}
