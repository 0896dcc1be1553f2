import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Timelines")
struct TimelineStories {
  @Test(
    "a timeline over a backlog that is too large for one call says so, goes on where it stopped, and tells all of it once"
  )
  func timelines() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      let lease = try await store.take(0)
      let now = loop.wallNow
      let device = DeviceID.derived(of: address("mine"), in: shop)
      var aimed: [MessageID] = []
      func send(_ tokens: [String], hoursAgo: Int64 = 0) async throws {
        let message = submission(tokens: tokens, at: now + -hoursAgo * 3_600_000)
        let id = try #require(try await store.acceptance.accept(message).id)
        if tokens.contains("mine") { aimed.append(id) }
      }
      // Finished: one of thirty is the device's; then what waits, alone, in lists, and for a retry.
      for number in 0..<1_200 {
        try await send([number % 30 == 0 ? "mine" : "f\(number)"], hoursAgo: Int64(number % 2) + 1)
      }
      for number in 0..<3 { try await send(["mine", "k\(number)"], hoursAgo: 5) }
      _ = try await store.finishAll(lease)
      for number in 0..<1_500 { try await send([number % 30 == 0 ? "mine" : "w\(number)"]) }
      for number in 0..<300 { try await send([number % 30 == 0 ? "mine" : "l\(number)", "other\(number)"]) }
      func read(limit: Int) async throws -> (all: [MessageID], partial: Int, calls: Int) {
        var all: [MessageID] = []
        var cursor: TimelinePlace?
        var (partial, calls) = (0, 0)
        repeat {
          let page = try await store.timelines.page(device, app: shop, cursor: cursor, limit: limit)
          #expect(page.items.count <= limit && page.items.map(\.message) == page.items.map(\.message).sorted(by: >))
          all += page.items.map(\.message)
          partial += page.isPartial ? 1 : 0
          calls += 1
          cursor = page.next
          if let cursor { #expect(TimelinePlace(text: cursor.text) == cursor, "\(cursor)") }
          try #require(calls < 2_000)
        } while cursor != nil
        return (all, partial, calls)
      }
      let whole = try await read(limit: 20)
      #expect(whole.all == aimed.sorted(by: >) && whole.partial == 0)
      store.session.timelineSteps = 3
      for limit in [1, 7, 100] {
        let parts = try await read(limit: limit)
        #expect(parts.partial == parts.calls && parts.calls > 5)
        #expect(
          parts.all.count == aimed.count && Set(parts.all) == Set(aimed),
          "\(limit): \(parts.all.count) of \(aimed.count)")
      }
      for text in ["", "x", "- - z 0 ", "- - s nan ", "- - r -1 ", "- - g 0 x", "- - q 5 u:a", "- x s 0 "] {
        #expect(TimelinePlace(text: text) == nil, "\(text)")
      }
    }
  }
}
