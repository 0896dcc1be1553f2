import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Files that somebody uploaded to the console")
struct ConsoleUploadStories {
  private func names(_ store: Store) async throws -> [String] {
    try await store.session.redis.call(RedisCommand("KEYS", "*upload*")).array?.compactMap(\.text) ?? []
  }

  @Test("a file is found as it was by the key that uploaded it alone; the next one takes its place; each part ends")
  func keep() async throws {
    try await withStore(quickSettings(partitions: 4)) { store, loop in
      let uploads = store.consoleSessions.uploads
      for size in [0, 1, ConsoleUploads.pieceBytes, 3 * ConsoleUploads.pieceBytes + 7] {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let kept = try #require(try await uploads.keep(bytes, file: "é\"\n.csv", key: "key_1", app: shop))
        let found = try #require(try await uploads.find(kept.name, key: "key_1", app: shop))
        #expect(found == kept && found.file == "é\"\n.csv" && found.size == size)
        #expect(try await uploads.bytes(of: found) == bytes)
        #expect(try await uploads.find(kept.name, key: "key_2", app: shop) == nil)
        #expect(try await uploads.find(kept.name, key: "key_1", app: AppID(rawValue: "other")) == nil)
        try await uploads.note([1, 2], of: found, key: "key_1", app: shop)
        #expect(try await uploads.note(of: found) == [1, 2])
      }
      let before = try await names(store)
      // The last one: a head, four pieces, a note; and which one it is.
      #expect(before.count == 7, "\(before)")
      for name in before {
        let left = try await store.session.redis.call(RedisCommand("PTTL", name)).integer ?? -9
        #expect(left > 0 && left <= ConsoleUploads.milliseconds, "\(name)")
      }
      let other = try #require(try await uploads.keep([1], file: "", key: "key_2", app: shop))
      #expect(try await uploads.find(other.name, key: "key_2", app: shop) != nil)
      #expect(try await names(store).count == 10)
    }
  }

  @Test("a note lets the upload live on, also where its time ended before the note was written")
  func prolonged() async throws {
    try await withStore(quickSettings(partitions: 4)) { store, loop in
      let uploads = store.consoleSessions.uploads
      let kept = try #require(try await uploads.keep([1, 2, 3], file: "f", key: "key_1", app: shop))
      let redis = store.session.redis
      for name in try await names(store) { _ = try await redis.call(RedisCommand("PEXPIRE", name, "60000")) }
      _ = try await redis.call(RedisCommand("DEL", store.session.keys.consoleUpload(kept.name)))
      #expect(try await uploads.find(kept.name, key: "key_1", app: shop) == nil)
      try await uploads.note([7], of: kept, key: "key_1", app: shop)
      #expect(try await uploads.find(kept.name, key: "key_1", app: shop) == kept)
      #expect(try await uploads.find(kept.name, key: "key_2", app: shop) == nil)
      #expect(try await uploads.note(of: kept) == [7])
      let all = try await names(store)
      #expect(all.count == 4, "\(all)")
      for name in all {
        #expect(try await redis.call(RedisCommand("PTTL", name)).integer ?? -9 > 60_000, "\(name)")
      }
    }
  }

  @Test("a file that is too long, or a name that nobody was given, costs Redis nothing")
  func bounds() async throws {
    try await withStore(quickSettings(partitions: 4)) { store, loop in
      let uploads = store.consoleSessions.uploads
      let long = [UInt8](repeating: 0, count: ConsoleUploads.longest + 1)
      let kept = try await uploads.keep(long, file: "", key: "key_1", app: shop)
      #expect(kept == nil)
      for name in ["", "*", "../x", String(repeating: "A", count: 48), String(repeating: "a", count: 49)] {
        #expect(try await uploads.find(name, key: "key_1", app: shop) == nil)
      }
      #expect(try await names(store).isEmpty)
    }
  }
}
