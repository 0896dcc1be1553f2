import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Recipients under a vendor's rule")
struct RecipientStories {
  private static let rule = SubscriberRule(group: "onesignal:8250eaf6", within: 6_000)

  @Test("no more than the most are taken in any window, by however many ask; then there is room again")
  func window() async throws {
    try await withStore { store, loop in
      let window = store.recipients.window(under: Self.rule)
      let other = store.recipients.window(under: SubscriberRule(group: "onesignal:other", within: 6_000))
      var taken: [(at: WallTime, count: Int)] = []
      let began = loop.now
      while loop.now - began < 14_000 {
        let before = loop.wallNow
        let (isTaken, wait) = try await store.recipients.take(30, of: 100, in: window)
        if isTaken {
          taken.append((before, 30))
          #expect(wait == 0)
        } else {
          #expect(wait > 0 && wait <= 6_200, "\(wait)")
          // To the moment when it says that there is room, and not before.
          await loop.sleep(milliseconds: min(wait, 500))
        }
      }
      #expect(taken.count >= 6, "three in each of two windows at least")
      for (place, first) in taken.enumerated() {
        let within = taken[place...].prefix { $0.at.milliseconds - first.at.milliseconds < 6_000 }
        #expect(within.reduce(0) { $0 + $1.count } <= 100)
      }
      #expect(try await store.recipients.reached(in: other) == 0)
    }
  }

  @Test("all or none: what does not fit takes nothing, and what alone is too much goes when nothing else was")
  func whole() async throws {
    try await withStore { store, _ in
      let window = store.recipients.window(under: SubscriberRule(group: "g", within: 900_000))
      #expect(try await store.recipients.take(60, of: 100, in: window).isTaken)
      let refused = try await store.recipients.take(41, of: 100, in: window)
      #expect(!refused.isTaken && refused.wait > 880_000)
      #expect(try await store.recipients.reached(in: window) == 60)
      #expect(try await store.recipients.take(40, of: 100, in: window).isTaken)
      #expect(try await store.recipients.take(1, of: 100, in: window).isTaken == false)
      #expect(try await store.recipients.take(1, of: 101, in: window).isTaken, "another has subscribed")
      let alone = store.recipients.window(under: SubscriberRule(group: "h", within: 900_000))
      #expect(try await store.recipients.take(500, of: 100, in: alone).isTaken)
      #expect(try await store.recipients.take(1, of: 100, in: alone).isTaken == false)
    }
  }

  @Test("a clock that went back keeps what was reached, and for no longer than the window")
  func clock() async throws {
    try await withStore { store, loop in
      let window = store.recipients.window(under: Self.rule)
      let ahead = loop.wallNow.milliseconds / 100 + 36_000
      _ = try await store.session.ask(RedisCommand("HSET", window.key, String(ahead), "90"))
      #expect(try await store.recipients.take(20, of: 100, in: window).isTaken == false)
      #expect(try await store.recipients.reached(in: window) == 90)
      let began = loop.now
      while try await !store.recipients.take(20, of: 100, in: window).isTaken {
        #expect(loop.now - began < 60_000)
        await loop.sleep(milliseconds: 200)
      }
      #expect(loop.now - began > 5_000)
      let life = try await store.session.ask(RedisCommand("PTTL", window.key)).integer ?? -1
      #expect(life > 0 && life <= 6_200, "it ends by itself")
    }
  }
}
