package import Domain
import Loop
import RedisClient

/// What an app's deliveries came to, by hour and by minute. Each partition counts its own, in the step that takes its
/// tallies (`Tallies`): no outcome is counted twice, and none is missing but those of which the app was not known. An
/// outcome belongs to the time at which it was taken, about a second after it was written. Holds nothing but its session,
/// on whose loop it is used.
package struct Activity: StorePart {
  let session: RedisSession

  init(_ session: RedisSession) { self.session = session }

  /// What counts are kept for.
  package enum Period: String, Sendable, CaseIterable {
    case hour = "h"
    case minute = "m"

    /// Of one.
    package var milliseconds: Int64 { self == .hour ? 3_600_000 : 60_000 }
    /// Seconds for which its counts are kept behind the last one.
    var life: Int64 { self == .hour ? 50 * 3_600 : 600 }
    /// Which one it is at that time, from 1970.
    package func number(at time: WallTime) -> Int64 { max(0, time.milliseconds) / milliseconds }
    /// When one of them began.
    package func start(of number: Int64) -> WallTime {
      WallTime(milliseconds: number.multipliedReportingOverflow(by: milliseconds).partialValue)
    }
  }

  /// How a delivery ended, and by whom.
  package struct Kind: Hashable, Sendable {
    /// Nil: it was never known.
    package var provider: ProviderName?
    package var outcome: Outcome
    /// Nothing more.
    package init(provider: ProviderName?, outcome: Outcome) { (self.provider, self.outcome) = (provider, outcome) }
  }

  /// Read in one request to Redis.
  private static let keysAtOnce = 512

  /// What the app did in each of these, of all partitions; one in which nothing ended is left out.
  package func counts(of app: AppID, in numbers: [Int64], _ period: Period) async throws(StoreError)
    -> [Int64: [Kind: Int]]
  {
    let wanted = numbers.flatMap { number in
      (0..<settings.partitions).map { (number, keys.activity($0, app, period, number)) }
    }
    var found: [Int64: [Kind: Int]] = [:]
    for start in stride(from: 0, to: wanted.count, by: Self.keysAtOnce) {
      let some = wanted[start..<min(wanted.count, start + Self.keysAtOnce)]
      for ((number, _), reply) in zip(some, try await ask(some.map { RedisCommand("HGETALL", $0.1) })) {
        for (name, count) in pairs(reply.array ?? []) {
          guard let tally = Tally(name: name, count: count), tally.count > 0 else { continue }
          let kind = Kind(provider: tally.provider, outcome: tally.outcome)
          found[number, default: [:]][kind, default: 0] &+= tally.count
        }
        await loop.giveWay()
      }
    }
    return found
  }
}
