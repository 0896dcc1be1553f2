import Domain
import HTTP2
import JSON
import Loop
import Store
import Support
import Telemetry
import Testing

@testable import Delivery

@Suite("Messages and apps go at their pace", .serialized, .timeLimit(.minutes(6 * Sanitizer.slowness)))
struct PaceTests {
  @Test("grants: asked for as many as wait, spent once, void when they are old, and nothing goes without one")
  func grants() {
    var grant = RateGrant(perSecond: 400)
    let start = Instant(nanoseconds: 0)
    #expect(grant.next(waiting: 0, now: start) == .rest)
    #expect(grant.next(waiting: 7, now: start) == .ask(7))
    #expect(grant.next(waiting: 900, now: start) == .asking)
    grant.granted(5, asked: 7, wait: 3, now: start)
    for _ in 0..<5 {
      #expect(grant.next(waiting: 2, now: start) == .go)
      grant.spend()
    }
    #expect(grant.next(waiting: 2, now: start) == .wait(until: start + RateGrant.pause))
    #expect(grant.next(waiting: 900, now: start + 50) == .ask(100), "a grant's worth at most")
    grant.granted(100, asked: 100, wait: 0, now: start + 50)
    #expect(grant.next(waiting: 1, now: start + 299) == .go)
    #expect(grant.next(waiting: 1, now: start + 300) == .ask(1))
    #expect(grant.lost == 100)
    grant.failed(now: start + 300)
    #expect(grant.next(waiting: 1, now: start + 400) == .wait(until: start + 500))
  }

  @Test("who is spent late is paid for again, before anybody else goes, and also when nobody waits")
  func late() {
    var grant = RateGrant(perSecond: 400)
    let start = Instant(nanoseconds: 0)
    #expect(grant.next(waiting: 3, now: start) == .ask(3))
    // The answer came late: how late is counted from the question.
    grant.granted(3, asked: 3, wait: 0, now: start + 70)
    #expect(grant.lateAt == start + RateBucket.lateness)
    grant.spend(3)
    for _ in 0..<2 { grant.wasLate() }
    #expect(grant.next(waiting: 4, now: start + 200) == .ask(6))
    grant.granted(3, asked: 6, wait: 5, now: start + 201)
    #expect(grant.inHand == 1 && grant.owed == 0)
    grant.wasLate()
    grant.spend(1)
    #expect(grant.next(waiting: 0, now: start + 300) == .ask(1))
    grant.granted(1, asked: 1, wait: 0, now: start + 300)
    #expect(grant.next(waiting: 0, now: start + 300) == .rest)
    #expect(grant.inHand == 0 && grant.owed == 0 && grant.lost == 3)
  }

  @Test("a permission whose delivery sent nothing lets the next one go, while its grant holds")
  func givenBack() {
    var grant = RateGrant(perSecond: 400)
    let start = Instant(nanoseconds: 0)
    #expect(grant.next(waiting: 2, now: start) == .ask(2))
    grant.granted(1, asked: 2, wait: 30, now: start)
    let first = grant.lateAt
    grant.spend()
    #expect(grant.next(waiting: 1, now: start + 1) == .wait(until: start + 30))
    grant.refund(first)
    #expect(grant.next(waiting: 1, now: start + 1) == .go)
    grant.spend()
    #expect(grant.next(waiting: 1, now: start + 40) == .ask(1))
    // While the store is asked, and behind its answer.
    grant.refund(first)
    grant.granted(1, asked: 1, wait: 0, now: start + 41)
    grant.refund(first)
    #expect(grant.inHand == 1 && grant.lost == 2)
  }

