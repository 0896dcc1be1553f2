import Domain
import HTTPServer
import Loop
import Store
import Support
import Testing

@testable import Delivery

@Suite(
  "Messages are paused, resumed and cancelled while they are sent", .serialized,
  .timeLimit(.minutes(6 * Sanitizer.slowness)))
struct ControlTests {
  @Test(
    "whoever pauses, resumes, cancels, hands over or takes over, whenever: nobody is lost, and nobody gets it twice but by a take-over",
    arguments: [(UInt64.random(in: 0..<1 << 32), false), (7, true)])
  func anySchedule(seed: UInt64, rude: Bool) async throws {
    try await withPost { post in
      var random = Seeded(seed: seed)
      let responder = try Responder(post.loop)
      let server = try SliceServer(post.loop)
      responder.reply = { push, nth in
        (push.token.hasSuffix("3") && nth == 1) ? .status(503) : .status(200)
      }
      server.reply = { _, nth in HTTPServerResponse(status: nth.isMultiple(of: 5) ? 503 : 200) }
      var settings = Post.settings()
      settings.claim.room = 120
      settings.claim.membersAtOnce = 30
      settings.slice.reunion = 100
      let accounts: [any ProviderAccount] = [post.account(responder), server.account(limit: 20)]
      try await post.register(900)
      var totals: [MessageID: Int] = [:]
      var titles: [MessageID: String] = [:]
      func sent(_ title: String, _ id: MessageID, _ total: Int) { (totals[id], titles[id]) = (total, title) }
      sent("all", try await post.sendToAll(PlainMessage(title: "all"), 900), 900)
      let list = PlainMessage(title: "list", ordered: false)
      sent("list", try await post.send(list, to: tokens(700, "l"), urgency: .bulk), 700)
      sent("few", try await post.send("few", to: tokens(40)), 40)
      sent("slices", try await post.send(list, to: tokens(300, "s"), .oneSignal), 300)
      let cancelled = try await post.send(PlainMessage(title: "ended"), to: tokens(500, "e"), urgency: .bulk)
      sent("ended", cancelled, 500)

      var worker = try post.work(accounts, settings)
      for step in 0..<50 {
        await post.loop.sleep(milliseconds: .random(in: 0...25, using: &random))
        let id = totals.keys.sorted()[Int.random(in: 0..<totals.count, using: &random)]
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<5: _ = try await post.store.control.change(id, app: Post.app, .paused)
        case 5..<10: _ = try await post.store.control.change(id, app: Post.app, .running)
        case 10 where rude:
          // Its partitions are another's from now on; it learns of that when it writes.
          for lease in worker.leaseKeeper.leases.values.compactMap(\.lease) where Bool.random(using: &random) {
            try await post.store.leases.release(lease)
          }
        case 10:
          worker.stop(grace: 2_000)
          for task in post.running { await task.value }
          worker = try post.work(accounts, settings)
        default: if step > 25 { _ = try await post.store.control.change(cancelled, app: Post.app, .cancelled) }
        }
      }
      // All control is versioned: what came last holds.
      for id in totals.keys { _ = try await post.store.control.change(id, app: Post.app, .running) }
      for (id, total) in totals {
        let outcomes = try await post.done(id, seconds: 60)
        #expect(outcomes.values.reduce(0, +) == total, "seed \(seed)")
        if id != cancelled { #expect(outcomes[.accepted] == total, "\(titles[id]!), seed \(seed)") }
        guard id != cancelled else {
          if !rude {
            #expect(outcomes[.accepted, default: 0] == responder.accepted.count { $0.title == "ended" }, "seed \(seed)")
          }
          continue
        }
        var counts: [String: Int] = [:]
        if titles[id] != "slices" {
          for push in responder.accepted where push.title == titles[id] { counts[push.token, default: 0] += 1 }
          #expect(counts.count == total, "\(titles[id]!), seed \(seed)")
          if !rude { #expect(counts.values.allSatisfy { $0 == 1 }, "\(titles[id]!), seed \(seed)") }
        }
      }
      let members = server.accepted.flatMap(\.tokens)
      #expect(Set(members).count == 300, "seed \(seed)")
      if !rude { #expect(members.count == 300, "seed \(seed)") }
      let status = try await post.store.queue.status()
      #expect(status.jobs.isEmpty && status.retries == 0, "seed \(seed)")
      // What was at work for a partition when that was lost ends unheard, and may do so last.
      let senders = worker.senders.values
      try await post.until(
        "the end of all that is in memory, seed \(seed): \(senders.map { ($0.usage.inMemory, $0.usage.barriers, $0.usage.paced, $0.isIdle) })"
      ) {
        senders.allSatisfy { $0.usage.inMemory == 0 && $0.usage.barriers == 0 }
      }
      await post.finish(worker)
    }
  }

  @Test("a paused message stops at once, holds up no other of its stream, and goes on; without bells as well")
  func pause() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      var settings = Post.settings()
      settings.claim.room = 60
      settings.claim.membersAtOnce = 20
      try await post.register(1_500)
      let id = try await post.sendToAll(PlainMessage(title: "campaign"), 1_500)
      let worker = try post.work([post.account(responder)], settings)
      func arrived() -> Int { responder.pushes.count { $0.title == "campaign" } }
      for deaf in [false, true] {
        if deaf { post.workStore.session.onWakeup { _ in } }
        let begun = arrived()
        try await post.until("the campaign") { arrived() > begun + 50 }
        #expect(try await post.store.control.change(id, app: Post.app, .paused) == .changed)
        #expect(try await post.store.control.change(id, app: Post.app, .paused) == .unchanged)
        #expect(try await post.report(id).state == .paused)
        try await post.until("the pause") { worker.senders.values.allSatisfy { $0.usage.inMemory == 0 && $0.isIdle } }
        let stopped = arrived()
        #expect(stopped < 1_500, "it was paused too late to show anything")
        // Behind it in the same streams, and it shares tokens.
        let other = try await post.send(
          PlainMessage(title: "other \(deaf)"), to: tokens(600), urgency: .bulk)
        #expect(try await post.done(other) == [.accepted: 600])
        #expect(arrived() == stopped)
        #expect(try await post.store.control.change(id, app: Post.app, .running) == .changed)
      }
      #expect(try await post.done(id) == [.accepted: 1_500])
      #expect(arrived() == 1_500)
      await post.finish(worker)
    }
  }

