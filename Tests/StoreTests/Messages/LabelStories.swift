import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Labels of a message")
struct LabelStories {
  private static let all = Labels([
    JSONMember("campaign", .string("spring: 1")), JSONMember("urgent", .bool(true)), JSONMember("draft", .bool(false)),
    JSONMember("wave", .integer(-3)), JSONMember("big", .unsigned(.max)), JSONMember("share", .double(0.5)),
    JSONMember("a:b", .string("c")), JSONMember("none", .string("")),
  ])

  @Test("they are kept as they were given, and each is found by what it reads as")
  func packed() throws {
    #expect(try Labels(packed: Self.all.packed) == Self.all)
    let named = Labels(name: "Spring", audience: "audience:vip", expression: "plan:pro")
    #expect(try Labels(packed: named.packed) == named && named.expression == "plan:pro")
    for topical in [
      Labels(topic: "offers"),
      Labels(Self.all.members, name: "Spring", audience: "a", expression: "b", topic: "offers"),
    ] {
      #expect(try Labels(packed: topical.packed) == topical && !topical.isEmpty && !topical.hold(":offers"))
    }
    for text in [
      "campaign:spring: 1", "urgent:true", "draft:false", "wave:-3", "big:18446744073709551615", "share:0.5", "a:b:c",
      "none:",
    ] { #expect(Self.all.hold(text), "\(text)") }
    for text in ["campaign:spring", "campaign", "urgent:1", "wave:3", "a:b", "x:y", "", ":", "share:.5"] {
      #expect(!Self.all.hold(text), "\(text)")
    }
    for length in 0..<Self.all.packed.count {
      #expect(throws: Corrupt.self) { try Labels(packed: Array(Self.all.packed.prefix(length))) }
    }
  }

  @Test("a report has them while the message waits, and after it has ended", arguments: [1, 40])
  func reported(_ count: Int) async throws {
    try await withStore { store, loop in
      var message = submission(tokens: (0..<count).map { "t\($0)" }, at: loop.wallNow)
      message.labels = Self.all
      let id = try #require(try await store.acceptance.accept(message).id)
      let plain = try #require(try await store.acceptance.accept(submission(tokens: ["p"], at: loop.wallNow)).id)
      #expect(try await store.reports.report(id, app: shop)?.labels == Self.all)
      #expect(try await store.reports.report(plain, app: shop)?.labels.isEmpty == true)
      for partition in 0..<store.session.settings.partitions {
        let lease = try await store.take(partition)
        let jobs = try await store.claimAll(lease)
        var flush = Flush(lease: lease, number: 1)
        flush.finals = jobs.flatMap { job in job.targets.map { final($0) } }
        flush.finishedJobs = jobs.map(\.id)
        _ = try await store.outcomes.flush(flush)
      }
      // The last word travels behind the flush.
      for _ in 0..<1000 {
        if try await store.reports.report(id, app: shop)?.state == .completed { break }
        await loop.sleep(milliseconds: 1)
      }
      let report = try #require(try await store.reports.report(id, app: shop))
      #expect(report.state == .completed)
      #expect(report.labels == Self.all)
      let page = try await store.reports.messages(app: shop, before: nil, limit: 10, label: "urgent:true")
      #expect(page.reports.map(\.id) == [id] && page.next == nil)
    }
  }

  @Test("pages of a label lose and repeat nothing, however few have it, and none looks at all messages")
  func pages() async throws {
    try await withStore(quickSettings(partitions: 2)) { store, loop in
      let start = loop.wallNow
      var wanted: [MessageID] = []
      for number in 0..<2_450 {
        // Over three hours.
        var message = submission(tokens: ["t\(number)"], at: start + Int64(number) * 3_600)
        message.labels = Labels([JSONMember("n", .integer(number.isMultiple(of: 700) ? 7 : 0))])
        let id = try #require(try await store.acceptance.accept(message).id)
        if number.isMultiple(of: 700) { wanted.append(id) }
      }
      var found: [MessageID] = []
      var pages = 0
      var cursor: MessageID?
      repeat {
        let page = try await store.reports.messages(app: shop, before: cursor, limit: 1, label: "n:7")
        #expect(page.reports.count <= 1)
        found += page.reports.map(\.id)
        cursor = page.next
        pages += 1
      } while cursor != nil && pages < 20
      #expect(found == wanted.reversed())
      let none = try await store.reports.messages(app: shop, before: nil, limit: 100, label: "n:8")
      #expect(none.reports.isEmpty && none.next != nil, "2,000 are looked at for one page")
      let rest = try await store.reports.messages(app: shop, before: none.next, limit: 100, label: "n:8")
      #expect(rest.reports.isEmpty && rest.next == nil)
    }
  }
}
