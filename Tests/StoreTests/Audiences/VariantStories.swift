import Domain
import Loop
import Support
import Testing

@testable import Store

@Suite("Variants in the store")
struct VariantStories {
  static let shares = VariantShares(names: ["a", "b"], weights: [5_000, 3_000], holdout: 2_000)

  /// By variant and outcome; "-" for none.
  private func sums(_ report: MessageReport) -> [String: Int] {
    var sums: [String: Int] = [:]
    for (key, count) in report.counts { sums["\(key.variant ?? "-") \(key.outcome)", default: 0] += count }
    return sums
  }
  /// As the split itself has it.
  private func wanted(_ devices: [DeviceID], _ split: VariantSplit, outcome: Outcome) -> [String: Int] {
    var sums: [String: Int] = [:]
    for device in devices {
      switch split.place(of: device) {
      case .variant(let index): sums["\(split.shares.names[index]) \(outcome)", default: 0] += 1
      case .holdout: sums["- skipped", default: 0] += 1
      case .all: break
      }
    }
    return sums
  }

  @Test("an audience's members are counted by variant, the holdout is skipped, and each delivery shows its own")
  func audience() async throws {
    try await withStore { store, loop in
      let now = loop.wallNow
      let crowd = try await Crowd.register(400, in: store)
      var submission = try await Crowd.submission(store, 400, at: now)
      submission.shares = Self.shares
      let id = try #require(try await store.acceptance.accept(submission).id)
      let split = try #require(try await store.queue.message(id)?.split)
      #expect(split == VariantSplit(shares: Self.shares, seed: id))
      for partition in 0..<4 {
        let lease = try await store.take(partition)
        try await store.startAll(lease, now: now)
        let targets = try await store.finishAll(lease, targets: 7)
        #expect(targets.allSatisfy { split.name(of: $0.device) != nil }, "somebody of the holdout was handed out")
      }
      let report = try await store.completed(id)
      #expect(report.split == split && report.ended == 400)
      #expect(sums(report) == wanted(crowd.devices, split, outcome: .accepted))
      #expect(report.counts.keys.filter { $0.outcome == .skipped }.allSatisfy { $0.reason == "holdout" })
      try await check(store, id, split, 400)
      var filter = DeliveryFilter()
      filter.variant = "b"
      let some = try #require(try await store.deliveries.page(id, app: shop, filter: filter, cursor: nil, limit: 1_000))
        .items
      #expect(some.count == sums(report)["b accepted"] && some.allSatisfy { $0.variant == "b" })
    }
  }

  private func check(_ store: Store, _ id: MessageID, _ split: VariantSplit, _ count: Int) async throws {
    let items = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 1_000)).items
    #expect(items.count == count)
    for item in items {
      #expect(item.variant == split.name(of: item.device), "\(item.device)")
      #expect((item.reason == "holdout") == (split.place(of: item.device) == .holdout))
    }
  }

  @Test("members whose end comes without a request keep their variant: what is cancelled adds up, too")
  func cancelled() async throws {
    try await withStore { store, loop in
      let now = loop.wallNow
      let crowd = try await Crowd.register(200, in: store)
      var submission = try await Crowd.submission(store, 200, at: now)
      submission.shares = Self.shares
      let id = try #require(try await store.acceptance.accept(submission).id)
      let split = VariantSplit(shares: Self.shares, seed: id)
      var leases: [Lease] = []
      for partition in 0..<4 {
        leases.append(try await store.take(partition))
        try await store.startAll(leases[partition], now: now)
      }
      #expect(try await store.control.cancel(id, app: shop) == .changed)
      for lease in leases { try await store.queue.cancelWaiting(lease, message: id) }
      #expect(sums(try await store.completed(id)) == wanted(crowd.devices, split, outcome: .cancelled))
    }
  }

  @Test(
    "a list is shared out alike: its records are counted by variant, before and after it has ended",
    arguments: [3, 700])
  func direct(_ count: Int) async throws {
    try await withStore { store, loop in
      var submission = submission(tokens: (0..<count).map { "t\($0)" }, at: loop.wallNow)
      submission.shares = Self.shares
      let devices = submission.targets.map(\.device)
      let id = try #require(try await store.acceptance.accept(submission).id)
      let split = VariantSplit(shares: Self.shares, seed: id)
      let first = try #require(try await store.reports.report(id, app: shop))
      #expect(sums(first) == wanted(devices, split, outcome: .accepted).filter { $0.key == "- skipped" })
      for partition in 0..<4 {
        let lease = try await store.take(partition)
        _ = try await store.finishAll(lease)
      }
      let report = try await store.completed(id)
      #expect(sums(report) == wanted(devices, split, outcome: .accepted))
      try await check(store, id, split, count)
    }
  }
}
