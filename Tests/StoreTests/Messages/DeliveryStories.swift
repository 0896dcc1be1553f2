import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("From accept to outcome")
struct DeliveryStories {
  @Test("one target is claimed, flushed and reported; nothing but its record is left")
  func one() async throws {
    try await withStore { store, loop in
      let now = loop.wallNow
      let id = try #require(try await store.acceptance.accept(submission(tokens: ["aa"], at: now)).id)
      #expect(try await store.reports.report(id, app: shop)?.state == .queued)
      let lease = try await store.take(id.homePartition)
      let jobs = try await store.claimAll(lease)
      let target = try #require(jobs.first?.targets.first)
      #expect(jobs.count == 1 && target.address == address("aa") && target.credential == apnsCredential)
      #expect(try await store.queue.message(id)?.body == Array("{\"n\":1}".utf8))
      var flush = Flush(lease: lease, number: 1)
      flush.finals = [final(target, attempts: [Attempt(at: now, verdict: "accepted", reason: nil, status: 200)])]
      flush.finishedJobs = [jobs[0].id]
      _ = try await store.outcomes.flush(flush)
      let report = try #require(try await store.reports.report(id, app: shop))
      #expect(report.state == .completed && report.total == 1 && report.count(.accepted) == 1)
      #expect(report.completedAt != nil)
      let deliveries = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 10))
      #expect(deliveries.items.map(\.state) == ["accepted"] && deliveries.next == nil)
      #expect(deliveries.items[0].attempts.first?.status == 200 && deliveries.items[0].device == target.device)
      #expect(try await store.queue.readyStreams(lease).isEmpty)
      #expect(try await store.queue.message(id) == nil)
      #expect(try await store.reports.report(id, app: AppID(rawValue: "other")) == nil)
      #expect(try await store.control.cancel(id, app: shop) == .completed)
    }
  }

  @Test("attempts of a delivery whose credential waits are told with it, until its outcome tells them")
  func tried() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let now = loop.wallNow
      let id = try #require(try await store.acceptance.accept(submission(tokens: ["aa", "bb"], at: now)).id)
      let lease = try await store.take(id.homePartition)
      var attempts = AttemptLog()
      attempts.add(Attempt(at: now, verdict: Attempt.deferred, reason: "QUOTA_EXCEEDED", status: 429))
      let delivery = DeliveryID(message: id, partition: id.homePartition, index: 0)
      let key = UUIDBytes(high: 1, low: 2)
      for slice in [nil, key] {
        let tried = TriedDelivery(delivery, slice: slice, attempts: attempts, endsAt: now + 60_000)
        try await store.outcomes.keep([tried], now: now)
        let told = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 10)).items
        #expect(told.map(\.state) == ["pending", "pending"])
        #expect(told[0].attempts == attempts && told[0].reason == "QUOTA_EXCEEDED" && told[1].attempts.isEmpty)
        #expect(told[0].requestID == slice ?? delivery.requestID && told[1].requestID == nil)
      }
      // What has ended is not told as tried.
      try await store.outcomes.keep([TriedDelivery(delivery, slice: nil, attempts: attempts, endsAt: now)], now: now)
      let jobs = try await store.claimAll(lease)
      let own = jobs.flatMap(\.targets).filter { $0.delivery.partition == id.homePartition }
      var flush = Flush(lease: lease, number: 1)
      flush.finals = own.map { final($0, attempts: [Attempt(at: now, verdict: "accepted", reason: nil, status: 200)]) }
      flush.finishedJobs = jobs.map(\.id)
      _ = try await store.outcomes.flush(flush)
      let ended = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 10)).items
      #expect(ended[0].state == "accepted" && ended[0].attempts.count == 1 && ended[0].attempts.first?.status == 200)
    }
  }

  @Test("a list spreads over partitions, keeps its counts exact and completes when the last part tells home")
  func list() async throws {
    try await withStore { store, loop in
      var message = submission(tokens: (0..<50).map { "t\($0)" }, at: loop.wallNow)
      message.targets[3].route = .ended(.skipped, reason: "no_credential")
      message.targets[7].route = .queue(fcmCredential)
      let id = try #require(try await store.acceptance.accept(message).id)
      var report = try #require(try await store.reports.report(id, app: shop))
      #expect(report.total == 50 && report.count(.skipped) == 1)
      var seen = 0
      for partition in 0..<4 {
        let lease = try await store.take(partition)
        let jobs = try await store.claimAll(lease)
        var flush = Flush(lease: lease, number: 1)
        flush.finals = jobs.flatMap(\.targets).map { final($0) }
        flush.finishedJobs = jobs.map(\.id)
        seen += flush.finals.count
        _ = try await store.outcomes.flush(flush)
        try await store.sweep.run(lease, now: loop.wallNow)
      }
      #expect(seen == 49)
      // The last word travels behind the flush.
      for _ in 0..<1000 {
        report = try #require(try await store.reports.report(id, app: shop))
        if report.state == .completed { break }
        await loop.sleep(milliseconds: 1)
      }
      #expect(report.state == .completed && report.ended == 50 && report.count(.accepted) == 49)
      var states: [String] = []
      var cursor: DeliveryPlace?
      repeat {
        let page = try #require(try await store.deliveries.page(id, app: shop, cursor: cursor, limit: 7))
        states += page.items.map(\.state)
        cursor = page.next
      } while cursor != nil
      #expect(states.count == 50 && states.filter { $0 == "accepted" }.count == 49)
      let listed = try await store.reports.messages(app: shop, before: nil, limit: 10).reports
      #expect(listed.map(\.id) == [id])
      #expect(try await store.reports.messages(app: shop, before: id, limit: 10).reports.isEmpty)
    }
  }

  @Test("a flush whose answer was lost changes nothing when it is repeated")
  func repeatedFlush() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let message = submission(tokens: (0..<600).map { "t\($0)" }, at: loop.wallNow)
      let id = try #require(try await store.acceptance.accept(message).id)
      let lease = try await store.take(0)
      let jobs = try await store.claimAll(lease)
      #expect(jobs.map(\.targets.count) == [500, 100])
      var flush = Flush(lease: lease, number: 1)
      flush.finals = jobs[0].targets.map { final($0) }
      flush.finishedJobs = [jobs[0].id]
      for _ in 0..<3 { _ = try await store.outcomes.flush(flush) }
      let report = try #require(try await store.reports.report(id, app: shop))
      #expect(report.count(.accepted) == 500 && report.state == .sending)
      #expect(try await store.claimAll(lease).map(\.id) == [jobs[1].id])
    }
  }

  @Test("a job is not removed while a delivery of it is neither final nor waiting")
  func unfinishedJob() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      _ = try await store.acceptance.accept(submission(tokens: ["a", "b"], at: loop.wallNow))
      let lease = try await store.take(0)
      let job = try #require(try await store.claimAll(lease).first)
      var flush = Flush(lease: lease, number: 1)
      flush.finals = [final(job.targets[0])]
      flush.finishedJobs = [job.id]
      _ = try await store.outcomes.flush(flush)
      let again = try await store.claimAll(lease)
      #expect(again.map(\.targets.count) == [1] && again[0].targets[0].device == job.targets[1].device)
      #expect(again[0].targets[0].sequence == job.targets[1].sequence)
    }
  }

  @Test("a retry waits in the set with its attempts, outlives its job and its owner, and ends")
  func retry() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let now = loop.wallNow
      let id = try #require(try await store.acceptance.accept(submission(tokens: ["a"], at: now)).id)
      var lease = try await store.take(0)
      let job = try #require(try await store.claimAll(lease).first)
      var flush = Flush(lease: lease, number: 1)
      let first = Attempt(at: now, verdict: "retry", reason: "ServiceUnavailable", status: 503)
      flush.retries = [
        Flush.RetryEntry(target: job.targets[0], due: now + 500, reason: "ServiceUnavailable", attempts: [first])
      ]
      flush.finishedJobs = [job.id]
      _ = try await store.outcomes.flush(flush)
      #expect(try await store.reports.report(id, app: shop)?.retrying == 1)
      #expect(try await store.queue.nextRetry(lease) == now + 500)
      #expect(try await store.queue.dueRetries(lease, now: now, limit: 10).isEmpty)
      try await store.leases.release(lease)
      lease = try await store.take(0)
      #expect(try await store.claimAll(lease).isEmpty)
      #expect(try await store.queue.waitingRetries(lease, limit: 10).found.map(\.due) == [now + 500])
      let due = try await store.queue.dueRetries(lease, now: now + 500, limit: 10)
      let target = try #require(due.first)
      #expect(target.attempts == [first] && target.address == address("a"))
      #expect(target.sequence == job.targets[0].sequence)
      flush = Flush(lease: lease, number: 1)
      flush.finals = [
        final(
          target, .failed, reason: "exhausted",
          attempts: [first, Attempt(at: now, verdict: "retry", reason: nil, status: 0)])
      ]
      _ = try await store.outcomes.flush(flush)
      #expect(try await store.queue.nextRetry(lease) == nil)
      let report = try #require(try await store.reports.report(id, app: shop))
      #expect(report.state == .completed && report.count(.failed) == 1 && report.retrying == 0)
      let items = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 5)).items
      #expect(items.first?.attempts.kept.map(\.status) == [503, 0])
    }
  }

  @Test("a delivery that is tried for weeks keeps its first and its last attempts, and their number")
  func triedForWeeks() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let now = loop.wallNow
      let id = try #require(try await store.acceptance.accept(submission(tokens: ["a"], at: now)).id)
      let lease = try await store.take(0)
      let job = try #require(try await store.claimAll(lease).first)
      try await Weeks.tryForWeeks(store, lease, job.targets[0], of: job, from: now)
      let item = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 5)?.items.first)
      #expect(item.state == "accepted")
      Weeks.expectBounded(item.attempts, from: now)
    }
  }

  @Test("who waits for its time without an attempt is pending with its reason, and a retry from its first attempt on")
  func held() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let now = loop.wallNow
      let id = try #require(try await store.acceptance.accept(submission(tokens: ["a"], at: now)).id)
      let lease = try await store.take(0)
      let job = try #require(try await store.claimAll(lease).first)
      var flush = Flush(lease: lease, number: 1)
      flush.retries = [
        Flush.RetryEntry(target: job.targets[0], due: now + 500, reason: Timing.quietReason, attempts: [])
      ]
      flush.finishedJobs = [job.id]
      _ = try await store.outcomes.flush(flush)
      #expect(try await store.reports.report(id, app: shop)?.retrying == 0)
      func item() async throws -> DeliveryReport? {
        try await store.deliveries.page(id, app: shop, cursor: nil, limit: 5)?.items.first
      }
      let held = try #require(try await item())
      #expect(held.state == "pending" && held.reason == "quiet_hours" && held.nextAttemptAt == now + 500)
      let delay = try #require(try await store.reports.report(id, app: shop)?.delay)
      #expect(delay == Delay(count: 1, reason: "quiet_hours", first: now + 500, last: now + 500))
      flush = Flush(lease: lease, number: 2)
      let target = try #require(try await store.queue.dueRetries(lease, now: now + 500, limit: 10).first)
      let attempt = Attempt(at: now, verdict: "retry", reason: "busy", status: 503)
      flush.retries = [Flush.RetryEntry(target: target, due: now + 900, reason: "busy", attempts: [attempt])]
      _ = try await store.outcomes.flush(flush)
      #expect(try await store.reports.report(id, app: shop)?.retrying == 1)
      #expect(try await store.reports.report(id, app: shop)?.delay == nil)
      #expect(try await item()?.state == "retrying")
    }
  }

  @Test("who lost the lease writes nothing more")
  func lostLease() async throws {
    var settings = quickSettings(partitions: 1)
    settings.leaseMilliseconds = 40
    try await withStore(settings) { store, loop in
      let id = try #require(try await store.acceptance.accept(submission(tokens: ["a"], at: loop.wallNow)).id)
      let old = try await store.take(0)
      #expect(try await store.leases.take(0) == nil)
      let job = try #require(try await store.claimAll(old).first)
      let renewed = try await store.leases.take(0, renewing: old)
      #expect(renewed?.nonce == old.nonce && renewed?.epoch == old.epoch)
      var taken: Lease?
      while taken == nil {
        await loop.sleep(milliseconds: 5)
        taken = try await store.leases.take(0)
      }
      #expect(taken!.epoch > old.epoch)
      var flush = Flush(lease: old, number: 1)
      flush.finals = [final(job.targets[0])]
      _ = try await store.claimAll(taken!)
      #expect(store.session.owned.claimed[0]?.count == 1)
      await #expect(throws: StoreError.leaseLost(partition: 0)) { try await store.outcomes.flush(flush) }
      #expect(store.session.owned.claimed[0] == nil)
      await #expect(throws: StoreError.leaseLost(partition: 0)) { try await store.claimAll(old) }
      #expect(try await store.leases.take(0, renewing: old) == nil)
      #expect(try await store.reports.report(id, app: shop)?.ended == 0)
      #expect(store.session.owned.claimed.isEmpty)
    }
  }

  @Test("a cancelled message is told to its owner; what waits ends, the rest ends when claimed")
  func cancel() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let now = loop.wallNow
      let id = try #require(try await store.acceptance.accept(submission(tokens: ["a", "b"], at: now)).id)
      let lease = try await store.take(0)
      let job = try #require(try await store.claimAll(lease).first)
      var flush = Flush(lease: lease, number: 1)
      flush.retries = [Flush.RetryEntry(target: job.targets[0], due: now + 500, reason: "busy", attempts: [])]
      #expect(try await store.outcomes.flush(flush).controls.isEmpty)
      #expect(try await store.control.cancel(id, app: shop) == .changed)
      #expect(try await store.control.cancel(id, app: shop) == .unchanged)
      #expect(try await store.queue.message(id)?.control?.word == .cancelled)
      #expect(try await store.control.cancel(id, app: AppID(rawValue: "other")) == .unknown)
      try await store.queue.cancelWaiting(lease, message: id)
      try await store.queue.cancelWaiting(lease, message: id)
      #expect(try await store.queue.nextRetry(lease) == nil)
      flush = Flush(lease: lease, number: 2)
      flush.finals = [final(job.targets[1])]
      flush.finishedJobs = [job.id]
      #expect(try await store.outcomes.flush(flush).controls[id]?.word == .cancelled)
      let report = try #require(try await store.reports.report(id, app: shop))
      #expect(report.state == .cancelled && report.count(.cancelled) == 1 && report.count(.accepted) == 1)
      #expect(try await store.control.cancel(id, app: shop) == .unchanged)
    }
  }

  @Test("a message without anything to send is completed at once")
  func nothingToSend() async throws {
    try await withStore { store, loop in
      let empty = try #require(try await store.acceptance.accept(submission(tokens: [], at: loop.wallNow)).id)
      #expect(try await store.reports.report(empty, app: shop)?.state == .completed)
      var message = submission(tokens: ["a"], at: loop.wallNow)
      message.targets[0].route = .ended(.dead, reason: "Unregistered")
      let dead = try #require(try await store.acceptance.accept(message).id)
      let report = try #require(try await store.reports.report(dead, app: shop))
      #expect(report.state == .completed && report.count(.dead) == 1)
    }
  }

  @Test("a wakeup comes for work that comes when all was claimed, and for a cancellation")
  func wakeup() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let bells = Wakeups()
      store.session.onWakeup { bells.ring($0) }
      guard case .reconnected = await bells.next() else { return #expect(Bool(false), "no greeting") }
      let lease = try await store.take(0)
      let id = try #require(try await store.acceptance.accept(submission(tokens: ["a"], at: loop.wallNow)).id)
      guard case .work(let stream) = await bells.next() else { return #expect(Bool(false), "no work") }
      #expect(stream == StreamID(partition: 0, credential: apnsCredential, urgency: .urgent))
      _ = try await store.queue.claim(lease, stream, after: nil, jobs: 10, targets: 10_000)
      _ = try await store.acceptance.accept(submission(tokens: ["b"], at: loop.wallNow))
      guard case .work = await bells.next() else { return #expect(Bool(false), "no second ring") }
      _ = try await store.control.cancel(id, app: shop)
      guard case .controlled(id, partition: 0, Control(.cancelled, version: 1)) = await bells.next() else {
        return #expect(Bool(false), "no cancellation")
      }
    }
  }

  @Test("a stored slice comes back with its members")
  func slices() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let id = try #require(
        try await store.acceptance.accept(submission(tokens: ["a", "b", "c"], at: loop.wallNow)).id)
      let lease = try await store.take(0)
      let slice = StoredSlice(message: id, partition: 0, number: 4, revision: 1, members: [0, 2])
      try await store.queue.storeSlice(lease, slice)
      let targets = try await store.claimAll(lease).flatMap(\.targets)
      #expect(targets.map(\.slice) == [slice, nil, slice])
    }
  }

  @Test("a clock is compared with Redis', which on one machine is the same")
  func clock() async throws {
    try await withStore { store, _ in
      let offset = try await store.session.clockOffset()
      #expect(abs(offset) < 1_000)
    }
  }

  @Test("queue length and age, blocked credentials")
  func status() async throws {
    try await withStore { store, loop in
      let now = loop.wallNow
      let id = try #require(try await store.acceptance.accept(submission(tokens: ["a"], at: now)).id)
      let status = try await store.queue.status()
      #expect(status.jobs.values.reduce(0, +) == 1 && status.oldest == now && status.retries == 0)
      try await store.conditions.set(
        apnsCredential, CredentialCondition(.blocked, reason: "InvalidProviderToken", since: now))
      #expect(try await store.conditions.all().mapValues(\.reason) == [apnsCredential: "InvalidProviderToken"])
      let items = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 5)).items
      #expect(items.map(\.state) == ["blocked"] && items[0].reason == "InvalidProviderToken")

      // What passes by itself leaves them pending, with the reason and the time.
      let waiting = CredentialCondition(
        .waiting, reason: "Too much", since: now, nextTry: now + 60_000, until: now + 86_400_000)
      try await store.conditions.set(apnsCredential, waiting)
      #expect(try await store.conditions.all() == [apnsCredential: waiting])
      let pending = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 5)).items
      #expect(pending.map(\.state) == ["pending"] && pending[0].reason == "Too much")
      #expect(pending[0].nextAttemptAt == now + 60_000)
      let waits = try #require(try await store.reports.report(id, app: shop)).waits
      #expect(waits == [CredentialWait(credential: apnsCredential, condition: waiting, count: 1)])

      // Also when its first attempt has failed.
      let lease = try await store.take(id.homePartition)
      let job = try #require(try await store.claimAll(lease).first)
      let attempt = Attempt(at: now, verdict: "retry", reason: "busy", status: 503)
      var flush = Flush(lease: lease, number: 1)
      flush.retries = [.init(target: job.targets[0], due: now + 900, reason: "busy", attempts: [attempt])]
      flush.finishedJobs = [job.id]
      _ = try await store.outcomes.flush(flush)
      let tried = try #require(try await store.reports.report(id, app: shop))
      #expect(
        tried.waits == [CredentialWait(credential: apnsCredential, condition: waiting, count: 0, retrying: 1)])
      #expect(tried.retrying == 1)
      try await store.conditions.set(apnsCredential, nil)
      #expect(try await store.conditions.all().isEmpty)
    }
  }
}

final class Wakeups {
  private var rung: [Wakeup] = []
  private var waiter: UnsafeContinuation<Wakeup, Never>?
  func ring(_ wakeup: Wakeup) {
    if let waiter {
      self.waiter = nil
      waiter.resume(returning: wakeup)
    } else {
      rung.append(wakeup)
    }
  }
  func next() async -> Wakeup {
    if !rung.isEmpty { return rung.removeFirst() }
    return await withUnsafeContinuation { waiter = $0 }
  }
}
