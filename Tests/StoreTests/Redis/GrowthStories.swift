import Domain
import Foundation
import Loop
import RedisClient
import Support
import Testing

@testable import Store

/// What is kept has an end, and the work at it does not grow with what is kept.
@Suite("Growth")
struct GrowthStories {
  @Test("docs/storage.md has one row for each family of keys, and none besides")
  func documented() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/storage.md")
    var words: [String] = []
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where line.hasPrefix("| `") {
      let cells = line.split(separator: "|")
      #expect(cells.count == 6, "\(line)")
      words.append(String(cells[0].dropFirst(2).prefix { $0 != ":" && $0 != "`" }))
      if let family = KeyFamily(rawValue: words.last!) {
        let isTold = cells[5].dropFirst().hasPrefix("expires")
        #expect(isTold == (family.end == .expires) || family.rawValue.hasPrefix("h") || family == .kept, "\(line)")
      }
    }
    #expect(words.sorted() == KeyFamily.allCases.map(\.rawValue).sorted())
  }

  @Test(
    "hours whose messages have gone leave the sets of hours, and the listing goes on",
    .enabled(if: FastClock.isAvailable))
  func hours() async throws {
    // An hour of Redis is a third of a second.
    let clock = FastClock(speed: 10_800)
    let server = RedisServer(["--hz", "1"], clock: clock)
    var settings = quickSettings(partitions: 1)
    settings.retentionSeconds = 3_600
    try await withStore(settings, server: server) { store, loop in
      let redis = try await connected(loop, server)
      defer { redis.close() }
      func now() async throws -> WallTime {
        let time = try await redis.call(RedisCommand("TIME")).array?.first?.text.flatMap { Int64($0) }
        return WallTime(seconds: try #require(time))
      }
      let began = try await now()
      var ids: [MessageID] = []
      // One that stays for a day, among many that stay for an hour or two.
      var long = submission(tokens: ["long"], at: began)
      long.ttl = 86_400
      let stays = try #require(try await store.acceptance.accept(long).id)
      while try await now() < began + 12 * 3_600_000 {
        var message = submission(tokens: ["t\(ids.count)"], at: try await now())
        message.ttl = 60
        // Every way of storing enters its hour: by itself, in its home, spread from there.
        if ids.count % 3 == 1 { message.targets += message.targets }
        if ids.count % 3 == 2 { message.schedule = Schedule(startAt: message.acceptedAt + 1_000) }
        ids.append(try #require(try await store.acceptance.accept(message).id))
        await loop.sleep(milliseconds: 20)
      }
      let hours = try await redis.call(RedisCommand("ZRANGE", store.session.keys.hours(0, shop), "0", "-1")).array ?? []
      #expect(Set(ids.map(\.hour)).count >= 12)
      // The first, and what the last two to four hours have left.
      #expect((2...6).contains(hours.count) && hours[0].integer == stays.hour, "\(hours)")
      let ends = try await redis.call(RedisCommand("ZCARD", store.session.keys.hourEnds(0, shop)))
      #expect(ends.integer == Int64(hours.count))
      let listed = try await store.reports.identifiers(app: shop, before: nil, limit: 3)
      #expect(listed.first == ids.last)
      var cursor: MessageID?
      var all: [MessageID] = []
      while case let page = try await store.reports.identifiers(app: shop, before: cursor, limit: 10), !page.isEmpty {
        all += page
        cursor = page.last
      }
      #expect(all == all.sorted(by: >) && all.contains(stays) && all.count == Set(all).count)
    }
  }

  @Test("a listing of more hours than are read at a time, of several partitions, loses and repeats nothing")
  func manyHours() async throws {
    try await withStore { store, loop in
      var ids: [MessageID] = []
      for hour in 0..<90 {
        let at = loop.wallNow + -Int64(hour) * 3_600_000
        // Some hours are empty, and most partitions have a few of them only.
        guard hour % 7 != 3 else { continue }
        ids.append(try #require(try await store.acceptance.accept(submission(tokens: ["t\(hour)"], at: at)).id))
      }
      ids.sort(by: >)
      for limit in [1, 7, 100] {
        var cursor: MessageID?
        var all: [MessageID] = []
        while case let page = try await store.reports.identifiers(app: shop, before: cursor, limit: limit),
          !page.isEmpty
        {
          #expect(page.count <= limit)
          all += page
          cursor = page.last
        }
        #expect(all == ids)
      }
    }
  }

  @Test("a sweep with nothing to do asks as much with ninety kept hours as with one")
  func idleSweep() async throws {
    let server = RedisServer()
    try await withStore(quickSettings(partitions: 1), server: server) { store, loop in
      let redis = try await connected(loop, server)
      defer { redis.close() }
      let lease = try await store.take(0)
      func commands(of work: () async throws -> Void) async throws -> Int64 {
        func count() async throws -> Int64 {
          let text = try await redis.call(RedisCommand("INFO", "commandstats")).text ?? ""
          return text.split(separator: "\r\n").reduce(0) { sum, line in
            // What the pulse asks comes beside it.
            guard !line.hasPrefix("cmdstat_info"), !line.hasPrefix("cmdstat_client"), !line.hasPrefix("cmdstat_wait"),
              let calls = line.firstMatch(of: /calls=(\d+)/)?.1
            else { return sum }
            return sum + (Int64(calls) ?? 0)
          }
        }
        let before = try await count()
        try await work()
        return try await count() - before
      }
      func keep(_ hours: Range<Int>) async throws {
        for hour in hours {
          let at = loop.wallNow + -Int64(hour) * 3_600_000
          _ = try await store.acceptance.accept(submission(tokens: ["t\(hour)"], at: at))
        }
        _ = try await store.finishAll(lease)
        // The first one learns when they end.
        try await store.sweep.run(lease, now: loop.wallNow)
      }
      try await keep(0..<1)
      let one = try await commands { for _ in 0..<10 { try await store.sweep.run(lease, now: loop.wallNow) } }
      try await keep(1..<90)
      #expect(try await redis.call(RedisCommand("ZCARD", store.session.keys.segments(0))) == .integer(90))
      let ninety = try await commands { for _ in 0..<10 { try await store.sweep.run(lease, now: loop.wallNow) } }
      // A beat or two of the pulse may fall into either.
      #expect(ninety <= one + 20, "\(one) and \(ninety) commands")
    }
  }

  @Test("of an audience that has ended and left its streams the owner remembers nothing")
  func audiences() async throws {
    try await withStore { store, loop in
      let now = loop.wallNow
      _ = try await Crowd.register(100, in: store)
      var leases: [Lease] = []
      for partition in 0..<4 { leases.append(try await store.take(partition)) }
      for outcome in [Outcome.accepted, .failed] {
        let id = try #require(try await store.acceptance.accept(Crowd.submission(store, 100, at: now)).id)
        for (partition, lease) in leases.enumerated() {
          try await store.startAll(lease, now: now)
          _ = try await store.finishAll(lease, targets: 9, outcome)
          #expect(store.session.owned.audienceMessages[partition] ?? [] == [], "\(outcome)")
          #expect(store.session.owned.claimed[partition] ?? [:] == [:])
        }
        _ = try await store.completed(id)
      }
      // Cancelled while some of it is claimed: remembered until that is written down.
      let id = try #require(try await store.acceptance.accept(Crowd.submission(store, 100, at: now)).id)
      var claimed: [[ClaimedJob]] = []
      for (partition, lease) in leases.enumerated() {
        try await store.startAll(lease, now: now)
        var jobs: [ClaimedJob] = []
        for ready in try await store.queue.readyStreams(lease) {
          jobs += try await store.queue.claim(lease, ready.stream, after: nil, jobs: 10, targets: 3)
        }
        claimed.append(jobs)
        #expect(store.session.owned.audienceMessages[partition] == [id])
      }
      _ = try await store.control.change(id, app: shop, .cancelled)
      for lease in leases { try await store.control.sweepControls(lease) }
      for (lease, jobs) in zip(leases, claimed) {
        try await store.sweep.run(lease, now: now)
        var flush = Flush(lease: lease, number: 0)
        flush.finals = jobs.flatMap(\.targets).map { final($0) }
        flush.finishedJobs = jobs.map(\.id)
        _ = try await store.outcomes.flush(flush)
        _ = try await store.finishAll(lease)
        #expect(store.session.owned.audienceMessages[lease.partition] ?? [] == [])
        #expect(try await store.queue.readyStreams(lease).isEmpty)
      }
    }
  }

  @Test("an error brake looks after every message, however many are older than the one that fails")
  func brakes() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let lease = try await store.take(0)
      var ids: [MessageID] = []
      for number in 0..<450 {
        var message = submission(tokens: ["a\(number)", "b\(number)"], at: loop.wallNow)
        message.errorBrake = ErrorBrake(share: 0.5, minimum: 2)
        message.targets += submission(tokens: ["c\(number)"], at: loop.wallNow).targets
        ids.append(try #require(try await store.acceptance.accept(message).id))
      }
      let jobs = try await store.queue.claim(
        lease, StreamID(partition: 0, credential: apnsCredential, urgency: .urgent), after: nil, jobs: 500,
        targets: 10_000)
      let bad = try #require(jobs.first { $0.message == ids[440] })
      var flush = Flush(lease: lease, number: 0)
      flush.finals = bad.targets.dropLast().map { final($0, .failed, reason: "BadRequest") }
      _ = try await store.outcomes.flush(flush)
      var braked: [ErrorBraked] = []
      // In three steps it comes to the last of them.
      for _ in 0..<3 where braked.isEmpty { braked = try await store.control.sweepBrakes(lease) }
      #expect(braked.map(\.message) == [ids[440]])
    }
  }

  @Test("what waits for a retry is read in pages, each of it once, also where many are due at the same time")
  func retries() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let lease = try await store.take(0)
      _ = try await store.acceptance.accept(submission(tokens: (0..<60).map { "t\($0)" }, at: loop.wallNow))
      let job = try #require(try await store.claimAll(lease).first)
      var flush = Flush(lease: lease, number: 1)
      for (place, target) in job.targets.enumerated() {
        let due = loop.wallNow + (place < 40 ? 60_000 : Int64(place) * 1_000_000)
        flush.retries.append(Flush.RetryEntry(target: target, due: due, reason: "busy", attempts: []))
      }
      flush.finishedJobs = [job.id]
      _ = try await store.outcomes.flush(flush)
      for limit in [7, 20, 60, 100] {
        var found: [Int] = []
        var place: JobQueue.RetryPlace?
        repeat {
          let page = try await store.queue.waitingRetries(lease, after: place, limit: limit)
          #expect(page.found.count <= limit)
          found += page.found.map(\.target.delivery.index)
          place = page.next
        } while place != nil
        #expect(found.count == 60 && Set(found).count == 60, "\(limit)")
      }
    }
  }

  @Test(
    "direct sends that nobody claims end when their time is over: alone, in lists, unfolded, cancelled; others stay")
  func unsent() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let redis = store.session.redis
      let lease = try await store.take(0)
      let now = loop.wallNow
      func send(_ tokens: [String], ttl: Int) async throws -> MessageID {
        var message = submission(tokens: tokens, at: now)
        message.ttl = ttl
        return try #require(try await store.acceptance.accept(message).id)
      }
      var short: [MessageID] = []
      for number in 0..<250 { short.append(try await send(["s\(number)"], ttl: 20)) }
      let list = try await send((0..<700).map { "l\($0)" }, ttl: 20)
      let unfolded = try await send(["u"], ttl: 20)
      _ = try await store.control.change(unfolded, app: shop, .paused)
      let cancelled = try await send(["c"], ttl: 86_400)
      _ = try await store.control.change(cancelled, app: shop, .cancelled)
      let long = try await send(["long"], ttl: 86_400)
      let longList = try await send(["x", "y"], ttl: 86_400)
      let stream = StreamID(partition: 0, credential: apnsCredential, urgency: .urgent)
      func search(at time: WallTime) async throws {
        var after: JobID?
        var calls = 0
        repeat {
          after = try await store.unsent.expire(lease, stream, after: after, reason: "gone", now: time, steps: 1)
          calls += 1
        } while after != nil
        #expect(calls > 2)
      }
      try await search(at: now + 19_000)
      #expect(try await store.reports.report(short[0], app: shop)?.ended == 0)
      #expect(try await store.reports.report(cancelled, app: shop)?.count(.cancelled) == 1)
      try await search(at: now + 21_000)
      for id in [short[0], short[249], unfolded] {
        let report = try await store.completed(id)
        #expect(report.count(.expired) == 1, "\(report)")
        let delivery = try #require(try await store.deliveries.page(id, app: shop, cursor: nil, limit: 1)?.items.first)
        #expect(delivery.state == "expired" && delivery.reason == "gone" && delivery.provider == .apns)
      }
      #expect(try await store.completed(list).count(.expired) == 700)
      for id in [long, longList] { #expect(try await store.reports.report(id, app: shop)?.ended == 0) }
      // Their credential comes back.
      let claimed = try await store.claimAll(lease)
      #expect(Set(claimed.map(\.message)) == [long, longList])
      _ = try await store.finishAll(lease)
      #expect(try await redis.call(RedisCommand("EXISTS", store.session.keys.stream(0, stream.name))) == .integer(0))
      #expect(try await store.completed(long).count(.accepted) == 1)
    }
  }
}
