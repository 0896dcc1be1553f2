import Domain
import Loop
import RedisClient

/// Deliveries that wait for their credential.
extension CredentialConditions {
  /// Of one credential, or of one part.
  private struct Waiting {
    var count = 0
    var retrying = 0
  }

  /// Members of a part whose codes are read to learn which credential those have that wait for a retry. Of a larger one
  /// that has several credentials they are not told.
  private static let mostLookedAt = 65_536

  /// How many deliveries of a message wait, by each credential of the app that something stands against. Costs nothing
  /// while nothing does.
  func waits(_ id: MessageID, _ parts: StoredMessageHashes, app: AppID) async throws(StoreError) -> [CredentialWait] {
    let conditions = try await all().filter { $0.key.rawValue.hasPrefix("\(app.rawValue)/") }
    guard !conditions.isEmpty, parts.text("don") == nil else { return [] }
    var found: [CredentialID: Waiting] = [:]
    for (partition, work) in parts.work where !parts.told.contains(partition) {
      func number(_ name: String) -> Int { work[Array(name.utf8)].flatMap(StoredNumber.read) ?? 0 }
      // Who waits for its time stands in the retry set as well.
      let retrying = max(0, number("r") - max(0, number("h")))
      if work[Array("a".utf8)] != nil {
        guard number("x") > 0, let snapshot = try await DeliveryReports(session).snapshot(id, partition) else {
          continue
        }
        // Those whose time has not come wait for that (`Delay`).
        let now = session.loop.wallNow
        for job in snapshot.jobs where conditions[job.credential] != nil && job.wave?.waits(at: now) == nil {
          found[job.credential, default: Waiting()].count += max(0, number("j\(job.range.lowerBound)"))
        }
        guard retrying > 0 else { continue }
        let byCredential = try await self.retrying(retrying, of: snapshot, id, partition)
        for (credential, count) in byCredential where conditions[credential] != nil {
          found[credential, default: Waiting()].retrying += count
        }
      } else if let list = TargetList(work: work) {
        let codes = try await AudienceMembers(session).codes(id, partition, list.entries.indices)
        var left = retrying
        for (index, entry) in list.entries.enumerated() {
          guard let credential = entry.credential, conditions[credential] != nil else { continue }
          if codes[index] == .none {
            found[credential, default: Waiting()].count += 1
          } else if codes[index] == .waiting, left > 0 {
            found[credential, default: Waiting()].retrying += 1
            left -= 1
          }
        }
      }
    }
    return found.filter { $0.value.count + $0.value.retrying > 0 }.compactMap { credential, waiting in
      conditions[credential].map {
        CredentialWait(credential: credential, condition: $0, count: waiting.count, retrying: waiting.retrying)
      }
    }.sorted { $0.credential.rawValue < $1.credential.rawValue }
  }

  /// Of a part of an audience: how many of those that wait for a retry have which credential.
  private func retrying(_ count: Int, of snapshot: Snapshot, _ id: MessageID, _ partition: Int) async throws(StoreError)
    -> [CredentialID: Int]
  {
    let credentials = Set(snapshot.jobs.map(\.credential))
    if let only = credentials.first, credentials.count == 1 { return [only: count] }
    guard snapshot.count <= Self.mostLookedAt else { return [:] }
    let codes = try await AudienceMembers(session).codes(id, partition, 0..<snapshot.count)
    var found: [CredentialID: Int] = [:]
    for job in snapshot.jobs {
      found[job.credential, default: 0] += job.range.count { codes[$0] == .waiting }
    }
    return found
  }
}
