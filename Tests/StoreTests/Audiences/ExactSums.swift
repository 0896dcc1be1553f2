import Domain
import Loop
import RedisClient
import Store
import Support
import Testing

@Suite("Sums are exact")
struct ExactSums {
  /// One partition's owner, as a worker would be, that forgets everything when it loses the lease.
  final class Owner {
    var lease: Lease
    var number: UInt64 = 0
    var open: [DeliveryID: ClaimedTarget] = [:]
    var jobs: [JobID: Set<DeliveryID>] = [:]
    var last: Flush?
    init(_ lease: Lease) { self.lease = lease }
  }

  @Test(
    "whatever is repeated, lost or taken over: outcomes and unfinished add up, no outcome changes, and each is tallied once",
    arguments: [UInt64.random(in: 0..<1 << 32), 7, 4242])
  func interleavings(seed: UInt64) async throws {
    try await withStore(quickSettings(partitions: 2)) { store, loop in
      var random = Seeded(seed: seed)
      var owners: [Owner] = []
      for partition in 0..<2 { owners.append(Owner(try await store.take(partition))) }
      var messages: [MessageID: Int] = [:]
      var outcomes: [DeliveryID: Outcome] = [:]
      let tallies = TallySums()

      func claim(_ owner: Owner) async throws {
        for ready in try await store.queue.readyStreams(owner.lease) {
          for job in try await store.queue.claim(owner.lease, ready.stream, after: nil, jobs: 3, targets: 10_000) {
            owner.jobs[job.id] = Set(job.targets.map(\.delivery))
            for target in job.targets {
              #expect(outcomes[target.delivery] == nil, "claimed again after its end, seed \(seed)")
              owner.open[target.delivery] = target
            }
          }
        }
        for target in try await store.queue.dueRetries(owner.lease, now: loop.wallNow + 1_000, limit: 5) {
          owner.open[target.delivery] = target
        }
      }

      func flush(_ owner: Owner, all: Bool) async throws {
        owner.number += 1
        var flush = Flush(lease: owner.lease, number: owner.number)
        for (delivery, target) in owner.open where all || Bool.random(using: &random) {
          if !all, Int.random(in: 0..<4, using: &random) == 0 {
            let attempt = Attempt(at: loop.wallNow, verdict: "retry", reason: "busy", status: 503)
            flush.retries.append(
              Flush.RetryEntry(
                target: target, due: loop.wallNow, reason: "busy",
                attempts: Bool.random(using: &random) ? [attempt] : []))
          } else {
            let outcome = [Outcome.accepted, .failed, .dead].randomElement(using: &random)!
            flush.finals.append(final(target, outcome))
            if outcomes[delivery] == nil { outcomes[delivery] = outcome }
          }
          owner.open[delivery] = nil
        }
        let open = Set(owner.open.keys)
        flush.finishedJobs = owner.jobs.filter { $0.value.isDisjoint(with: open) }.map(\.key)
        for job in flush.finishedJobs { owner.jobs[job] = nil }
        _ = try await store.outcomes.flush(flush)
        owner.last = flush
      }

      func check() async throws {
        for (id, total) in messages {
          let report = try #require(try await store.reports.report(id, app: shop))
          let items = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 10_000)).items
          let unfinished = items.filter { Outcome(rawValue: $0.state) == nil }.count
          #expect(report.total == total && items.count == total, "seed \(seed)")
          #expect(report.ended + unfinished == total, "seed \(seed)")
          #expect(report.retrying == items.filter { $0.state == "retrying" }.count, "seed \(seed)")
        }
      }

      for step in 0..<120 {
        let owner = owners.randomElement(using: &random)!
        switch Int.random(in: 0..<10, using: &random) {
        case 0...1:
          let count = Int.random(in: 1...30, using: &random)
          let tokens = (0..<count).map { "\(step)-\($0)" }
          messages[try #require(try await store.acceptance.accept(submission(tokens: tokens, at: loop.wallNow)).id)] =
            count
        case 2...4: try await claim(owner)
        case 5...6: try await flush(owner, all: false)
        case 7:
          if let last = owner.last { _ = try await store.outcomes.flush(last) }
        case 8:
          // Crash and take-over; what was claimed is forgotten, the old owner's last flush comes too late.
          let old = owner.last
          try await store.leases.release(owner.lease)
          owner.lease = try await store.take(owner.lease.partition)
          owner.number = 0
          owner.open = [:]
          owner.jobs = [:]
          owner.last = nil
          if let old { await #expect(throws: StoreError.self) { try await store.outcomes.flush(old) } }
        default:
          try await store.sweep.run(owner.lease, now: loop.wallNow)
          try await tallies.take(store, owner.lease, &random)
        }
        if step % 20 == 19 { try await check() }
      }
      for _ in 0..<60 {
        for owner in owners {
          try await claim(owner)
          try await flush(owner, all: true)
          try await store.sweep.run(owner.lease, now: loop.wallNow)
        }
      }
      try await check()
      var sums: [Outcome: Int] = [:]
      for id in messages.keys {
        let report = try #require(try await store.reports.report(id, app: shop))
        #expect(report.state == .completed, "seed \(seed)")
        for (key, count) in report.counts { sums[key.outcome, default: 0] += count }
      }
      #expect(sums == outcomes.values.reduce(into: [:]) { $0[$1, default: 0] += 1 }, "seed \(seed)")
      for owner in owners { try await tallies.take(store, owner.lease, &random) }
      #expect(tallies.sums == sums, "seed \(seed)")
      let activity = try await TallySums.activity(store, shop, now: loop.wallNow)
      #expect(activity == [sums, sums], "what the app did, by hour and by minute, seed \(seed)")
      let status = try await store.queue.status()
      #expect(status.jobs.isEmpty && status.retries == 0, "seed \(seed)")
    }
  }
}