  @Test("retries of a paused message wait without stirring, let others pass, and are due when it goes on")
  func retries() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      var isBusy = true
      responder.reply = { push, _ in isBusy && push.title == "resting" ? .status(503) : .status(200) }
      let worker = try post.work([post.account(responder)])
      let id = try await post.send("resting", to: tokens(80))
      try await post.until("all rest") { try await post.report(id).retrying == 80 }
      _ = try await post.store.control.change(id, app: Post.app, .paused)
      try await post.until("none is due any more") {
        for lease in worker.leaseKeeper.leases.values.compactMap(\.lease) {
          if try await post.store.queue.nextRetry(lease) != nil { return false }
        }
        return worker.senders.values.allSatisfy { $0.usage.inMemory == 0 && $0.isIdle }
      }
      isBusy = false
      let calm = responder.pushes.count
      // It holds no token of those that come behind it.
      let other = try await post.send("other", to: tokens(80))
      #expect(try await post.done(other) == [.accepted: 80])
      #expect(responder.pushes.count == calm + 80)
      #expect(try await post.deliveries(id).allSatisfy { $0.state == "retrying" && $0.nextAttemptAt == nil })
      _ = try await post.store.control.change(id, app: Post.app, .running)
      #expect(try await post.done(id) == [.accepted: 80])
      await post.finish(worker)
    }
  }

  @Test("time goes on while a message is paused: what is too late then expires, audience and list alike")
  func expiry() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      try await post.register(30)
      let list = try await post.send(PlainMessage(title: "list", ttl: 1), to: tokens(40))
      let all = try await post.sendToAll(PlainMessage(title: "all", ttl: 1), 30)
      for id in [list, all] { _ = try await post.store.control.change(id, app: Post.app, .paused) }
      let worker = try post.work([post.account(responder)])
      #expect(try await post.done(list, seconds: 30) == [.expired: 40])
      #expect(try await post.done(all, seconds: 30) == [.expired: 30])
      let page = try await post.store.deliveries.page(list, app: Post.app, cursor: nil, limit: 100)
      #expect(page?.items.count == 40 && page?.items.allSatisfy { $0.reason == "paused" } == true)
      #expect(responder.pushes.isEmpty)
      await post.finish(worker)
    }
  }
}
