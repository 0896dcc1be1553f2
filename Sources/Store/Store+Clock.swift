import Domain
import Loop
import RedisClient

extension Store {
  /// Milliseconds by which this machine's clock is ahead of Redis' (negative: behind), exact to half a round trip. Leases
  /// go by Redis' clock; due times, expirations and signatures by this machine's.
  package func clockOffset() async throws(StoreError) -> Int64 {
    let asked = loop.wallNow
    let time = try await ask(RedisCommand("TIME")).array ?? []
    let halfway = asked + (loop.wallNow - asked) / 2
    guard time.count == 2, let seconds = time[0].integer, let microseconds = time[1].integer else { return 0 }
    return halfway - WallTime(milliseconds: seconds * 1_000 + microseconds / 1_000)
  }
}
