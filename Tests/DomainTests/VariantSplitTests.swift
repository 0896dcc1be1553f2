import Domain
import Testing

@Suite("Devices are shared out among variants")
struct VariantSplitTests {
  private static let count = 100_000
  private static let devices = (0..<count).map { DeviceID(rawValue: "device-\($0)") }
  private static func message(_ number: UInt64) -> MessageID {
    MessageID(acceptedAt: WallTime(milliseconds: 1_800_000_000_000), partition: 3, random: number)
  }
  private static func split(_ weights: [Int], holdout: Int, _ seed: UInt64) -> VariantSplit {
    let shares = VariantShares(names: weights.indices.map { "v\($0)" }, weights: weights, holdout: holdout)
    return VariantSplit(shares: shares, seed: message(seed))
  }

  @Test(
    "each share gets its part, within what chance allows",
    arguments: [([4_500, 4_500], 1_000), ([10_000], 0), ([1, 9_999], 0), ([], 500), ([3_333, 3_333, 3_334], 0)])
  func shares(_ weights: [Int], _ holdout: Int) {
    for seed in 1...3 {
      let split = Self.split(weights, holdout: holdout, UInt64(seed))
      var counts: [VariantSplit.Place: Int] = [:]
      for device in Self.devices { counts[split.place(of: device), default: 0] += 1 }
      var wanted: [VariantSplit.Place: Int] = [.holdout: holdout]
      for (index, weight) in weights.enumerated() { wanted[.variant(index)] = weight }
      if weights.isEmpty { wanted[.all] = 10_000 - holdout }
      #expect(Set(counts.keys).isSubset(of: wanted.filter { $0.value > 0 }.keys))
      for (place, weight) in wanted {
        let share = Double(weight) / 10_000
        // Four standard deviations of a fair draw; the draw is fixed, so this holds or does not.
        let bound = 4 * (Double(Self.count) * share * (1 - share)).squareRoot() + 0.5
        let off = abs(Double(counts[place] ?? 0) - share * Double(Self.count))
        #expect(off <= bound, "seed \(seed), \(place): \(counts[place] ?? 0) of \(weight)")
      }
    }
  }

  @Test("the same message and device always meet the same variant; another message draws anew")
  func deterministic() {
    let first = Self.split([5_000, 5_000], holdout: 0, 1)
    let again = Self.split([5_000, 5_000], holdout: 0, 1)
    let other = Self.split([5_000, 5_000], holdout: 0, 2)
    #expect(Self.devices.allSatisfy { first.place(of: $0) == again.place(of: $0) })
    let same = Self.devices.count { first.place(of: $0) == other.place(of: $0) }
    #expect(abs(same - Self.count / 2) < 650, "\(same) of \(Self.count) have the same variant in both")
    // Computed anew wherever a report is read: these never change.
    let places = (0..<8).map { first.name(of: DeviceID(rawValue: "d\($0)")) ?? "-" }
    #expect(places == ["v0", "v1", "v1", "v0", "v0", "v0", "v1", "v1"])
  }
}
