import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("What an app did")
struct ActivityStories {
  @Test("outcomes of two apps stay apart, a repeated answer counts once, and the counts end by themselves")
  func apart() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let lease = try await store.take(0)
      let other = AppID(rawValue: "other")
      for (app, count) in [(shop, 2), (other, 3)] {
        for number in 0..<count {
          var message = submission(tokens: ["\(app.rawValue)\(number)"], at: loop.wallNow)
          message.app = app
          _ = try #require(try await store.acceptance.accept(message).id)
        }
      }
      var flush = Flush(lease: lease, number: 1)
      for ready in try await store.queue.readyStreams(lease) {
        for job in try await store.queue.claim(lease, ready.stream, after: nil, jobs: 10, targets: 100) {
          flush.finals += job.targets.map { final($0) }
          flush.finishedJobs.append(job.id)
        }
      }
      #expect(flush.finals.count == 5)
      _ = try await store.outcomes.flush(flush)
      let tallies = try await store.tallies.take(lease, number: 1, isRepeated: false)
      #expect(tallies.reduce(0) { $0 + $1.count } == 5)
      _ = try await store.tallies.take(lease, number: 1, isRepeated: true)
      for (app, count) in [(shop, 2), (other, 3)] {
        let activity = try await TallySums.activity(store, app, now: loop.wallNow)
        #expect(activity == [[.accepted: count], [.accepted: count]], "\(app.rawValue)")
      }
      let redis = store.session.redis
      let keys = try await redis.call(RedisCommand("KEYS", "*}:act:*")).array?.compactMap(\.text) ?? []
      #expect(keys.count >= 4)
      for key in keys {
        let life = try await redis.call(RedisCommand("TTL", key)).integer ?? -1
        #expect(life > 0 && life <= 50 * 3_600, "\(key)")
      }
    }
  }

  @Test("damaged tallies and counts lose no outcome but their own, and what was taken is told again")
  func damaged() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let lease = try await store.take(0)
      let redis = store.session.redis
      let keys = store.session.keys
      let accepted = Tally.name(provider: .apns, outcome: .accepted)
      func tallied(_ app: AppID, _ count: String) async throws {
        var command = RedisCommand("HSET", keys.tallies(0))
        command.append(accepted + [1] + Array(app.rawValue.utf8))
        command.append(Array(count.utf8))
        _ = try await redis.call(command)
      }
      let (other, odd) = (AppID(rawValue: "other"), AppID(rawValue: "odd"))
      for (app, count) in [(shop, "2"), (other, "3"), (odd, "x")] { try await tallied(app, count) }
      for period in Activity.Period.allCases {
        let number = period.number(at: loop.wallNow)
        // The next one too: the test may begin just before it.
        for number in number...number + 1 {
          _ = try await redis.call(RedisCommand("SET", keys.activity(0, other, period, number), "x"))
          var command = RedisCommand("HSET", keys.activity(0, shop, period, number))
          command.append(accepted)
          command.append(Array("much".utf8))
          _ = try await redis.call(command)
        }
      }
      for isRepeated in [false, true] {
        let tallies = try await store.tallies.take(lease, number: 7, isRepeated: isRepeated)
        #expect(Dictionary(uniqueKeysWithValues: tallies.map { ($0.app, $0.count) }) == [shop: 2, other: 3])
      }
      for (period, app, count) in Activity.Period.allCases.flatMap({ [($0, shop, 2), ($0, other, 3)] }) {
        let number = period.number(at: loop.wallNow)
        var told = 0
        // What stands beside it is damaged as it was: it is asked for by itself.
        for number in [number - 1, number] {
          let reply = try? await redis.call(RedisCommand("HGETALL", keys.activity(0, app, period, number)))
          told += reply?.array?.last?.bytes.flatMap { StoredNumber.read($0) } ?? 0
        }
        #expect(told == count, "\(app.rawValue) \(period)")
      }
      // A batch that cannot be read holds up no other.
      _ = try await redis.call(RedisCommand("SET", keys.takenTallies(0), "x"))
      try await tallied(shop, "5")
      #expect(try await store.tallies.take(lease, number: 8, isRepeated: false).map(\.count) == [5])
    }
  }
}
