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
}
