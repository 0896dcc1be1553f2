import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Control of messages")
struct ControlStories {
  @Test("of operators at the same time one comes last, at home and in every partition, and later versions win")
  func oneTruth() async throws {
    try await withStore { store, loop in
      let id = try #require(
        try await store.acceptance.accept(submission(tokens: (0..<60).map { "t\($0)" }, at: loop.wallNow)).id)
      var tasks: [Task<Void, Never>] = []
      for number in 0..<40 {
        let word = number.isMultiple(of: 2) ? Control.Word.paused : .running
        tasks.append(loop.spawn { _ = try? await store.control.change(id, app: shop, word) })
      }
      for task in tasks { await task.value }
      let truth = try #require(try await store.queue.message(id)?.control)
      #expect(try await store.reports.report(id, app: shop)?.state == (truth.word == .paused ? .paused : .queued))
      for partition in 0..<4 {
        let lease = try await store.take(partition)
        #expect(try await store.control.controls(lease, of: [id])[id] == .some(truth))
        try await store.control.apply(Control(.cancelled, version: truth.version - 1), to: id, lease)
        #expect(try await store.control.controls(lease, of: [id])[id] == .some(truth), "an earlier one changes nothing")
      }
      #expect(try await store.control.change(id, app: AppID(rawValue: "other"), .paused) == .unknown)
      #expect(try await store.control.change(id, app: shop, .cancelled) == .changed)
      #expect(try await store.control.change(id, app: shop, .running) == .cancelled)
      #expect(try await store.queue.message(id)?.control?.word == .cancelled)
    }
  }

  @Test("who dies between home and the partitions is made up for by the home's owner")
  func repaired() async throws {
    try await withStore { store, loop in
      let id = try #require(
        try await store.acceptance.accept(submission(tokens: (0..<60).map { "t\($0)" }, at: loop.wallNow)).id)
      let home = store.session.keys.home(id)
      _ = try await store.session.ask(
        Scripts.control, keys: [store.session.keys.message(id), store.session.keys.controlled(home)],
        ["p", .bytes(id.raw), "", ""])
      var leases: [Lease] = []
      for partition in 0..<4 { leases.append(try await store.take(partition)) }
      for lease in leases {
        #expect(try await store.control.controls(lease, of: [id])[id] == .some(Control(.running, version: 0)))
      }
      try await store.sweep.run(leases[home], now: loop.wallNow)
      for lease in leases {
        #expect(try await store.control.controls(lease, of: [id])[id] == .some(Control(.paused, version: 1)))
        #expect(try await store.claimAll(lease).allSatisfy { $0.control?.word == .paused }, "a new owner learns of it")
      }
      #expect(try await store.session.ask(RedisCommand("SCARD", store.session.keys.controlled(home))).integer == 0)
      // An answer to what is no longer true does nothing.
      #expect(try await store.control.change(id, .running, reason: "", answering: 0) == .unchanged)
      #expect(try await store.queue.message(id)?.control == Control(.paused, version: 1))
    }
  }

  @Test("retries that are put out of turn while their message goes on are found by the next search, in whatever order")
  func parkedMeanwhile() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let id = try #require(
        try await store.acceptance.accept(submission(tokens: (0..<600).map { "t\($0)" }, at: loop.wallNow)).id)
      let lease = try await store.take(0)
      let targets = try await store.claimAll(lease).flatMap(\.targets)
      var number: UInt64 = 0
      func park(_ some: ArraySlice<ClaimedTarget>) async throws {
        number += 1
        var flush = Flush(lease: lease, number: number)
        for target in some {
          flush.retries.append(.init(target: target, due: JobQueue.parked, reason: "paused", attempts: []))
        }
        _ = try await store.outcomes.flush(flush)
      }
      // What the search finds takes it several steps; the flush takes several as well. The search begins a step later
      // each time.
      for (before, behind) in [(0, 600), (1, 300), (300, 300), (540, 60)] {
        for steps in 0..<10 {
          try await park(targets.prefix(before))
          let search = loop.spawn {
            for _ in 0..<steps { _ = try? await store.session.ask(RedisCommand("PING")) }
            try? await store.queue.unpark(lease, message: id, now: loop.wallNow)
          }
          try await park(targets.suffix(behind))
          await search.value
          let outOfTurn = try await store.session.ask(
            RedisCommand("ZCOUNT", store.session.keys.retry(0), String(JobQueue.parked.milliseconds), "+inf")
          ).integer
          let known = try await store.queue.parkedMessages(lease)
          #expect(outOfTurn == 0 || known == [id], "\(before) before, \(behind) behind, \(steps) steps later")
          try await store.queue.unpark(lease, message: id, now: loop.wallNow)
          #expect(try await store.queue.parkedMessages(lease) == [])
        }
      }
    }
  }

  @Test(
    "a paused audience does not start, keeps no other from starting, and starts when it goes on or its time is over")
  func starts() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      _ = try await Crowd.register(20, in: store)
      let lease = try await store.take(0)
      var paused: [MessageID] = []
      for _ in 0..<10 {
        paused.append(
          try #require(try await store.acceptance.accept(try await Crowd.submission(store, 20, at: loop.wallNow)).id))
      }
      for id in paused { _ = try await store.control.change(id, app: shop, .paused) }
      let other = try #require(
        try await store.acceptance.accept(try await Crowd.submission(store, 20, at: loop.wallNow)).id)
      #expect(try await store.audienceStarts.due(lease, now: loop.wallNow, limit: 8) == [.part(other)])
      // One that was being started as it was paused.
      let message = try #require(try await store.queue.message(paused[0]))
      try await store.audienceStarts.start(
        lease, message, try await Crowd.groups(store, 0), now: loop.wallNow, route: Crowd.route)
      #expect(try await store.claimAll(lease).isEmpty)
      // Who is in a part that has not begun is listed nowhere, and told as such.
      let unlisted = try await store.reports.unlisted(paused[1], app: shop)
      #expect(unlisted?.count == 20 && unlisted?.first != nil && unlisted?.last == nil)
      _ = try await store.control.change(paused[3], app: shop, .running)
      #expect(
        Set(try await store.audienceStarts.due(lease, now: loop.wallNow, limit: 8)) == [.part(other), .part(paused[3])])
      let end = loop.wallNow + Int64(Message.defaultTTL) * 1000
      #expect(try await store.audienceStarts.due(lease, now: end, limit: 20).count == 11)
      _ = try await store.control.change(paused[4], app: shop, .cancelled)
      #expect(try await store.audienceStarts.due(lease, now: loop.wallNow, limit: 1) == [.part(paused[4])])
      // Members that nobody was handed out end, and say why.
      let begun = try #require(try await store.queue.message(other))
      try await store.audienceStarts.start(
        lease, begun, try await Crowd.groups(store, 0), now: loop.wallNow, route: Crowd.route)
      #expect(try await store.reports.unlisted(other, app: shop) == nil)
      _ = try await store.control.change(other, app: shop, .paused)
      try await store.members.sweepEnds(lease, now: end + 1)
      let page = try await store.deliveries.page(other, app: shop, cursor: nil, limit: 100)
      #expect(page?.items.count == 20)
      #expect(page?.items.allSatisfy { $0.state == "expired" && $0.reason == Control.expiredReason } == true)
      let report = try #require(try await store.reports.report(other, app: shop))
      #expect(report.counts.allSatisfy { $0.key.outcome == .expired && $0.key.reason == Control.expiredReason })
    }
  }
}
