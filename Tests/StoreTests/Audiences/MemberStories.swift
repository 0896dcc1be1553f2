import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Members of a running audience")
struct MemberStories {
  @Test(
    "retagged they get it, deleted or pruned they do not, and who has a deleted one's number since gets nothing"
  )
  func changedMeanwhile() async throws {
    var short = quickSettings(partitions: 1)
    short.retentionSeconds = 7_200
    let settings = short
    try await withStore(settings) { store, loop in
      let crowd = try await Crowd.register(30, in: store)
      let lease = try await store.take(0)
      // Numbers rest for the time of retention: half of it tells whom the snapshot means, whatever clocks say.
      let registered = loop.wallNow
      let started = registered + -settings.retentionSeconds * 500
      let id = try #require(try await store.acceptance.accept(Crowd.submission(store, 30, at: started)).id)
      try await store.startAll(lease, now: started)
      while loop.wallNow.milliseconds <= registered.milliseconds {
        await loop.sleep(milliseconds: 1)
      }

      let (retagged, pruned, deleted) = (crowd.devices[0], crowd.devices[1], crowd.devices[2])
      _ = try await store.devices.changeTags(of: retagged, TagChange(replace: ["churned"]), app: shop)
      var flush = Flush(lease: lease, number: 1)
      flush.prunes = [
        Flush.Prune(
          app: shop, device: pruned, token: "ab1", reason: "Unregistered", since: nil,
          at: loop.wallNow)
      ]
      #expect(try await store.outcomes.flush(flush).pruned == 1)
      let number = try #require(try await store.records.find([deleted], app: shop)[0]).place.number
      #expect(try await store.devices.removeDevice(deleted, app: shop))
      // As if it had rested for the time of retention.
      _ = try await store.session.redis.call(
        RedisCommand("ZADD", store.session.keys.freeNumbers(0, shop), "XX", "1", String(number)))
      _ = try await store.devices.put(device("late", token: "late"), app: shop)
      #expect(
        try await store.records.find([DeviceID(rawValue: "late")], app: shop)[0]?.place.number == number)

      var reached = Set<DeviceID>()
      var sums: [Outcome: Int] = [:]
      for ready in try await store.queue.readyStreams(lease) {
        let jobs = try await store.queue.claim(lease, ready.stream, after: nil, jobs: 10, targets: 100)
        var flush = Flush(lease: lease, number: 0)
        for target in jobs.flatMap(\.targets) {
          let outcome = target.gone == nil ? Outcome.accepted : .skipped
          if target.gone == nil { #expect(reached.insert(target.device).inserted) }
          #expect(target.address?.token != "late")
          sums[outcome, default: 0] += 1
          flush.finals.append(final(target, outcome, reason: target.gone))
        }
        flush.finishedJobs = jobs.filter(\.isWhole).map(\.id)
        _ = try await store.outcomes.flush(flush)
      }
      #expect(reached == Set(crowd.devices).subtracting([pruned, deleted]))
      #expect(sums == [.accepted: 28, .skipped: 2])
      let report = try await store.completed(id)
      #expect(report.total == 30 && report.count(.accepted) == 28 && report.count(.skipped) == 2)
      #expect(
        try await store.timelines.page(DeviceID(rawValue: "late"), app: shop, cursor: nil, limit: 5).items
          .isEmpty)
      try await store.expectTrueSets(app: shop)
    }
  }
}
