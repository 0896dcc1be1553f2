import Domain
import HTTP2
import HTTPServer
import JSON
import Loop
import Store
import Support
import Testing

@testable import Delivery

@Suite("Known accidents prune nothing", .serialized, .timeLimit(.minutes(6 * Sanitizer.slowness)))
struct AccidentTests {
  private static let devices = 40

  @Test("no answer that a wrong setting or a bad hour brings to every token prunes one", arguments: Accident.all)
  func nothingPruned(_ accident: Accident) async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, _ in
        let tokens = push.token.split(separator: ",").joined(separator: "\",\"")
        return .answer(accident.status, Array(accident.body.replacing("%s", with: tokens).utf8))
      }
      var settings = Post.settings()
      settings.retry[accident.provider]!.attempts = 2
      let account = JudgedAccount(
        plain: post.account(responder, accident.provider), judge: try accident.account())
      let worker = try post.work([account], settings)
      try await Self.register(post, accident.provider)
      let id = try await post.sendToAll(PlainMessage(title: "accident", ttl: 3_600), Self.devices)
      // Until all have ended, or the credential is blocked: then they wait.
      try await post.until("the end of \(accident.name)") {
        let report = try await post.report(id)
        return report.counts.values.reduce(0, +) == report.total || !report.blocked.isEmpty
      }
      await post.finish(worker)
      try await Self.expectAlive(post)
    }
  }

  @Test("a wrong setting of a credential that reached its tokens before prunes none, and is held for the operator")
  func afterwards() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      let accident = try #require(Accident.all.first { $0.name == "wrong environment of the tokens" })
      var isWrong = false
      responder.reply = { _, _ in isWrong ? .answer(accident.status, Array(accident.body.utf8)) : .status(200) }
      let account = JudgedAccount(plain: post.account(responder), judge: try accident.account())
      let worker = try post.work([account])
      try await Self.register(post, .apns)
      #expect(
        try await post.done(try await post.sendToAll(PlainMessage(title: "good"), Self.devices)) == [
          .accepted: Self.devices
        ])
      // As an operator would: settings that are wrong, from here on.
      isWrong = true
      try worker.adopt([account.credential: account], changed: [account.credential])
      #expect(
        try await post.done(try await post.sendToAll(PlainMessage(title: "bad"), Self.devices)) == [.dead: Self.devices]
      )
      try await post.until("the brake") { try await post.store.pruneBrakes.all()[account.credential] != nil }
      try await post.until("the held ones") {
        try await post.store.pruneBrakes.held(of: [account.credential])[account.credential] == Self.devices
      }
      try await Self.expectAlive(post, closing: false)

      // Nobody is dead: the operator discards, mends, and all are reached. A few that are really foreign die beside
      // them.
      #expect(try await post.store.pruneBrakes.discardHeld(of: account.credential).discarded == Self.devices)
      try await post.until("the release") { worker.senders[account.credential]?.brake.isOn == false }
      responder.reply = { push, _ in
        push.token == "t7" ? .answer(accident.status, Array(accident.body.utf8)) : .status(200)
      }
      let last = try await post.sendToAll(PlainMessage(title: "mended"), Self.devices)
      #expect(try await post.done(last) == [.accepted: Self.devices - 1, .dead: 1])
      // Its neighbours of the next send prove the credential, if not those of this one.
      #expect(
        try await post.done(try await post.sendToAll(PlainMessage(title: "next"), Self.devices))[.accepted] == Self
          .devices - 1)
      try await post.until("the prune") {
        try await post.store.devices.device(DeviceID(rawValue: "d7"), app: Post.app)?.tombstone?.reason
          == "BadDeviceToken"
      }
      let tombstone = try await post.store.devices.device(DeviceID(rawValue: "d7"), app: Post.app)?.tombstone
      #expect(tombstone?.credential == account.credential && tombstone?.message != nil)
      await post.finish(worker)
    }
  }

  @Test("a wrong setting that too few tokens met for a brake: once it is mended and others are reached, none is pruned")
  func few() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      let accident = try #require(Accident.all.first { $0.name == "wrong environment of the tokens" })
      // The others are told what says nothing of a token.
      let large = try #require(Accident.all.first { $0.name == "payload too large" })
      let few = 12
      var isWrong = true
      responder.reply = { push, _ in
        guard isWrong else { return .status(200) }
        let isOfFew = Int(push.token.dropFirst()).map { $0 < few } ?? false
        let answer = isOfFew ? accident : large
        return .answer(answer.status, Array(answer.body.utf8))
      }
      let account = JudgedAccount(plain: post.account(responder), judge: try accident.account())
      let worker = try post.work([account])
      try await Self.register(post, .apns)
      let bad = try await post.done(try await post.sendToAll(PlainMessage(title: "bad"), Self.devices))
      #expect(bad[.dead] == few && worker.senders[account.credential]?.unproven.count == few, "\(bad)")
      isWrong = false
      try worker.adopt([account.credential: account], changed: [account.credential])
      for title in ["mended", "again"] {
        #expect(
          try await post.done(try await post.sendToAll(PlainMessage(title: title), Self.devices)) == [
            .accepted: Self.devices
          ])
      }
      await post.finish(worker)
      try await Self.expectAlive(post)
    }
  }

  @Test("doubtful prunes of one send in four are decided at its end, without another send, and shown while they wait")
  func atTheEnd() async throws {
    try await withPost { post in
      let devices = 600
      let responder = try Responder(post.loop)
      let accident = try #require(Accident.all.first { $0.name == "wrong environment of the tokens" })
      responder.reply = { push, _ in
        let isForeign = Int(push.token.dropFirst()).map { $0 % 4 == 0 } ?? false
        return isForeign ? .answer(accident.status, Array(accident.body.utf8)) : .status(200)
      }
      let account = JudgedAccount(plain: post.account(responder), judge: try accident.account())
      let worker = try post.work([account])
      try await Self.register(post, .apns, devices)
      let done = try await post.done(try await post.sendToAll(PlainMessage(title: "first"), devices))
      #expect(done == [.accepted: devices * 3 / 4, .dead: devices / 4])
      try await post.until("the prunes") { post.metric("fanfare_pruned_total") == devices / 4 }
      #expect(worker.senders[account.credential]?.unproven.count == 0)
      #expect(post.metric("fanfare_prunes_waiting") == 0)
      #expect(try await post.store.pruneBrakes.all().isEmpty)
      await post.finish(worker)
    }
  }

  @Test(
    "a prune that waits is told in the worker's report, and dropped when its own token is accepted",
    arguments: ["wrong environment of the tokens", "wrong app"])
  func dropped(_ name: String) async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      let accident = try #require(Accident.all.first { $0.name == name })
      var isWrong = true
      responder.reply = { _, _ in
        isWrong
          ? .answer(accident.status, Array(accident.body.utf8)) : .answer(200, Array(#"{"id":"b988"}"#.utf8))
      }
      let account = JudgedAccount(plain: post.account(responder, accident.provider), judge: try accident.account())
      let worker = try post.work([account])
      // Too few for a brake, and none is reached beside them.
      let few = 5
      try await Self.register(post, accident.provider, few)
      #expect(try await post.done(try await post.sendToAll(PlainMessage(title: "bad"), few)) == [.dead: few])
      #expect(post.metric("fanfare_prunes_waiting") == few)
      try await post.until("the report") {
        try await post.store.workers.owners().waitingPrunes(of: account.credential).values.reduce(0, +) == few
      }
      isWrong = false
      try await Self.register(post, accident.provider)
      let all = try await post.done(try await post.sendToAll(PlainMessage(title: "good"), Self.devices))
      #expect(all == [.accepted: Self.devices])
      try await post.until("nothing waiting") { post.metric("fanfare_prunes_waiting") == 0 }
      #expect(post.metric("fanfare_pruned_total") == 0)
      await post.finish(worker)
      try await Self.expectAlive(post)
    }
  }

  @Test("a prune that waits is dropped when its own token is accepted in a request with others")
  func droppedTogether() async throws {
    try await withPost { post in
      let server = try SliceServer(post.loop)
      let accident = try #require(Accident.all.first { $0.name == "wrong app" })
      var isWrong = true
      server.reply = { _, _ in
        HTTPServerResponse(status: 200, body: Array((isWrong ? accident.body : #"{"id":"b988"}"#).utf8))
      }
      let account = JudgedAccount(plain: server.account(limit: 20), judge: try accident.account())
      let worker = try post.work([account])
      let few = 5
      try await Self.register(post, accident.provider, few)
      #expect(try await post.done(try await post.sendToAll(PlainMessage(title: "bad"), few)) == [.dead: few])
      #expect(post.metric("fanfare_prunes_waiting") == few)
      isWrong = false
      let all = try await post.done(try await post.sendToAll(PlainMessage(title: "good"), few))
      #expect(all == [.accepted: few])
      try await post.until("nothing waiting") { post.metric("fanfare_prunes_waiting") == 0 }
      #expect(server.accepted.contains { $0.tokens.count > 1 })
      await post.finish(worker)
      #expect(post.metric("fanfare_pruned_total") == 0)
      try await Self.expectAlive(post)
    }
  }

  @Test("two workers share the brake: what one has seen holds the other's prunes, over a restart")
  func shared() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { _, _ in .status(410) }
      let account = post.account(responder)
      try await Self.register(post, .apns)
      try await post.store.pruneBrakes.brake(
        account.credential, Braked(since: post.loop.wallNow, seen: 20, dead: 20, norm: 0.01))
      let worker = try post.work([account])
      #expect(
        try await post.done(try await post.sendToAll(PlainMessage(title: "a"), Self.devices)) == [.dead: Self.devices])
      try await Self.expectAlive(post, closing: false)
      let applied = try await post.store.pruneBrakes.applyHeld(of: account.credential, app: Post.app)
      #expect(applied.pruned == Self.devices)
      // What the operator has applied is normal for a while: the same share is carried out at once.
      try await post.until("the release") { worker.senders[account.credential]?.brake.isOn == false }
      await post.finish(worker)
    }
  }

  @Test("37 dead tokens of 2,777, answered one after the other with few requests at work, never brake, and are pruned")
  func campaign() async throws {
    try await withPost { post in
      var narrow = HTTP2ServerSettings()
      narrow.maximumConcurrentStreams = 4
      let responder = try Responder(post.loop, settings: narrow)
      var answered = 0
      responder.reply = { _, _ in
        answered += 1
        return (1_000..<1_037).contains(answered) ? .status(410) : .status(200)
      }
      let account = post.account(responder)
      let worker = try post.work([account])
      try await Self.register(post, .apns, 2_777)
      let id = try await post.sendToAll(PlainMessage(title: "campaign"), 2_777)
      #expect(try await post.done(id) == [.accepted: 2_740, .dead: 37])
      #expect(worker.senders[account.credential]?.brake.isOn == false)
      #expect(try await post.store.pruneBrakes.all().isEmpty)
      try await post.until("the prunes") { post.metric("fanfare_pruned_total") == 37 }
      await post.finish(worker)
    }
  }

  @Test(
    "a crash between a prune and its outcome: the delivery ends as dead, with the reason and without another request")
  func crash() async throws {
    try await withPost { post in
      try await Self.register(post, .apns)
      let body = PlainMessage(title: "crash").body
      var submission = Submission(
        app: Post.app, body: body, kind: .alert, urgency: .urgent, acceptedAt: post.loop.wallNow)
      submission.targets = (0..<Self.devices).map { number in
        let address = Address(provider: .apns, token: "t\(number)")
        return SubmissionTarget(
          device: DeviceID(rawValue: "d\(number)"), registered: true, address: address, route: Post.route(address))
      }
      guard case .accepted(let id) = try await post.store.acceptance.accept(submission) else {
        throw Post.Failure("not accepted")
      }
      let dead = DeviceID(rawValue: "d7")
      // As far as a worker comes that dies there.
      let lease = try #require(
        try await post.store.leases.take(post.store.session.partition(of: dead, in: Post.app)))
      var flush = Flush(lease: lease, number: 1)
      flush.prunes = [
        Flush.Prune(app: Post.app, device: dead, token: "t7", reason: "Unregistered", since: nil, at: post.loop.wallNow)
      ]
      #expect(try await post.store.outcomes.flush(flush).pruned == 1)
      try await post.store.leases.release(lease)

      let responder = try Responder(post.loop)
      responder.reply = { _, _ in .status(200) }
      let worker = try post.work([post.account(responder)])
      let done = try await post.done(id)
      #expect(done[.accepted] == Self.devices - 1 && done.values.reduce(0, +) == Self.devices, "\(done)")
      let delivery = try #require(try await post.deliveries(id).first { $0.device == dead })
      #expect(delivery.state == "dead" && delivery.attempts.isEmpty, "\(delivery)")
      #expect(!responder.pushes.contains { $0.token == "t7" })
      await post.finish(worker)
    }
  }

  private static func register(_ post: Post, _ provider: ProviderName, _ devices: Int = devices) async throws {
    try await post.register(devices) { device, number in
      device.address = Address(provider: provider, token: "t\(number)")
      // Long before any instant that an accident may name.
      device.registeredAt = WallTime(milliseconds: 1_000)
    }
  }

  private static func expectAlive(_ post: Post, closing: Bool = true) async throws {
    let store = closing ? Store(loop: post.loop, redis: post.redis.endpoint, settings: Post.quick()) : post.store
    if closing { try await store.open() }
    let ids = (0..<devices).map { DeviceID(rawValue: "d\($0)") }
    let dead = try await store.devices.devices(ids, app: Post.app).compactMap { $0?.tombstone?.reason }
    #expect(dead == [])
    if closing { store.close() }
  }
}
