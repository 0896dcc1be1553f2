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
}
