import Domain
import HTTP2
import Loop
import Store
import Support
import Telemetry
import Testing

@testable import Delivery

@Suite(
  "The worker, over a real Redis and a real HTTP/2 server", .serialized, .timeLimit(.minutes(6 * Sanitizer.slowness)))
struct WorkerTests {
  @Test("what is accepted is sent, recorded and done, and the worker drains")
  func sends() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      let worker = try post.work([post.account(responder, cautious: true)])
      let id = try await post.send("hello", to: tokens(300))
      #expect(try await post.done(id) == [.accepted: 300])
      #expect(Set(responder.pushes.map(\.token)) == Set(tokens(300)))
      #expect(responder.pushes.count == 300)
      let delivery = try await post.deliveries(id)[0]
      #expect(delivery.attempts.count == 1 && delivery.attempts.first?.status == 200)
      await post.finish(worker)
    }
  }

  @Test("to an idle worker the way from acceptance to the wire is the wakeup's, not a sweep's")
  func quick() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      var settings = Post.settings()
      settings.sweepInterval = 60_000
      let worker = try post.work([post.account(responder)], settings)
      _ = try await post.done(try await post.send("warm", to: tokens(8)))
      for round in 0..<20 {
        let id = try await post.send("round \(round)", to: ["t\(round % 8)"])
        #expect(try await post.done(id) == [.accepted: 1])
      }
      await post.finish(worker)
    }
  }

  @Test("direct sends to one token arrive in the order of acceptance, over retries")
  func order() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, nth in
        push.title == "0" && nth <= 3 || push.title == "3" && nth == 1 ? .status(503) : .status(200)
      }
      let worker = try post.work([post.account(responder)])
      var ids: [MessageID] = []
      for number in 0..<6 { ids.append(try await post.send("\(number)", to: ["a"])) }
      for id in ids { #expect(try await post.done(id) == [.accepted: 1]) }
      #expect(responder.accepted.map(\.title) == ["0", "1", "2", "3", "4", "5"])
      #expect(
        try await post.deliveries(ids[0])[0].attempts.kept.map(\.verdict) == ["retry", "retry", "retry", "accepted"])
      #expect(Set(responder.pushes.filter { $0.title == "0" }.map(\.id)).count == 1)
      await post.finish(worker)
    }
  }

  @Test("what was passed behind its hold says so too, if the worker that saw it is gone")
  func overtakenBefore() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, nth in push.title == "first" && nth == 1 ? .status(503) : .status(200) }
      var settings = Post.settings()
      settings.retry[.apns]!.floors[.serverFault] = 2_000
      settings.lane.orderHold = 100
      let before = try post.work([post.account(responder)], settings)
      let first = try await post.send("first", to: ["a"])
      try await post.until("the first attempt") { responder.pushes.count == 1 }
      #expect(try await post.done(try await post.send("second", to: ["a"])) == [.accepted: 1])
      before.stop(grace: 1_000)
      await post.running[0].value
      let behind = try post.work([post.account(responder)], settings)
      #expect(try await post.done(first) == [.accepted: 1])
      #expect(responder.accepted.map(\.title) == ["second", "first"])
      #expect(try await post.deliveries(first)[0].overtaken)
      await post.finish(behind)
    }
  }

  @Test("what waits longer than the hold is overtaken, and says so; what is not ordered never waits")
  func overtaken() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, nth in push.title == "first" && nth == 1 ? .status(503) : .status(200) }
      var settings = Post.settings()
      settings.retry[.apns]!.floors[.serverFault] = 600
      settings.lane.orderHold = 700
      let worker = try post.work([post.account(responder)], settings)
      let first = try await post.send("first", to: ["a"])
      try await post.until("the first attempt") { responder.pushes.count == 1 }
      let free = try await post.send(PlainMessage(title: "free", ordered: false), to: ["a"])
      #expect(try await post.done(free) == [.accepted: 1])
      #expect(responder.accepted.map(\.title) == ["free"])
      #expect(try await post.done(first) == [.accepted: 1])
      await post.finish(worker)
    }
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, nth in push.title == "first" && nth == 1 ? .status(503) : .status(200) }
      var settings = Post.settings()
      settings.retry[.apns]!.floors[.serverFault] = 600
      settings.lane.orderHold = 100
      let worker = try post.work([post.account(responder)], settings)
      let first = try await post.send("first", to: ["a"])
      try await post.until("the first attempt") { responder.pushes.count == 1 }
      let second = try await post.send("second", to: ["a"])
      #expect(try await post.done(second) == [.accepted: 1])
      #expect(try await post.done(first) == [.accepted: 1])
      #expect(responder.accepted.map(\.title) == ["second", "first"])
      #expect(try await post.deliveries(first)[0].overtaken)
      await post.finish(worker)
    }
  }

  @Test("a newer message with the same collapse key supersedes one that waits for its retry")
  func supersede() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, _ in push.title == "old" ? .status(503) : .status(200) }
      var settings = Post.settings()
      settings.retry[.apns]!.floors[.serverFault] = 1_000
      let worker = try post.work([post.account(responder)], settings)
      let old = try await post.send(PlainMessage(title: "old", collapseKey: "k"), to: ["a"])
      try await post.until("the retry set") { try await post.report(old).retrying == 1 }
      let new = try await post.send(PlainMessage(title: "new", collapseKey: "k"), to: ["a"])
      #expect(try await post.done(new) == [.accepted: 1])
      #expect(try await post.done(old) == [.superseded: 1])
      #expect(responder.pushes.map(\.title) == ["old", "new"])
      await post.finish(worker)
    }
  }

  @Test("a token that is dead is pruned, and what its message says is dead; a refused message fails")
  func deadAndRefused() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, _ in
        switch push.token {
        case "gone": .status(410, [Header("reason", "Unregistered")])
        case "bad": .status(400, [Header("reason", "PayloadTooLarge")])
        default: .status(200)
        }
      }
      let device = Device(
        id: DeviceID(rawValue: "phone"), address: Address(provider: .apns, token: "gone"),
        registeredAt: WallTime(milliseconds: 1_000))
      _ = try await post.store.devices.put(device, app: Post.app)
      var submission = Submission(
        app: Post.app, body: Array("hi".utf8), kind: .alert, urgency: .urgent, acceptedAt: post.loop.wallNow)
      submission.targets = [
        SubmissionTarget(
          device: device.id, registered: true, address: device.address,
          route: .queue(CredentialID(rawValue: "shop/apns")))
      ]
      let worker = try post.work([post.account(responder)])
      guard case .accepted(let id) = try await post.store.acceptance.accept(submission) else { return }
      #expect(try await post.done(id) == [.dead: 1])
      #expect(try await post.store.devices.device(device.id, app: Post.app)?.tombstone?.reason == "Unregistered")
      let bad = try await post.send("x", to: ["bad", "good"])
      #expect(try await post.done(bad) == [.failed: 1, .accepted: 1])
      #expect(try await post.deliveries(bad).first { $0.state == "failed" }?.reason == "PayloadTooLarge")
      await post.finish(worker)
    }
  }

  @Test("attempts come to an end, and the delivery keeps them all")
  func exhausted() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { _, _ in .status(503, [Header("reason", "Busy")]) }
      var settings = Post.settings()
      settings.retry[.apns]!.attempts = 3
      let worker = try post.work([post.account(responder)], settings)
      let id = try await post.send("x", to: ["a"])
      #expect(try await post.done(id) == [.failed: 1])
      let delivery = try await post.deliveries(id)[0]
      #expect(delivery.attempts.count == 3 && delivery.reason == "attempts_exhausted: Busy")
      #expect(responder.pushes.count == 3)
      await post.finish(worker)
    }
  }

  @Test("what has no time left expires, with the last reason; ttl 0 is one attempt")
  func expires() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, _ in push.title == "fine" ? .status(200) : .status(503, [Header("reason", "Busy")]) }
      let worker = try post.work([post.account(responder)])
      let short = try await post.send(PlainMessage(title: "short", ttl: 1), to: ["a"])
      let once = try await post.send(PlainMessage(title: "once", ttl: 0), to: ["b"])
      let fine = try await post.send(PlainMessage(title: "fine", ttl: 0), to: ["c"])
      #expect(try await post.done(once) == [.expired: 1])
      #expect(try await post.done(fine) == [.accepted: 1])
      #expect(try await post.done(short) == [.expired: 1])
      #expect(try await post.deliveries(short)[0].reason == "Busy")
      #expect(responder.pushes.count { $0.title == "once" } == 1)
      await post.finish(worker)
    }
  }

  @Test("cancelled: what waits ends, what is at work finishes, what rests is ended in the store")
  func cancel() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, _ in push.token == "busy" ? .status(503) : .silence }
      var settings = Post.settings()
      settings.retry[.apns]!.floors[.serverFault] = 60_000
      settings.http2.answerTimeout = 1_500
      settings.retry[.apns]!.resendsAtOnce = [:]
      let worker = try post.work([post.account(responder)], settings)
      let first = try await post.send("first", to: ["a", "busy"])
      try await post.until("work and rest") {
        let report = try await post.report(first)
        return report.retrying == 1 && responder.pushes.count == 2
      }
      let second = try await post.send("second", to: ["a", "b"])
      try await post.until("b at work") { responder.pushes.count == 3 }
      #expect(try await post.store.control.cancel(second, app: Post.app) == .changed)
      #expect(try await post.store.control.cancel(first, app: Post.app) == .changed)
      try await post.until("the waiting ones") {
        let (one, two) = (try await post.report(first), try await post.report(second))
        return one.retrying == 0 && two.counts.contains { $0.key.outcome == .cancelled }
      }
      #expect(responder.pushes.count { $0.title == "second" && $0.token == "a" } == 0)
      await post.finish(worker)
    }
  }
}
