import Domain
import Loop
import Support
import Testing

@testable import Store

@Suite("Token buckets of keys and apps")
struct LimitBucketStories {
  @Test("a bucket begins full, gives at least what is needed and at most half of the rest, and refills evenly")
  func refills() async throws {
    try await withStore { store, loop in
      let name = LimitBucketName(app: shop, .deliveries)
      let limit = RateLimit(quota: 1_000, window: 10_000)
      #expect(try await store.limitBuckets.left(in: [(name, limit)]) == [1_000])
      let began = loop.now
      let first = try await store.limitBuckets.lease(name, limit, least: 1, wanted: 60)
      #expect(first == TokenLease(granted: 60, left: 940, wait: 0))
      let second = try await store.limitBuckets.lease(name, limit, least: 900, wanted: 900)
      #expect(second.granted == 900 && (40...60).contains(second.left), "\(second)")
      // Half of what is there, and no less than what is needed.
      let third = try await store.limitBuckets.lease(name, limit, least: 1, wanted: 1_000)
      #expect((20...35).contains(third.granted), "\(third)")
      let empty = try await store.limitBuckets.lease(name, limit, least: 500, wanted: 500)
      #expect(empty.granted == 0 && empty.left < 500)
      #expect((4_000...5_000).contains(empty.wait), "\(empty)")
      let shown = try await store.limitBuckets.left(in: [(name, limit)])
      #expect(abs(shown[0] - empty.left) <= 20, "\(shown) \(empty)")

      var granted = first.granted + second.granted + third.granted
      while loop.now - began < 500 {
        granted += try await store.limitBuckets.lease(name, limit, least: 1, wanted: 1_000).granted
        await loop.sleep(milliseconds: 3)
      }
      // What came meanwhile may be a few milliseconds' more.
      #expect(granted <= 1_000 + Int(loop.now - began) / 10 + 1, "\(granted)")
      #expect(granted >= 1_000 + 500 / 10 - 8, "\(granted)")
    }
  }

  @Test("buckets of keys, apps and uses are apart, and other limits of one bucket mean the same share of it")
  func apart() async throws {
    try await withStore { store, _ in
      let limit = RateLimit(quota: 10, window: 90 * 86_400_000)
      let names = [
        LimitBucketName(key: "key_1", .requests), LimitBucketName(key: "key_2", .requests),
        LimitBucketName(key: "key_1", .bytes), LimitBucketName(app: shop, .requests),
        LimitBucketName(app: AppID(rawValue: "key_1"), .requests),
      ]
      for (place, name) in names.enumerated() {
        let lease = try await store.limitBuckets.lease(name, limit, least: place + 1, wanted: place + 1)
        #expect(lease.granted == place + 1)
      }
      let left = try await store.limitBuckets.left(in: names.map { ($0, limit) })
      #expect(left == [9, 8, 7, 6, 5])
      // Another process has a newer configuration.
      let wider = RateLimit(quota: 1_000, window: 90 * 86_400_000)
      #expect(try await store.limitBuckets.left(in: [(names[4], wider)]) == [500])
      #expect(try await store.limitBuckets.lease(names[4], wider, least: 1, wanted: 500).left == 250)
    }
  }

  @Test(
    "Redis' clock jumps an hour back or forward: a bucket is full again within its window, and never gives more than it holds",
    .enabled(if: !Sanitizer.isOn, "a sanitizer and libfaketime both want to be the first library"),
    arguments: [-3_600, 3_600])
  func jumpingClock(seconds: Int) async throws {
    let clock = MovableClock()
    try await withStore(server: RedisServer(clock: clock)) { store, loop in
      let name = LimitBucketName(app: shop, .requests)
      let limit = RateLimit(quota: 100, window: 2_000)
      #expect(try await store.limitBuckets.lease(name, limit, least: 100, wanted: 100).granted == 100)
      clock.move(to: seconds)
      let moved = loop.now
      var (granted, waits): (Int, [Int64]) = (0, [])
      while loop.now - moved < 3_000 {
        let lease = try await store.limitBuckets.lease(name, limit, least: 1, wanted: 100)
        granted += lease.granted
        waits.append(lease.wait)
        await loop.sleep(milliseconds: 10)
      }
      #expect(waits.max()! <= 2_000, "\(waits.max()!)")
      #expect(granted > 30, "\(granted)")
      #expect(granted <= 100 + Int(loop.now - moved) / 20 + 1, "\(granted)")
    }
  }
}
