import Domain
import Loop
import Support
import Testing

@testable import Store

@Suite("Rates that all workers share")
struct RateStories {
  @Test(
    "a bucket of any rate gives one at first, and never more than its rate and what it may hold",
    arguments: [1, 3, 7, 300, 333, 4_999, 999_983])
  func anyRate(perSecond: Int) async throws {
    try await withStore { store, loop in
      let bucket = store.rates.rate(of: shop, perSecond: perSecond)
      let began = loop.now
      #expect(try await store.rates.grant(5, from: [bucket]).count >= 1)
      var all = 1
      while loop.now - began < 400 {
        let (count, wait) = try await store.rates.grant(100_000, from: [bucket])
        all += count
        #expect(wait >= 0 && wait <= Int64(1_000 / bucket.fill) + 2)
        await loop.sleep(milliseconds: 5)
      }
      let most = Double(perSecond) * (Double(loop.now - began) / 1000 + Double(bucket.burst) / 1000) + 6
      #expect(Double(all) <= most)
      #expect(Double(all) >= Double(perSecond) * 0.3 - 1, "\(all)")
    }
  }

  /// What came late is given to nobody twice: neither to who rested nor to who asks at every moment.
  @Test(
    "in any ten seconds a message's bucket gives ten seconds' worth at most, and hardly less",
    .timeLimit(.minutes(6 * Sanitizer.slowness)))
  func counted() async throws {
    try await withStore { store, loop in
      let rate = 700
      let bucket = store.rates.rate(of: shop, perSecond: rate)
      var grants: [(at: Instant, count: Int)] = []
      let began = loop.now
      while loop.now - began < 12_000 {
        let before = loop.now
        let (count, _) = try await store.rates.grant(100_000, from: [bucket])
        if count > 0 { grants.append((before, count)) }
        // Who rests gets what the bucket holds, all at once.
        await loop.sleep(milliseconds: grants.count.isMultiple(of: 40) ? 450 : 10)
      }
      for (place, (at, _)) in grants.enumerated() {
        let sum = grants[place...].prefix { $0.at - at < 10_000 }.reduce(0) { $0 + $1.count }
        #expect(sum <= rate * 10)
        if began + 1_900 > at { #expect(Double(sum) >= Double(rate * 10) * 0.9, "\(sum)") }
      }
    }
  }

  @Test(
    "Redis' clock jumps an hour back or forward: every bucket goes on within eleven seconds, and in ten seconds around it a counted one gives ten seconds' worth, or twice that after a jump forward",
    .enabled(if: !Sanitizer.isOn, "a sanitizer and libfaketime both want to be the first library"),
    arguments: [-3_600, 3_600])
  func jumpingClock(seconds: Int) async throws {
    let clock = MovableClock()
    try await withStore(server: RedisServer(clock: clock)) { store, loop in
      let counted = store.rates.rate(of: shop, perSecond: 50)
      let buckets = [
        counted, store.rates.rate(of: "account", "plain", perSecond: 50),
        store.rates.rate(of: "account", "ramped", perSecond: 50, ramp: 300),
      ]
      var grants: [(at: Instant, count: Int)] = []
      /// All that each bucket gives meanwhile; when each first gave some.
      func draw(for milliseconds: Int64) async throws -> [Instant?] {
        var first = [Instant?](repeating: nil, count: buckets.count)
        let began = loop.now
        while loop.now - began < milliseconds {
          for (number, bucket) in buckets.enumerated() {
            let before = loop.now
            let (count, wait) = try await store.rates.grant(1_000, from: [bucket])
            #expect(wait <= 11_000, "\(bucket)")
            if number == 0, count > 0 { grants.append((before, count)) }
            if count > 0, first[number] == nil { first[number] = loop.now }
          }
          await loop.sleep(milliseconds: 20)
        }
        return first
      }
      _ = try await draw(for: 8_000)
      let drawn = grants.reduce(0) { $0 + $1.count }
      #expect(drawn > 300, "\(drawn)")
      clock.move(to: seconds)
      let moved = loop.now
      for (bucket, first) in zip(buckets, try await draw(for: 13_000)) {
        let first = try #require(first, "\(bucket) stands")
        #expect(first - moved < 12_000, "\(bucket)")
      }
      // A clock that jumped forward has left the ten seconds before it behind.
      let most = seconds < 0 ? 500 : 1_000
      for (place, (at, _)) in grants.enumerated() {
        let sum = grants[place...].prefix { $0.at - at < 10_000 }.reduce(0) { $0 + $1.count }
        #expect(sum <= most, "\(sum)")
      }
    }
  }

  @Test("a slow bucket that rested gives one again; of two buckets both must have some; a ramp begins with little")
  func several() async throws {
    try await withStore { store, loop in
      let began = loop.now
      let slow = store.rates.rate(of: "account", "slow", perSecond: 3)
      #expect(try await store.rates.grant(1, from: [slow]).count == 1)
      #expect(try await store.rates.grant(1, from: [slow]).count == 0)
      await loop.sleep(milliseconds: 400)
      let rested = try await store.rates.grant(5, from: [slow]).count
      // Two only where the machine made the rest a longer one.
      #expect((1...max(1, Int(loop.now - began) * 3 / 1_000)).contains(rested), "\(rested)")
      let fast = store.rates.rate(of: "account", "fast", perSecond: 1_000)
      #expect(
        try await store.rates.grant(5, from: [fast, slow]).count == 0,
        "nothing is taken of the one if the other is empty")
      #expect(try await store.rates.grant(1, from: [fast]).count == 1)
      let ramp = store.rates.rate(of: "account", "ramp", perSecond: 1_000, ramp: 60_000)
      #expect(try await store.rates.grant(500, from: [ramp]).count == 1)
      let first = loop.now
      await loop.sleep(milliseconds: 200)
      let (count, _) = try await store.rates.grant(500, from: [ramp])
      #expect((1...max(8, Int(loop.now - first) / 25)).contains(count), "a fiftieth of the rate, at first")
    }
  }
}
