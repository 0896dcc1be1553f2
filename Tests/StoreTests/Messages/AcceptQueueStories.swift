import Domain
import Loop
import RedisClient
import Testing

@testable import Store

@Suite("Messages that are accepted at the same time")
struct AcceptQueueStories {
  @Test(
    "many in one turn share scripts: each is stored once and claimed in the order of acceptance; one that cannot be stored refuses no other"
  )
  func together() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let now = loop.wallNow
      let ids = (0..<100).map { MessageID(acceptedAt: now, partition: 0, random: UInt64(1_000 + $0)) }
      // Where its deliveries were to be counted something else stands.
      let broken = ids[37]
      _ = try await store.session.redis.call(RedisCommand("SET", store.session.keys.work(0, broken), "x"))
      let before = try await scripts(store)

      let results = Results()
      for (number, id) in ids.enumerated() {
        loop.spawn {
          var submission = submission(tokens: ["\(number)"], at: now)
          submission.id = id
          do throws(StoreError) {
            results.accepted.append(try await store.acceptance.accept(submission))
          } catch {
            results.refused.append(id)
          }
        }
      }
      while results.accepted.count + results.refused.count < ids.count { await loop.sleep(milliseconds: 1) }
      #expect(results.refused == [broken])
      #expect(Set(results.accepted.compactMap(\.id)) == Set(ids).subtracting([broken]))
      // 100 in scripts of 16, and the one with the broken message again, one by one.
      let made = try await scripts(store) - before
      #expect(made < 40, "\(made) scripts")

      _ = try await store.session.redis.call(RedisCommand("DEL", store.session.keys.work(0, broken)))
      let lease = try await store.take(0)
      let stream = try #require(try await store.queue.readyStreams(lease).first?.stream)
      let jobs = try await store.queue.claim(lease, stream, after: nil, jobs: 200, targets: 200)
      #expect(jobs.map(\.message) == ids.filter { $0 != broken })
      #expect(jobs.allSatisfy { $0.targets.count == 1 })
      let sequences = jobs.flatMap(\.targets).map(\.sequence)
      #expect(sequences == sequences.sorted() && Set(sequences).count == 99)
    }
  }

  /// Scripts that Redis has run.
  private func scripts(_ store: Store) async throws -> Int {
    let text = try await store.session.redis.call(RedisCommand("INFO", "commandstats")).text ?? ""
    return text.split(separator: "\n").reduce(0) { sum, line in
      guard line.hasPrefix("cmdstat_evalsha:") || line.hasPrefix("cmdstat_eval:") else { return sum }
      return sum + (line.firstMatch(of: /calls=(\d+)/).flatMap { Int($0.1) } ?? 0)
    }
  }

  private final class Results {
    var accepted: [Acceptance] = []
    var refused: [MessageID] = []
  }
}
