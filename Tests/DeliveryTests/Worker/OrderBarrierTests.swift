import Domain
import Loop
import Store
import Support
import Testing

@testable import Delivery

@Suite(
  "A delivery in backoff keeps its place in its lane, and leaves nothing there when it ends elsewhere", .serialized)
struct OrderBarrierTests {
  /// Ordered, to registered devices by their tokens.
  private func send(_ title: String, to devices: [Int], _ post: Post) async throws -> MessageID {
    let message = PlainMessage(title: title)
    var submission = Submission(
      app: Post.app, body: message.body, kind: .alert, urgency: .urgent, acceptedAt: post.loop.wallNow)
    submission.ttl = Message.defaultTTL
    submission.ordered = true
    for number in devices {
      let address = Address(provider: .apns, token: "t\(number)")
      submission.targets.append(
        SubmissionTarget(
          device: DeviceID(rawValue: "d\(number)"), registered: true, address: address, route: Post.route(address)))
    }
    guard case .accepted(let id) = try await post.store.acceptance.accept(submission) else {
      throw Post.Failure("not accepted")
    }
    return id
  }

  private func barriers(_ worker: Worker) -> [Int] {
    [worker.laneKeeper.lanes.barriers] + worker.senders.values.map(\.usage.barriers)
  }

  @Test("its device is deleted or gets another token meanwhile", .timeLimit(.minutes(6 * Sanitizer.slowness)))
  func gone() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { _, nth in nth == 1 ? .status(503) : .status(200) }
      var settings = Post.settings()
      settings.retry[.apns]!.floors[.serverFault] = 800
      try await post.register(3)
      let worker = try post.work([post.account(responder)], settings)
      let id = try await send("first", to: [0, 1, 2], post)
      try await post.until("three in backoff") { barriers(worker) == [3, 3] }
      _ = try await post.store.devices.removeDevice(DeviceID(rawValue: "d0"), app: Post.app)
      var moved = Device(
        id: DeviceID(rawValue: "d1"), address: Address(provider: .apns, token: "moved"),
        registeredAt: WallTime(milliseconds: 2_000))
      moved.platform = "ios"
      _ = try await post.store.devices.put(moved, app: Post.app)
      #expect(try await post.done(id) == [.accepted: 2, .skipped: 1])
      #expect(Set(responder.accepted.map(\.token)) == ["moved", "t2"])
      #expect(barriers(worker) == [0, 0])
      await post.finish(worker)
    }
  }

  @Test(
    "its message is cancelled: while it is in memory, when it has left that, and while its request is at work",
    .timeLimit(.minutes(6 * Sanitizer.slowness)), arguments: [1_000, 0])
  func cancelled(idleMessages: Int) async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, _ in push.token == "t2" ? .barrier : .status(503) }
      var settings = Post.settings()
      settings.idleMessages = idleMessages
      settings.retry[.apns]!.floors[.serverFault] = 60_000
      try await post.register(3)
      let worker = try post.work([post.account(responder)], settings)
      let waiting = try await send("waiting", to: [0, 1], post)
      try await post.until("two in backoff") { barriers(worker) == [2, 2] }
      let atWork = try await send("at work", to: [2], post)
      try await post.until("the request") { responder.pushes.contains { $0.token == "t2" } }
      for id in [waiting, atWork] { _ = try await post.store.control.change(id, app: Post.app, .cancelled) }
      #expect(try await post.done(waiting) == [.cancelled: 2])
      responder.release(status: 503)
      #expect(try await post.done(atWork) == [.cancelled: 1])
      try await post.until("the end of all holds: \(barriers(worker))") { barriers(worker) == [0, 0] }
      await post.finish(worker)
    }
  }

  @Test(
    "its message is cancelled before it is written down that it waits", .timeLimit(.minutes(6 * Sanitizer.slowness)))
  func cancelledBeforeFlush() async throws {
    try await withPost { post in
      let responder = try Responder(post.loop)
      responder.reply = { _, _ in .status(503) }
      var settings = Post.settings()
      settings.flush.interval = 3_000
      settings.retry[.apns]!.floors[.serverFault] = 3_600_000
      try await post.register(1)
      let worker = try post.work([post.account(responder)], settings)
      let id = try await send("waiting", to: [0], post)
      try await post.until("the backoff") { barriers(worker) == [1, 1] }
      #expect(worker.context.ledger.unflushed == 1)
      _ = try await post.store.control.change(id, app: Post.app, .cancelled)
      try await post.until("the word of it") { barriers(worker) == [0, 0] }
      #expect(worker.context.ledger.unflushed == 1, "too slow to prove anything")
      #expect(try await post.done(id) == [.cancelled: 1])
      await post.finish(worker)
    }
  }
}
