import Domain
import Store
import Support
import Testing

/// What a worker counts of ends: it asks again under the same number where an answer was lost.
final class TallySums {
  private(set) var sums: [Outcome: Int] = [:]

  func take(_ store: Store, _ lease: Lease, _ random: inout Seeded) async throws {
    let number = UInt64.random(in: 1...UInt64.max, using: &random)
    var tallies = try await store.tallies.take(lease, number: number, isRepeated: false)
    if !tallies.isEmpty, Bool.random(using: &random) {
      let again = try await store.tallies.take(lease, number: number, isRepeated: true)
      #expect(Set(again) == Set(tallies), "the same number is answered alike")
      tallies = again
    }
    for tally in tallies { sums[tally.outcome, default: 0] += tally.count }
  }

  /// What an app did, as it is told by hour and by minute: both are what was taken.
  static func activity(_ store: Store, _ app: AppID, now: WallTime) async throws -> [[Outcome: Int]] {
    var told: [[Outcome: Int]] = []
    for (period, count) in [(Activity.Period.hour, Int64(2)), (.minute, 9)] {
      let last = period.number(at: now)
      var sums: [Outcome: Int] = [:]
      for counts in try await store.activity.counts(of: app, in: (0..<count).map { last - $0 }, period).values {
        for (kind, count) in counts { sums[kind.outcome, default: 0] += count }
      }
      told.append(sums)
    }
    return told
  }
}
