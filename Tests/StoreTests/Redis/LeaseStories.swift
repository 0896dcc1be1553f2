import Domain
import Loop
import Support
import Testing

@testable import Store

@Suite("Leases go by the processes' own clocks")
struct LeaseStories {
  private static let duration: Int64 = 400

  private static func settings() -> StoreSettings {
    var settings = quickSettings()
    settings.leaseMilliseconds = duration
    return settings
  }

  @Test("an owner's own time ends at three quarters of its lease")
  func threeQuarters() async throws {
    try await withStore(Self.settings()) { store, loop in
      var lease: Lease?
      for _ in 0..<3 {
        let before = loop.now
        let taken = try #require(try await store.leases.take(0, renewing: lease))
        #expect((before + Self.duration * 3 / 4...loop.now + Self.duration * 3 / 4).contains(taken.deadline))
        lease = taken
      }
    }
  }

  @Test("a partition is taken from a silent owner when its lease was seen unchanged for its whole time, and not before")
  func unchanged() async throws {
    try await withStore(Self.settings()) { store, loop in
      let other = Store(loop: loop, redis: store.session.endpoint, settings: Self.settings())
      try await other.open()
      defer { other.close() }
      var lease = try await store.take(0)
      #expect(try await other.leases.take(0) == nil, "it has never been seen before")
      for _ in 0..<3 {
        // Longer than a lease; and yet its owner has renewed it before the other asks.
        await loop.sleep(milliseconds: Self.duration + 50)
        lease = try #require(try await store.leases.take(0, renewing: lease))
        #expect(try await other.leases.take(0) == nil, "renewed since it was seen")
      }
      await loop.sleep(milliseconds: Self.duration + 50)
      lease = try #require(try await store.leases.take(0, renewing: lease))
      let silent = loop.now
      while try await other.leases.take(0) == nil { await loop.sleep(milliseconds: 5) }
      #expect(loop.now - silent >= Self.duration, "taken after \(loop.now - silent) ms")
      #expect(try await store.leases.take(0, renewing: lease) == nil, "two own it")
    }
  }
}
