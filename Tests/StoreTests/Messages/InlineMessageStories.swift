import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Messages of one delivery, kept whole")
struct InlineMessageStories {
  /// Accepted in one turn, in one partition.
  private func accept(_ count: Int, _ store: Store, _ loop: EventLoop, prefix: String = "t") async throws
    -> [MessageID]
  {
    let found = Found(count)
    for number in 0..<count {
      loop.spawn {
        found.ids[number] = try? await store.acceptance.accept(
          submission(tokens: ["\(prefix)\(number)"], at: loop.wallNow)
        ).id
        found.left -= 1
      }
    }
    while found.left > 0 { await loop.sleep(milliseconds: 1) }
    return try found.ids.map { try #require($0) }
  }
  private final class Found {
    var ids: [MessageID?]
    var left: Int
    init(_ count: Int) {
      ids = Array(repeating: nil, count: count)
      left = count
    }
  }

  private func exists(_ store: Store, _ key: String) async throws -> Bool {
    try await store.session.ask(RedisCommand("EXISTS", key)).integer == 1
  }

  @Test(
    "many share one entry of the stream, come with their job in the order of acceptance, and leave nothing but what is told of them"
  )
  func whole() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let ids = try await accept(100, store, loop)
      let lease = try await store.take(0)
      let (stream, entries) = try #require(try await store.queue.readyStreams(lease).first)
      // Those of one turn of the loop; a slow machine makes several turns of it.
      #expect(entries < ids.count)
      for id in [ids[0], ids[99]] {
        #expect(try await store.reports.report(id, app: shop)?.state == .queued)
        #expect(try await store.archive.body(of: id, app: shop) == Array("{\"n\":1}".utf8))
        #expect(try await !exists(store, store.session.keys.message(id)))
        #expect(try await !exists(store, store.session.keys.work(0, id)))
      }
      let jobs = try await store.queue.claim(lease, stream, after: nil, jobs: 200, targets: 200)
      #expect(jobs.map(\.message) == ids && Set(jobs.map(\.id)).count == 100)
      #expect(jobs.map { $0.targets[0].sequence } == jobs.map(\.id.sequence))
      #expect(jobs.allSatisfy { $0.stored?.body == Array("{\"n\":1}".utf8) && $0.targets.count == 1 })
      #expect(try await store.queue.claim(lease, stream, after: jobs.last?.place, jobs: 200, targets: 200).isEmpty)

      var flush = Flush(lease: lease, number: 1)
      let attempt = Attempt(at: loop.wallNow, verdict: "accepted", reason: nil, status: 200)
      for job in jobs.prefix(99) {
        let outcome = job.message == ids[7] ? Outcome.failed : .accepted
        flush.finals.append(final(job.targets[0], outcome, attempts: [attempt]))
        flush.finishedJobs.append(job.id)
      }
      _ = try await store.outcomes.flush(flush)
      // Again, as if its answer had been lost.
      _ = try await store.outcomes.flush(flush)
      #expect(try await store.queue.readyStreams(lease).first?.length == 1, "one of them has no outcome")
      let report = try #require(try await store.reports.report(ids[3], app: shop))
      #expect(report.state == .completed && report.count(.accepted) == 1 && report.ended == 1)
      #expect(report.firstAttemptAt == attempt.at && report.lastOutcomeAt != nil)
      #expect(try await store.archive.body(of: ids[3], app: shop) == nil, "a success keeps no body")
      #expect(try await store.archive.body(of: ids[7], app: shop) == Array("{\"n\":1}".utf8))
      let delivery = try #require(
        try await store.deliveries.page(ids[7], app: shop, cursor: nil, limit: 5)?.items.first)
      #expect(delivery.state == "failed" && delivery.attempts == [attempt])

