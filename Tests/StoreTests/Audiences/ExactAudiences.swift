import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Audiences are exact")
struct ExactAudiences {
  /// One partition's owner, that forgets everything when it loses the lease.
  final class Owner {
    var lease: Lease
    var number: UInt64 = 0
    var open: [DeliveryID: ClaimedTarget] = [:]
    var places: [StreamID: ClaimPlace] = [:]
    /// Whole jobs, and what of them is still open.
    var jobs: [JobID: (message: MessageID, whole: Bool)] = [:]
    var last: Flush?
    init(_ lease: Lease) { self.lease = lease }
  }

  @Test(
    "whatever is repeated, lost, taken over, cancelled or deleted: each member ends once, is tallied once, and counters are the sum",
    arguments: [UInt64.random(in: 0..<1 << 32), 11, 20_261])
  func schedule(seed: UInt64) async throws {
    try await withStore(quickSettings(partitions: 2)) { store, loop in
      var random = Seeded(seed: seed)
      let crowd = 240
      _ = try await Crowd.register(crowd, in: store)
      var present = Set((0..<crowd).map { DeviceID(rawValue: "d\($0)") })
      var owners: [Owner] = []
      for partition in 0..<2 { owners.append(Owner(try await store.take(partition))) }
      var messages: Set<MessageID> = []
      var cancelled: Set<MessageID> = []
      var outcomes: [DeliveryID: Outcome] = [:]
      var devices: [DeliveryID: DeviceID] = [:]
      let tallies = TallySums()

      func claim(_ owner: Owner, _ targets: Int) async throws {
        try await store.startAll(owner.lease, now: loop.wallNow) { address in
          address.provider == .fcm && seed.isMultiple(of: 2)
            ? .ended(.skipped, reason: "no_credential") : Crowd.route(address)
        }
        for ready in try await store.queue.readyStreams(owner.lease) {
          let jobs = try await store.queue.claim(
            owner.lease, ready.stream, after: owner.places[ready.stream], jobs: 2, targets: targets)
          for job in jobs {
            owner.places[ready.stream] = job.place
            owner.jobs[job.id] = (job.message, job.isWhole)
            for target in job.targets {
              #expect(outcomes[target.delivery] == nil, "claimed again after its end, seed \(seed)")
              #expect(owner.open[target.delivery] == nil, "claimed twice, seed \(seed)")
              if target.gone == nil { #expect(present.contains(target.device), "seed \(seed)") }
              owner.open[target.delivery] = target
              if !target.device.rawValue.isEmpty { devices[target.delivery] = target.device }
            }
          }
        }
        for target in try await store.queue.dueRetries(owner.lease, now: loop.wallNow + 1_000, limit: 5) {
          #expect(outcomes[target.delivery] == nil, "retried after its end, seed \(seed)")
          owner.open[target.delivery] = target
        }
      }

      func flush(_ owner: Owner, all: Bool) async throws {
        owner.number += 1
        var flush = Flush(lease: owner.lease, number: owner.number)
        for (delivery, target) in owner.open where all || Bool.random(using: &random) {
          if let gone = target.gone {
            flush.finals.append(final(target, .skipped, reason: gone))
            outcomes[delivery] = outcomes[delivery] ?? .skipped
          } else if !all, Int.random(in: 0..<4, using: &random) == 0 {
            let attempt = Attempt(at: loop.wallNow, verdict: "retry", reason: "busy", status: 503)
            flush.retries.append(
              Flush.RetryEntry(
                target: target, due: loop.wallNow, reason: "busy",
                attempts: Bool.random(using: &random) ? [attempt] : []))
          } else {
            let outcome = [Outcome.accepted, .accepted, .failed, .dead, .superseded].randomElement(using: &random)!
            flush.finals.append(final(target, outcome, reason: outcome == .failed ? "bad" : nil))
            outcomes[delivery] = outcomes[delivery] ?? outcome
          }
          owner.open[delivery] = nil
        }
        let open = Set(owner.open.keys.map(\.message))
        flush.finishedJobs = owner.jobs.filter { $0.value.whole && !open.contains($0.value.message) }.map(\.key)
        for job in flush.finishedJobs { owner.jobs[job] = nil }
        _ = try await store.outcomes.flush(flush)
        owner.last = flush
      }

      func check() async throws {
        for id in messages {
          let report = try #require(try await store.reports.report(id, app: shop))
          var items: [DeliveryReport] = []
          var cursor: DeliveryPlace?
          repeat {
            let page = try #require(try await store.deliveries.page(id, app: shop, cursor: cursor, limit: 37))
            items += page.items
            cursor = page.next
          } while cursor != nil
          let started = items.count == report.total
          #expect(items.count <= report.total, "seed \(seed)")
          var listed: [String: Int] = [:]
          for item in items { listed[item.state, default: 0] += 1 }
          for outcome in Outcome.allCases {
            #expect(report.count(outcome) == listed[outcome.rawValue] ?? 0, "\(outcome) of \(id), seed \(seed)")
          }
          #expect(report.retrying == listed["retrying"] ?? 0, "seed \(seed)")
          if started { #expect(report.ended + (listed["retrying"] ?? 0) + (listed["pending"] ?? 0) == report.total) }
        }
      }

      for step in 0..<140 {
        let owner = owners.randomElement(using: &random)!
        switch Int.random(in: 0..<14, using: &random) {
        case 0 where messages.count < 12:
          messages.insert(
            try #require(try await store.acceptance.accept(Crowd.submission(store, crowd, at: loop.wallNow)).id))
        case 1...5: try await claim(owner, Int.random(in: 1...40, using: &random))
        case 6...8: try await flush(owner, all: false)
        case 9: if let last = owner.last { _ = try await store.outcomes.flush(last) }
        case 10:
          // Crash and take-over; what was claimed is forgotten, the old owner's last flush comes too late.
          let old = owner.last
          try await store.leases.release(owner.lease)
          owner.lease = try await store.take(owner.lease.partition)
          owner.number = 0
          owner.open = [:]
          owner.jobs = [:]
          owner.places = [:]
          owner.last = nil
          if let old { await #expect(throws: StoreError.self) { try await store.outcomes.flush(old) } }
        case 11:
          guard let id = messages.randomElement(using: &random), step > 60, cancelled.count < 3 else { continue }
          if try await store.control.cancel(id, app: shop) == .changed { cancelled.insert(id) }
          try await store.queue.cancelWaiting(owner.lease, message: id, atHand: Set(owner.open.keys))
          // Some owners lose what they hold at the same time.
          guard Bool.random(using: &random) else { continue }
          for owner in owners {
            try await store.leases.release(owner.lease)
            owner.lease = try await store.take(owner.lease.partition)
            (owner.number, owner.open, owner.jobs, owner.places, owner.last) = (0, [:], [:], [:], nil)
          }
        case 12:
          guard let device = present.randomElement(using: &random), present.count > crowd / 2 else { continue }
          _ = try await store.devices.removeDevice(device, app: shop)
          present.remove(device)
          // Its number rests; a device that comes now gets another.
          let new = DeviceID(rawValue: "new\(step)")
          _ = try await store.devices.put(self.device(new, step), app: shop)
          present.insert(new)
        default:
          try await store.sweep.run(owner.lease, now: loop.wallNow)
          try await tallies.take(store, owner.lease, &random)
        }
        if step % 35 == 34 { try await check() }
      }
      // Retries are taken five at a time: as many rounds as they need.
      var rounds = 0
      var left = 0
      repeat {
        rounds += 1
        for owner in owners {
          try await claim(owner, 500)
          try await flush(owner, all: true)
          try await store.sweep.run(owner.lease, now: loop.wallNow)
          for id in cancelled { try await store.queue.cancelWaiting(owner.lease, message: id) }
        }
        left = try await store.queue.status().retries
      } while rounds < 30 || (left > 0 && rounds < 1_000)
      try await check()
      for owner in owners { try await tallies.take(store, owner.lease, &random) }
      var sums: [Outcome: Int] = [:]
      for id in messages {
        let report = try await store.completed(id)
        for (key, count) in report.counts { sums[key.outcome, default: 0] += count }
        #expect(report.ended == report.total && report.retrying == 0, "seed \(seed)")
        var told: [Outcome: Int] = [:]
        for (delivery, outcome) in outcomes where delivery.message == id { told[outcome, default: 0] += 1 }
        for outcome in [Outcome.accepted, .failed, .dead, .superseded] {
          #expect(report.count(outcome) == told[outcome] ?? 0, "\(outcome), seed \(seed)")
        }
        if !cancelled.contains(id) { #expect(report.count(.cancelled) == 0, "seed \(seed)") }
        // Device by device.
        let page = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 5_000))
        let states = Dictionary(
          page.items.filter { !$0.device.rawValue.isEmpty }.map { ($0.device, $0.state) },
          uniquingKeysWith: { a, _ in a })
        for (delivery, outcome) in outcomes where delivery.message == id {
          guard let device = devices[delivery], let state = states[device] else { continue }
          #expect(state == outcome.rawValue, "\(device.rawValue), seed \(seed)")
        }
      }
      #expect(tallies.sums == sums, "seed \(seed)")
      let activity = try await TallySums.activity(store, shop, now: loop.wallNow)
      #expect(activity == [sums, sums], "what the app did, by hour and by minute, seed \(seed)")
      let status = try await store.queue.status()
      #expect(status.jobs.isEmpty && status.retries == 0, "seed \(seed)")
    }
  }

  private func device(_ id: DeviceID, _ step: Int) -> Device {
    Device(id: id, address: address("cd\(step)"), registeredAt: WallTime(milliseconds: 2_000))
  }
}
