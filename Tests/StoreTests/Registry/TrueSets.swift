import Domain
import RedisClient
import Testing

@testable import Store

/// What a set holds: partitions and numbers.
typealias Members = Set<DevicePlace>

extension Store {
  /// All sets of an app as they lie in Redis, read key by key: no reading door of the store takes part.
  func setsInRedis(app: AppID) async throws -> [SetName: Members] {
    var sets: [SetName: Members] = [:]
    for partition in 0..<session.settings.partitions {
      let stem = session.keys.lastNumber(partition, app).dropLast("last:\(app.rawValue)".count)
      var apart = Set<String>()
      for key in try await names("\(stem)b:\(app.rawValue):*") {
        let words = key.split(separator: ":")
        let block = try #require(Int(words[words.count - 2]))
        for (field, value) in pairs(try await session.redis.call(RedisCommand("HGETALL", key)).array ?? []) {
          let name = try #require(SetName(text: String(decoding: field, as: UTF8.self)))
          #expect(key == session.keys.setBucket(partition, app, name, block: block))
          var stored = value
          if value.count == 1 {
            let own = session.keys.set(partition, app, name, block: block)
            apart.insert(own)
            stored = try #require(try await session.redis.call(RedisCommand("GET", own)).bytes, "\(own) is missing")
          } else {
            #expect((2...64).contains(value.count))
          }
          var numbers = SetBlock.numbers(listed: stored)
          if value == Array("b".utf8) {
            numbers = SetBlock.numbers(SetBlock.words(bitmap: stored))
            #expect(
              stored.count.isMultiple(of: SetBlock.bitmapStep) && stored.count <= SetBlock.bytes,
              "a bitmap: \(name.text)")
          } else {
            #expect(numbers == Set(numbers).sorted(), "a list is ascending: \(name.text)")
          }
          sets[name, default: []].formUnion(
            numbers.map { DevicePlace(partition: partition, number: block * SetBlock.size + $0) })
        }
      }
      #expect(Set(try await names("\(stem)c:\(app.rawValue):*")) == apart)
    }
    return sets
  }

  private func names(_ pattern: String) async throws -> [String] {
    let escaped = pattern.replacing("[", with: "\\[")
    return (try await session.redis.call(RedisCommand("KEYS", escaped)).array ?? []).compactMap(\.text)
  }

  func allRecords(app: AppID) async throws -> [FoundDevice] {
    var found: [FoundDevice] = []
    for partition in 0..<session.settings.partitions {
      let last = try await session.redis.call(RedisCommand("GET", session.keys.lastNumber(partition, app))).integer ?? 0
      let places = (0..<Int(last)).map { DevicePlace(partition: partition, number: $0) }
      found += try await records.records(places, app: app).compactMap { $0 }
    }
    return found
  }

  /// Sets and records say the same, no more and no less; and each record is found by its id, and by its token if it lives.
  func expectTrueSets(app: AppID, _ comment: Comment? = nil) async throws {
    let records = try await allRecords(app: app)
    var wanted: [SetName: Members] = [:]
    for found in records {
      for name in found.record.sets { wanted[name, default: []].insert(found.place) }
    }
    let held = try await setsInRedis(app: app)
    for name in Set(wanted.keys).union(held.keys) { #expect(held[name] == wanted[name], comment) }
    let byID = try await self.records.find(records.map(\.device.id), app: app)
    #expect(byID.map { $0?.place } == records.map(\.place), comment)
    let living = records.filter(\.record.isLiving)
    let owners = try await tokens.findOwners(of: living.map(\.device.address), app: app)
    #expect(owners.map { $0?.place } == living.map(\.place), comment)
  }
}
