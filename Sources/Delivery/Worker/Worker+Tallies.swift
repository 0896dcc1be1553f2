import Domain
import Loop
import Store

/// Counting ends: what the store has counted when it wrote outcomes, whoever had them written, this process tells of the partitions
/// that it owns.
extension Worker {
  func countEnds(of partition: Partition, _ lease: Lease) async throws(StoreError) {
    // One at a time: a number that is asked for twice at once would be counted twice.
    guard !partition.countsEnds else { return }
    partition.countsEnds = true
    defer { partition.countsEnds = false }
    let isRepeated = partition.tallyNumber != nil
    let number = partition.tallyNumber ?? UInt64.random(in: 1...UInt64.max)
    partition.tallyNumber = number
    for tally in try await store.tallies.take(lease, number: number, isRepeated: isRepeated) { counts.ended(tally) }
    partition.tallyNumber = nil
  }
}
