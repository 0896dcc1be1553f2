package import Domain
import Loop
import RedisClient

/// How many deliveries became final in some way.
package struct Tally: Hashable, Sendable {
  /// Nil: it was never known.
  package var provider: ProviderName?
  package var outcome: Outcome
  /// Nil: it was never known.
  package var app: AppID?
  package var count: Int
}

/// Outcomes are counted where they become final: in the scripts that write them (`tally` in `Lua/Parts`). The owner of a
/// partition takes the counts, so that each is told by one process, once; as they are taken, they are added to what the apps
/// did (`Activity`). Holds nothing but its session, on whose loop it is used.
package struct Tallies: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// What became final in the partition since it was taken last; empty where nothing did. A number is asked for until it was
  /// answered: then the next one may be.
  package func take(_ lease: Lease, number: UInt64, isRepeated: Bool) async throws(StoreError) -> [Tally] {
    let partition = lease.partition
    let tallied = try await ask(RedisCommand("HKEYS", keys.tallies(partition)), partition: partition).array ?? []
    guard isRepeated || !tallied.isEmpty else { return [] }
    // As they stand there: what was damaged has a name, too.
    let apps = Set(tallied.compactMap { $0.bytes.flatMap(Tally.app) })
    let now = loop.wallNow
    var names = [keys.lease(partition), keys.tallies(partition), keys.takenTallies(partition)]
    var arguments: [RedisArgument] = [
      .text(String(number)), .number(Activity.Period.hour.life), .number(Activity.Period.minute.life),
    ]
    for app in apps {
      let id = AppID(rawValue: String(decoding: app, as: UTF8.self))
      names += Activity.Period.allCases.map { keys.activity(partition, id, $0, $0.number(at: now)) }
      arguments.append(.bytes(app))
    }
    let reply = try await ask(Scripts.takeTallies, keys: names, arguments, under: lease)
    return pairs(reply.array ?? []).compactMap { Tally(name: $0.name, count: $0.value) }
  }
}

extension Tally {
  private static let separator: UInt8 = 1

  /// As the scripts name them: what counters of messages begin with. They put the app behind it.
  static func name(provider: ProviderName?, outcome: Outcome) -> [UInt8] {
    Array((provider?.rawValue ?? "").utf8.filter { $0 != separator }) + [separator] + Array(outcome.rawValue.utf8)
  }

  /// The app in such a name; nil: there is none.
  fileprivate static func app(in name: [UInt8]) -> [UInt8]? {
    let parts = name.split(separator: separator, maxSplits: 2, omittingEmptySubsequences: false)
    return parts.count > 2 && !parts[2].isEmpty ? Array(parts[2]) : nil
  }

  init?(name: [UInt8], count: [UInt8]) {
    let parts = name.split(separator: Self.separator, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, let outcome = Outcome(rawValue: String(decoding: parts[1], as: UTF8.self)),
      let count = StoredNumber.read(count)
    else { return nil }
    provider = parts[0].isEmpty ? nil : ProviderName(rawValue: String(decoding: parts[0], as: UTF8.self))
    app = parts.count > 2 && !parts[2].isEmpty ? AppID(rawValue: String(decoding: parts[2], as: UTF8.self)) : nil
    self.outcome = outcome
    self.count = count
  }
}
