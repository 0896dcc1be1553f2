package import Domain
import RedisClient

/// How many deliveries became final in some way.
package struct Tally: Hashable, Sendable {
  /// Nil: it was never known.
  package var provider: ProviderName?
  package var outcome: Outcome
  package var count: Int
}

/// Outcomes are counted where they become final: in the scripts that write them (`tally` in `Lua/Parts`). The owner of a
/// partition takes the counts, so that each is told by one process, once. Holds nothing but its session, on whose loop it is
/// used.
package struct Tallies: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// What became final in the partition since it was taken last; empty where nothing did. A number is asked for until it was
  /// answered: then the next one may be.
  package func take(_ lease: Lease, number: UInt64, isRepeated: Bool) async throws(StoreError) -> [Tally] {
    let partition = lease.partition
    if !isRepeated {
      let some = try await ask(RedisCommand("EXISTS", keys.tallies(partition)), partition: partition)
      guard some.integer == 1 else { return [] }
    }
    let reply = try await ask(
      Scripts.takeTallies,
      keys: [keys.lease(partition), keys.tallies(partition), keys.takenTallies(partition)],
      [.text(String(number))], under: lease)
    return pairs(reply.array ?? []).compactMap { Tally(name: $0.name, count: $0.value) }
  }
}

extension Tally {
  private static let separator: UInt8 = 1

  /// As the scripts name them: what counters of messages begin with.
  static func name(provider: ProviderName?, outcome: Outcome) -> [UInt8] {
    Array((provider?.rawValue ?? "").utf8.filter { $0 != separator }) + [separator] + Array(outcome.rawValue.utf8)
  }

  fileprivate init?(name: [UInt8], count: [UInt8]) {
    let parts = name.split(separator: Self.separator, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let outcome = Outcome(rawValue: String(decoding: parts[1], as: UTF8.self)),
      let count = StoredNumber.read(count)
    else { return nil }
    provider = parts[0].isEmpty ? nil : ProviderName(rawValue: String(decoding: parts[0], as: UTF8.self))
    self.outcome = outcome
    self.count = count
  }
}