      // Who takes over claims the one that is left.
      try await store.leases.release(lease)
      let next = try await store.take(0)
      let rest = try await store.queue.claim(next, stream, after: nil, jobs: 5, targets: 5)
      #expect(rest.map(\.message) == [ids[99]])
      flush = Flush(lease: next, number: 1)
      flush.finals = [final(rest[0].targets[0])]
      flush.finishedJobs = [rest[0].id]
      _ = try await store.outcomes.flush(flush)
      #expect(try await store.queue.readyStreams(next).isEmpty)
      #expect(try await !exists(store, store.session.keys.inlineMessages(0)))
      let device = DeviceID.derived(of: address("t99"), in: shop)
      #expect(
        try await store.timelines.page(device, app: shop, cursor: nil, limit: 5).items.map(\.message) == [ids[99]])
      #expect(try await store.reports.messages(app: shop, before: nil, limit: 200).reports.count == 100)
    }
  }

  @Test("a retry, a pause and a slice give it hashes of its own; the others of its entry stay whole")
  func unfolded() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let ids = try await accept(4, store, loop)
      let device = DeviceID.derived(of: address("t2"), in: shop)
      #expect(try await store.timelines.page(device, app: shop, cursor: nil, limit: 5).items.map(\.message) == [ids[2]])
      let lease = try await store.take(0)
      let stream = try #require(try await store.queue.readyStreams(lease).first?.stream)
      let jobs = try await store.queue.claim(lease, stream, after: nil, jobs: 10, targets: 10)
      #expect(try await store.control.change(ids[1], app: shop, .paused) == .changed)
      #expect(try await store.reports.report(ids[1], app: shop)?.state == .paused)
      try await store.queue.storeSlice(
        lease, StoredSlice(message: ids[2], partition: 0, number: 0, revision: 0, members: [0]))

      var flush = Flush(lease: lease, number: 1)
      flush.retries = [.init(target: jobs[0].targets[0], due: loop.wallNow, reason: "busy", attempts: [])]
      flush.finals = [final(jobs[2].targets[0]), final(jobs[3].targets[0])]
      // The paused one is only set aside.
      flush.finishedJobs = jobs.map(\.id)
      _ = try await store.outcomes.flush(flush)
      #expect(try await store.queue.readyStreams(lease).count == 1)
      #expect(try await store.reports.report(ids[2], app: shop)?.count(.accepted) == 1)
      #expect(try await store.reports.report(ids[3], app: shop)?.count(.accepted) == 1)
      #expect(try await store.control.change(ids[1], app: shop, .running) == .changed)
      let again = try await store.queue.claim(
        lease, stream, after: ClaimPlace(job: jobs[1].id, member: ClaimPlace.start), jobs: 1, targets: 1)
      #expect(again.map(\.message) == [ids[1]] && again[0].control?.word == .running)
      let due = try await store.queue.dueRetries(lease, now: loop.wallNow + 1, limit: 10)
      #expect(due.map(\.delivery.message) == [ids[0]])
      flush = Flush(lease: lease, number: 2)
      flush.finals = [final(again[0].targets[0]), final(due[0])]
      flush.finishedJobs = again.map(\.id)
      _ = try await store.outcomes.flush(flush)
      for id in ids {
        let report = try #require(try await store.reports.report(id, app: shop))
        #expect(report.state == .completed && report.count(.accepted) == 1 && report.retrying == 0)
      }
      #expect(try await store.queue.readyStreams(lease).isEmpty)
      #expect(try await store.queue.nextRetry(lease) == nil)
    }
  }

  @Test("cancelled while it is being sent: its outcome counts, and it is told as cancelled")
  func cancelled() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let ids = try await accept(2, store, loop)
      let lease = try await store.take(0)
      let jobs = try await store.claimAll(lease)
      #expect(try await store.control.cancel(ids[0], app: shop) == .changed)
      var flush = Flush(lease: lease, number: 1)
      flush.finals = jobs.map { final($0.targets[0], $0.message == ids[0] ? .cancelled : .accepted) }
      flush.finishedJobs = jobs.map(\.id)
      let result = try await store.outcomes.flush(flush)
      #expect(result.controls[ids[0]]?.word == .cancelled)
      let report = try #require(try await store.reports.report(ids[0], app: shop))
      #expect(report.state == .cancelled && report.count(.cancelled) == 1)
      #expect(try await store.control.cancel(ids[1], app: shop) == .completed)
      #expect(try await store.queue.readyStreams(lease).isEmpty)
    }
  }

  @Test("known to a repeat of its request, while it waits and when it has ended")
  func known() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      var message = submission(tokens: ["a"], at: loop.wallNow)
      let id = try #require(try await store.acceptance.accept(message).id)
      message.id = id
      let lease = try await store.take(0)
      _ = try await store.acceptance.accept(message)
      #expect(try await store.queue.readyStreams(lease).map(\.length) == [1])
      let job = try #require(try await store.claimAll(lease).first)
      var flush = Flush(lease: lease, number: 1)
      flush.finals = [final(job.targets[0])]
      flush.finishedJobs = [job.id]
      _ = try await store.outcomes.flush(flush)
      _ = try await store.acceptance.accept(message)
      #expect(try await store.queue.readyStreams(lease).isEmpty)
      #expect(try await store.reports.report(id, app: shop)?.state == .completed)
    }
  }

  @Test("where none can be stored all are refused; what is damaged is quarantined or ends as corrupt_record")
  func damaged() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let stream = store.session.keys.stream(0, "u:\(apnsCredential.rawValue)")
      _ = try await store.session.ask(RedisCommand("SET", stream, "x"))
      await #expect(throws: StoreError.self) {
        try await store.acceptance.accept(submission(tokens: ["a"], at: loop.wallNow))
      }
      #expect(try await !exists(store, store.session.keys.inlineMessages(0)))
      _ = try await store.session.ask(RedisCommand("DEL", stream))

      let ids = try await accept(5, store, loop)
      var broken = RedisCommand("HSET", store.session.keys.inlineMessages(0))
      broken.append(ids[1].raw)
      broken.append("nonsense")
      _ = try await store.session.ask(broken)
      let lease = try await store.take(0)
      let jobs = try await store.claimAll(lease)
      #expect(jobs.map(\.message) == [ids[0], ids[2], ids[3], ids[4]])
      #expect(try await store.queue.status().quarantined == 1)
      var flush = Flush(lease: lease, number: 1)
      flush.finals = jobs.map { final($0.targets[0]) }
      flush.finishedJobs = jobs.map(\.id)
      _ = try await store.outcomes.flush(flush)
      #expect(try await store.queue.readyStreams(lease).isEmpty)

      let lost = try await accept(3, store, loop, prefix: "lost")
      let entry = try #require(
        try await store.session.ask(RedisCommand("XRANGE", stream, "-", "+")).array?.first?.array?.first?.text)
      _ = try await store.session.ask(RedisCommand("DEL", stream))
      _ = try await store.session.ask(RedisCommand("XADD", stream, entry, "s", "short"))
      #expect(try await store.claimAll(lease).isEmpty)
      for id in lost {
        let report = try #require(try await store.reports.report(id, app: shop))
        #expect(report.state == .completed && report.counts.first?.key.reason == "corrupt_record")
      }
      #expect(try await store.queue.status().quarantined == 2)
      #expect(try await !exists(store, store.session.keys.inlineMessages(0)))
    }
  }

  @Test(
    "a message to a token that may be registered is left out of its script, and the others of the script are stored")
  func registeredToken() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      // One under an id that the app chose, one under the token's own.
      _ = try await store.devices.put(device("chosen", token: "t1"), app: shop)
      let own = DeviceID.derived(of: address("t3"), in: shop)
      _ = try await store.devices.put(device(own.rawValue, token: "t3"), app: shop)
      let found = FoundAcceptances(6)
      for number in 0..<6 {
        loop.spawn {
          var submission = submission(tokens: ["t\(number)"], at: loop.wallNow)
          submission.asksOwner = true
          found.acceptances[number] = try? await store.acceptance.accept(submission)
          found.left -= 1
        }
      }
      while found.left > 0 { await loop.sleep(milliseconds: 1) }
      for (number, acceptance) in found.acceptances.enumerated() {
        let isRegistered = number == 1 || number == 3
        #expect((acceptance == .mayBeRegistered) == isRegistered, "\(number): \(String(describing: acceptance))")
      }
      let ids = found.acceptances.compactMap { $0?.id }
      #expect(ids.count == 4)
      let jobs = try await store.claimAll(try await store.take(0))
      #expect(Set(jobs.map(\.message)) == Set(ids) && jobs.count == 4)
      // All of a script.
      var only = submission(tokens: ["t1"], at: loop.wallNow)
      only.asksOwner = true
      #expect(try await store.acceptance.accept(only) == .mayBeRegistered)
      // What a script of one value does not take is looked up first.
      var paced = submission(tokens: ["t9"], at: loop.wallNow)
      paced.asksOwner = true
      paced.ratePerSecond = 1
      #expect(try await store.acceptance.accept(paced) == .mayBeRegistered)
    }
  }
  private final class FoundAcceptances {
    var acceptances: [Acceptance?]
    var left: Int
    init(_ count: Int) {
      acceptances = Array(repeating: nil, count: count)
      left = count
    }
  }
}
