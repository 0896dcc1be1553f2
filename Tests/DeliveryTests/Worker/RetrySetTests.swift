import Domain
import Loop
import Store
import Support
import Testing

@testable import Delivery

/// A flush takes several scripts: what the first has written is read before the last is answered.
@Suite(
  "The retry set is read between a flush's writing and its reply", .serialized,
  .timeLimit(.minutes(6 * Sanitizer.slowness)))
struct RetrySetTests {
  /// A worker whose flushes the test carries out.
  private struct Held {
    let post: Post
    let worker: Worker
    let partition: Partition

    init(_ post: Post, _ responder: Responder, _ settings: WorkerSettings = Post.settings()) async throws {
      let worker = try post.work([post.account(responder)], settings)
      try await post.until("the partition") { worker.leaseKeeper.partitions[0]?.takesWork ?? false }
      self.post = post
      self.worker = worker
      partition = worker.leaseKeeper.partitions[0]!
      partition.flushing = true
    }

    var inMemory: Int { partition.usage.inMemory }
    var barriers: [Int] { [worker.laneKeeper.lanes.barriers] + worker.senders.values.map(\.usage.barriers) }

    /// Writes what has come to so many outcomes, and one that waits for its retry among them. The worker hears of it by
    /// `confirm`.
    func write(_ count: Int) async throws -> (due: WallTime, result: FlushResult) {
      try await post.until("\(count) outcomes") { worker.context.ledger.unflushed == count }
      let lease = try #require(worker.leaseKeeper.leases[0]?.lease)
      let next = partition.flush.next(lease)
      let flush = try #require(next)
      return (try #require(flush.retries.first).due, try await post.store.outcomes.flush(flush))
    }

    func confirm(_ result: FlushResult) {
      worker.flusher.confirmed(partition, result)
      partition.flushing = true
    }

    /// From here on the worker flushes by itself.
    func letGo() {
      partition.flushing = false
      worker.flusher.flushAll()
    }

    /// The worker has read the retry set, from its beginning, after this time.
    func read(after due: WallTime) async throws {
      try await post.until("the retry's time") { post.loop.wallNow > due }
      // The first may have begun before.
      for _ in 0..<2 {
        let now = post.loop.wallNow
        worker.retries.expectRetry(of: partition, at: now)
        try await post.until("the end of a read") {
          !partition.readsRetries && partition.retryDue.map { $0 > now } ?? false
        }
      }
    }
  }

  private static var settings: StoreSettings {
    var settings = Post.quick()
    settings.partitions = 1
    settings.leaseMilliseconds = 60_000
    return settings
  }

  @Test("a delivery whose retry is written and not confirmed comes back once, and leaves no barrier")
  func once() async throws {
    try await withPost(settings: Self.settings) { post in
      let responder = try Responder(post.loop)
      responder.reply = { _, nth in nth == 1 ? .status(429) : nth == 2 ? .barrier : .status(200) }
      let held = try await Held(post, responder)
      let id = try await post.send("once", to: ["a"])
      let (due, result) = try await held.write(1)
      #expect(held.barriers == [1, 1])
      try await held.read(after: due)
      held.confirm(result)
      try await post.until("the retry") { responder.total == 2 }
      try await held.read(after: due)
      #expect(held.inMemory == 1)
      responder.release(status: 429)
      held.letGo()
      #expect(try await post.done(id) == [.accepted: 1])
      #expect(responder.total == 3 && responder.accepted.count == 1)
      try await post.until("nothing is left: \(held.barriers)") { held.inMemory == 0 && held.barriers == [0, 0] }
      await post.finish(held.worker)
    }
  }

  @Test("one that is superseded before it is confirmed that it waits does not come back")
  func superseded() async throws {
    try await withPost(settings: Self.settings) { post in
      let responder = try Responder(post.loop)
      responder.reply = { push, _ in push.title == "old" ? .status(429) : .status(200) }
      let held = try await Held(post, responder)
      let old = try await post.send(PlainMessage(title: "old", collapseKey: "k"), to: ["a"])
      let (due, result) = try await held.write(1)
      let new = try await post.send(PlainMessage(title: "new", collapseKey: "k"), to: ["a"])
      try await post.until("the newer one's end") { held.worker.context.ledger.unflushed == 3 }
      held.confirm(result)
      try await held.read(after: due)
      #expect(held.inMemory == 0)
      held.letGo()
      #expect(try await post.done(old) == [.superseded: 1])
      #expect(try await post.done(new) == [.accepted: 1])
      #expect(responder.pushes.map(\.title) == ["old", "new"])
      await post.finish(held.worker)
    }
  }

  @Test("one whose message is cancelled before it is confirmed that it waits ends at once")
  func cancelled() async throws {
    try await withPost(settings: Self.settings) { post in
      let responder = try Responder(post.loop)
      responder.reply = { _, _ in .status(503) }
      var settings = Post.settings()
      settings.retry[.apns]!.floors[.serverFault] = 3_600_000
      let held = try await Held(post, responder, settings)
      let id = try await post.send("cancelled", to: ["a"])
      let result = try await held.write(1).result
      _ = try await post.store.control.change(id, app: Post.app, .cancelled)
      try await post.until("the word of it") { held.barriers == [0, 0] }
      held.confirm(result)
      held.letGo()
      #expect(try await post.done(id) == [.cancelled: 1])
      await post.finish(held.worker)
    }
  }
}
