import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Who wrote and who approved a draft")
struct DraftStories {
  @Test("both hold for one version: not for one that a process wrote which knows neither")
  func versions() async throws {
    try await withStore(quickSettings(partitions: 4)) { store, loop in
      let drafts = store.drafts
      let made = try #require(
        try await drafts.create([1], name: nil, by: "ana", app: shop, now: loop.wallNow, limit: 10))
      func stored() async throws -> StoredDraft? {
        if case .found(let draft) = try await drafts.draft(made.id, app: shop) { draft } else { nil }
      }
      #expect(try await drafts.approve(made.id, version: 1, by: "ana", app: shop, now: loop.wallNow) == .own)
      #expect(
        try await drafts.approve(made.id, version: 2, by: "tom", app: shop, now: loop.wallNow)
          == .refused(.conflict(1)))
      for _ in 0..<2 {
        #expect(try await drafts.approve(made.id, version: 1, by: "tom", app: shop, now: loop.wallNow) == .approved)
      }
      let approved = try await stored()
      #expect(approved?.editor == "ana" && approved?.approver == "tom")
      // As the script of the version before changes a draft.
      let key = drafts.keys.draft(shop, made.id)
      _ = try await drafts.ask(RedisCommand("HINCRBY", key, "v", "1"))
      let foreign = try await stored()
      #expect(foreign?.version == 2 && foreign?.editor == nil && foreign?.approver == nil && foreign?.approvedAt == nil)
      #expect(try await drafts.approve(made.id, version: 2, by: "ana", app: shop, now: loop.wallNow) == .approved)
      _ = try await drafts.replace(made.id, [2], name: nil, version: 2, by: "tom", app: shop, now: loop.wallNow)
      let last = try await stored()
      #expect(last?.editor == "tom" && last?.approver == nil)
      #expect(try await drafts.approve(made.id, version: 3, by: "tom", app: shop, now: loop.wallNow) == .own)
    }
  }
}