  @Test("devices that get nothing, for the text lacks what they have not, use up nothing of their message's rate")
  func skipped() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      let count = 60
      try await post.register(count) { device, number in
        if number >= count - 3 { device.attributes = [JSONMember("name", .string("Ana"))] }
      }
      let worker = try post.work([post.account(responder)])
      var message = PlainMessage(title: "Hi {{name}}")
      message.rate = 1
      let id = try await post.sendToAll(message, count)
      // Each of them a second, if it were not so.
      #expect(try await post.done(id, seconds: Int64(count) / 2) == [.skipped: count - 3, .accepted: 3])
      await post.finish(worker)
    }
  }

  /// Two workers, each with a store of its own, that share the partitions evenly.
  private func colleague(of post: Post, _ accounts: [any ProviderAccount], _ settings: WorkerSettings) async throws
    -> (worker: Worker, store: Store, run: Task<Void, Never>)
  {
    let store = Store(loop: post.loop, redis: post.redis.endpoint, settings: Post.quick())
    try await store.open(timeout: 60_000)
    let worker = try Worker(
      loop: post.loop, store: store, accounts: Dictionary(uniqueKeysWithValues: accounts.map { ($0.credential, $0) }),
      settings: settings, metrics: post.metrics, log: .init(minimum: .error), decode: { PlainMessage.decode($0) },
      resolver: { _, _ in Post.route })
    return (worker, store, post.loop.spawn { await worker.run() })
  }

  /// Less only by what a busy machine loses.
  @Test("two workers together keep a message's rate over any 10 s; others of the credential do not wait for it")
  func rate() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.keepsAll = false
      var arrivals: [Instant] = []
      var others = 0
      responder.reply = { push, _ in
        if push.title == "paced" { arrivals.append(post.loop.now) } else { others += 1 }
        return .status(200)
      }
      let account = post.account(responder)
      var settings = Post.settings()
      settings.claim.room = 400
      let first = try post.work([account], settings)
      let (second, store, run) = try await colleague(of: post, [account], settings)
      try await post.until("each has its half") {
        first.leaseKeeper.partitions.count == 2 && second.leaseKeeper.partitions.count == 2
      }
      let (rate, count) = (200, 2_400)
      try await post.register(count)
      var message = PlainMessage(title: "paced")
      message.rate = rate
      let id = try await post.sendToAll(message, count)
      try await post.until("the pace") { arrivals.count > 20 }
      let other = try await post.send(PlainMessage(title: "other"), to: tokens(1_000, "o"), urgency: .bulk)
      #expect(try await post.done(other) == [.accepted: 1_000])
      #expect(arrivals.count < rate * 8, "the other one waited for the paced one")
      #expect(try await post.done(id, seconds: 60) == [.accepted: count])
      #expect(arrivals.count == count)
      for (place, at) in arrivals.enumerated() {
        let inWindow = arrivals[place...].prefix { $0 - at < 10_000 }.count
        #expect(inWindow <= rate * 10)
      }
      let took = try #require(arrivals.last) - arrivals[0]
      #expect(took >= Int64(count - rate / 2) * 1000 / Int64(rate), "it was faster than its rate")
      let lost = post.metric("fanfare_rate_lost_total")
      let longest = Int64((count + lost) * Sanitizer.slowness) * 1300 / Int64(rate)
      #expect(took <= longest, "it was slower than its rate by far; lost \(lost)")
      second.stop(grace: 1_000)
      await run.value
      store.close()
      await post.finish(first)
    }
  }

  @Test("a paced message is paused, resumed and handed over without losing or doubling anybody")
  func pacedControl() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, nth in push.token.hasSuffix("7") && nth == 1 ? .status(503) : .status(200) }
      try await post.register(500)
      var message = PlainMessage(title: "all")
      message.rate = 400
      let all = try await post.sendToAll(message, 500)
      message.title = "list"
      let list = try await post.send(message, to: tokens(900, "l"), urgency: .bulk)
      var worker = try post.work([post.account(responder)])
      for step in 0..<6 {
        try await post.until("more") { responder.pushes.count > step * 100 + 30 }
        for id in [all, list] { _ = try await post.store.control.change(id, app: Post.app, .paused) }
        if step.isMultiple(of: 2) {
          worker.stop(grace: 2_000)
          for task in post.running { await task.value }
          worker = try post.work([post.account(responder)])
        }
        for id in [all, list] { _ = try await post.store.control.change(id, app: Post.app, .running) }
      }
      #expect(try await post.done(all, seconds: 60) == [.accepted: 500])
      #expect(try await post.done(list, seconds: 60) == [.accepted: 900])
      #expect(responder.accepted.count == 1_400)
      #expect(worker.senders.values.allSatisfy { $0.usage.inMemory == 0 && $0.usage.paced == 0 })
      await post.finish(worker)
    }
  }

  @Test("an app's rate holds for all its messages together, and urgent ones go before its campaign")
  func appRate() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      var settings = Post.settings()
      settings.rates = [Post.app: 100]
      let worker = try post.work([post.account(responder)], settings)
      let began = post.loop.now
      let bulk = try await post.send(PlainMessage(title: "bulk", ordered: false), to: tokens(300, "b"), urgency: .bulk)
      try await post.until("some") { responder.pushes.count > 10 }
      let urgent = try await post.send("urgent", to: tokens(5, "u"))
      #expect(try await post.done(urgent) == [.accepted: 5])
      #expect(responder.pushes.count { $0.title == "bulk" } < 250)
      #expect(try await post.done(bulk) == [.accepted: 300])
      #expect(post.loop.now - began >= 2_500)
      await post.finish(worker)
    }
  }

  @Test("a provider that is away holds up no other under one rate of a message or an app", arguments: [true, false])
  func awayBeside(isAppRate: Bool) async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      var away = post.account(responder, .fcm)
      // Nobody listens there.
      away.origin = Origin(host: "127.0.0.1", port: 1)
      var settings = Post.settings()
      if isAppRate { settings.rates = [Post.app: 200] }
      let worker = try post.work([post.account(responder), away], settings)
      let count = 400
      try await post.register(count) { device, number in
        if number.isMultiple(of: 2) { device.address = Address(provider: .fcm, token: "t\(number)") }
      }
      var message = PlainMessage(title: "both")
      if !isAppRate { message.rate = 200 }
      _ = try await post.sendToAll(message, count)
      try await post.until("all of the one that is there") { responder.accepted.count == count / 2 }
      await post.finish(worker)
    }
  }

  @Test("a vendor's quota is shared by credentials of one account, and bulk grows to it from little")
  func quota() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      var settings = Post.settings()
      settings.quotas = [.apns: Quota(perMinute: 61 * 400, rampUp: 2_000)]
      let worker = try post.work([post.account(responder)], settings)
      let began = post.loop.now
      let bulk = try await post.send(PlainMessage(title: "bulk", ordered: false), to: tokens(600, "b"), urgency: .bulk)
      try await post.until("a second of it") { post.loop.now - began > 1_000 && !responder.pushes.isEmpty }
      let seconds = Double(post.loop.now - began) / 1_000
      // A ramp of two seconds to 400 a second, and what it lets go at once.
      let allowed = 400 * (seconds < 2 ? seconds * seconds / 4 : seconds - 1) + 250
      #expect(responder.pushes.count < Int(allowed), "half of the ramp allows a quarter of two seconds' worth")
      let urgent = try await post.send("urgent", to: tokens(50, "u"))
      #expect(try await post.done(urgent, seconds: 5) == [.accepted: 50])
      #expect(try await post.done(bulk) == [.accepted: 600])
      #expect(post.loop.now - began >= 2_000)
      await post.finish(worker)
    }
  }

  @Test("slices grow to the quota as well, urgent ones do not wait for that, and another quota holds at once")
  func sliceRamp() async throws {
    try await withPost { post in
      let server = try SliceServer(post.loop)
      var settings = Post.settings()
      settings.quotas = [.oneSignal: Quota(perMinute: 61 * 400, rampUp: 60_000)]
      let account = server.account(limit: 1)
      let worker = try post.work([account], settings)
      let bulk = try await post.send(
        PlainMessage(title: "bulk", ordered: false), to: tokens(600, "b"), .oneSignal, urgency: .bulk)
      try await post.until("the first of it") { !server.pushes.isEmpty }
      let urgent = try await post.send("urgent", to: tokens(100, "u"), .oneSignal)
      #expect(try await post.done(urgent, seconds: 10) == [.accepted: 100])
      // In its first ten seconds the ramp lets go 10 × 400 × (a twelfth) at most.
      #expect(server.pushes.count < 100 + 350, "\(server.pushes.count)")
      try worker.adopt([account.credential: account], changed: [], quotas: [:])
      #expect(try await post.done(bulk, seconds: 20) == [.accepted: 600])
      await post.finish(worker)
    }
  }

  @Test("the error brake pauses a message that fails, once, and lets it go on when the operator says so")
  func errorBrake() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      var isBroken = true
      // Fewer than there is room for, or nothing else would go.
      var atWork = 0
      responder.reply = { push, _ in
        if push.token.hasSuffix("1") { return .status(410) }
        if isBroken, push.title == "braked", atWork < 60, "34567".contains(push.token.last ?? " ") {
          atWork += 1
          return .barrier
        }
        return isBroken && push.token.hasSuffix("2") ? .status(400) : .status(200)
      }
      var settings = Post.settings()
      settings.claim.room = 100
      // What is held at work is held until this test lets it go.
      settings.http2.answerTimeout = 600_000
      let worker = try post.work([post.account(responder)], settings)
      // A tenth fails, a tenth is dead.
      var message = PlainMessage(title: "braked", ordered: false)
      message.rate = 300
      let id = try await post.send(
        message, to: tokens(1_500), urgency: .bulk, brake: ErrorBrake(share: 0.05, minimum: 20))
      message.title = "calm"
      let calm = try await post.send(
        message, to: tokens(300, "c"), urgency: .bulk, brake: ErrorBrake(share: 0.15, minimum: 200))
      try await post.until("the brake") { try await post.report(id).state == .paused }
      #expect(try await post.report(id).pausedReason == MessageControl.brakeReason)
      #expect(try await post.report(id).counts.values.reduce(0, +) < 1_400)
      #expect(try await post.done(calm)[.failed] == 30, "dead tokens are no failures")
      // What was at work fails as well, and is no reason to pause it again.
      let decided = try await post.report(id).counts.values.reduce(0, +)
      let late = responder.release(status: 400)
      #expect(late >= 20)
      try await post.until("those that were at work") {
        try await post.report(id).counts.values.reduce(0, +) >= decided + late
      }
      isBroken = false
      _ = try await post.store.control.change(id, app: Post.app, .running)
      let outcomes = try await post.done(id, seconds: 60)
      #expect(outcomes[.dead] == 150 && outcomes.values.reduce(0, +) == 1_500)
      await post.finish(worker)
    }
  }
}
