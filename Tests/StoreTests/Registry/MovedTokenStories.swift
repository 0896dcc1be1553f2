import Audience
import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

@Suite("Imports that move tokens to other ids")
struct MovedTokenStories {
  @Test("tokens that move to other ids go together: the round trips of an import do not grow with them")
  func movedTogether() async throws {
    let server = RedisServer()
    try await withStore(quickSettings(partitions: 2), server: server) { store, loop in
      let phones = ImportStories.phones(0..<400)
      func moved(_ name: String, _ range: Range<Int>) -> [Device] {
        range.map { number in
          var phone = phones[number]
          phone.id = DeviceID(rawValue: "\(name)\(number)")
          return phone
        }
      }
      _ = try await store.devices.put(phones, app: shop)
      /// Reads of Redis that moving these takes: a pipeline of many commands comes in few.
      func reads(_ devices: [Device]) async throws -> Int {
        func count() async throws -> Int {
          let info = try await store.session.redis.call(RedisCommand("INFO", "stats")).text ?? ""
          let line = info.split(separator: "\r\n").first { $0.hasPrefix("total_reads_processed:") }
          return Int(line?.split(separator: ":").last ?? "") ?? 0
        }
        let before = try await count()
        for (device, result) in zip(devices, try await store.devices.put(devices, app: shop)) {
          #expect(result.isMoved(to: device.id), "\(result)")
        }
        return try await count() - before
      }
      let (few, many) = (try await reads(moved("a", 0..<40)), try await reads(moved("b", 0..<400)))
      #expect(many < few * 5, "\(few) reads for 40, \(many) for 400")
      let everyone = AudienceSelection(expression: .everyone)
      #expect(try await store.audiences.count(everyone, app: shop, now: loop.wallNow).total == 400)
      let owners = try await store.tokens.owners(of: phones.map(\.address), app: shop)
      #expect(owners.enumerated().allSatisfy { $1?.device.id.rawValue == "b\($0)" })
      try await store.expectTrueSets(app: shop)
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
    }
  }
}

extension PutResult {
  fileprivate func isMoved(to id: DeviceID) -> Bool {
    if case .stored(id, .moved) = self { true } else { false }
  }
}
