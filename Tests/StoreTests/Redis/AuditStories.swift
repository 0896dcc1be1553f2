import Domain
import Loop
import RedisClient
import Support
import Testing

@testable import Store

/// What the audit keeps, and in which order it tells it.
@Suite("Audit")
struct AuditStories {
  private static func entry(_ operation: String, _ number: Int, at time: WallTime) -> AuditEntry {
    var entry = AuditEntry(operation: operation, at: time)
    entry.key = "key_\(number % 3)"
    entry.address = "203.0.113.\(number % 5)"
    entry.created = "m\(number)"
    entry.outcome = .done
    entry.status = 202
    return entry
  }

  @Test("entries read as they were written", arguments: 0..<20)
  func packing(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    let now = WallTime(milliseconds: 1_800_000_000_000)
    let entries = (0..<Int.random(in: 1...60, using: &random)).map { number in
      func text(_ name: String) -> String? {
        Bool.random(using: &random) ? "\(name)\(Int.random(in: 0...3, using: &random))\n\u{1F600}" : nil
      }
      func digest() -> AuditDigest? {
        Bool.random(using: &random)
          ? AuditDigest(UUIDBytes(high: .random(in: 0 ... .max, using: &random), low: UInt64(number))) : nil
      }
      var entry = AuditEntry(operation: "operation\(number % 4)", at: now)
      entry.at = now + -Int64.random(in: 0...100_000, using: &random)
      entry.beganAt = entry.at + -Int64.random(in: 0...100_000, using: &random)
      (entry.key, entry.user, entry.address) = (text("key"), text("user"), text("address"))
      (entry.object, entry.created, entry.code) = (text("object"), text("created"), text("code"))
      entry.requestID = text("request")
      entry.outcome = AuditEntry.Outcome.allCases.randomElement(using: &random)!
      entry.status = Bool.random(using: &random) ? Int.random(in: 200...599, using: &random) : nil
      (entry.requestDigest, entry.before, entry.after) = (digest(), digest(), digest())
      return entry
    }
    let packed = PackedAudit.pack(entries, at: now)
    #expect(try PackedAudit.entries(packed, at: now) == entries)
    for length in 0..<packed.count {
      #expect(throws: Corrupt.self) { try PackedAudit.entries(Array(packed.prefix(length)), at: now) }
    }
  }

  @Test("all trails are told as one, newest first, each entry once on pages of any size, and numbers have no gap")
  func pages() async throws {
    try await withStore { store, loop in
      var written: [String] = []
      for round in 0..<30 {
        // Sends are written together.
        let sends = (0..<(round * 7 % 40)).map { Self.entry("sendMessage", round * 100 + $0, at: loop.wallNow) }
        try await store.audit.add(sends, app: shop, in: .sends)
        written += sends.map { $0.created! }
        for trail in [AuditTrailName.admin, .acts, .sessions] {
          var act = try await store.audit.begin(Self.entry("\(trail)", round, at: loop.wallNow), app: shop, in: trail)
          (act.entry.outcome, act.entry.created, act.entry.at) = (.done, "\(trail)\(round)", loop.wallNow)
          try await store.audit.end(act)
          written.append("\(trail)\(round)")
        }
      }
      for limit in [1, 7, 100, 10_000] {
        var place: AuditPlace?
        var told: [AuditRecord] = []
        repeat {
          let (records, next) = try await store.audit.page(shop, AuditQuery(), before: place, limit: limit)
          #expect(records.count <= limit)
          told += records
          place = next.map { AuditPlace(text: $0.text)! }
        } while place != nil
        // Redis' clock orders them: within a millisecond, those of different trails have no order.
        let times = told.compactMap { $0.place?.milliseconds }
        #expect(times.count == told.count && times == times.sorted(by: >), "pages of \(limit)")
        #expect(told.compactMap(\.entry.created).sorted() == written.sorted(), "pages of \(limit)")
        var numbers: [AuditTrailName: [Int64]] = [:]
        for record in told { numbers[try #require(record.trail), default: []].append(try #require(record.number)) }
        for some in numbers.values { #expect(some == Array((1...Int64(some.count)).reversed())) }
      }
      var query = AuditQuery()
      query.object = "admin7"
      #expect(try await store.audit.page(shop, query, before: nil, limit: 10).records.count == 1)
      query = AuditQuery()
      (query.key, query.operation) = ("key_1", "acts")
      #expect(try await store.audit.page(shop, query, before: nil, limit: 100).records.count == 10)
      query.to = loop.wallNow + -3_600_000
      #expect(try await store.audit.page(shop, query, before: nil, limit: 100).records.isEmpty)
      let other = AppID(rawValue: "other")
      #expect(try await store.audit.page(other, AuditQuery(), before: nil, limit: 100).records.isEmpty)
    }
  }

  @Test("a trail keeps so many of its newest entries, and sends and sessions push out no act")
  func bounds() async throws {
    var settings = quickSettings()
    (settings.auditActs, settings.auditSends) = (10, 1_000)
    try await withStore(settings) { store, loop in
      for number in 0..<35 {
        try await store.audit.add([Self.entry("act", number, at: loop.wallNow)], app: shop, in: .acts)
        let sends = (0..<100).map { Self.entry("send", number * 100 + $0, at: loop.wallNow) }
        try await store.audit.add(sends, app: shop, in: .sends)
        try await store.audit.add([Self.entry("signIn", number, at: loop.wallNow)], app: shop, in: .sessions)
      }
      let records = try await store.audit.page(shop, AuditQuery(), before: nil, limit: 10_000).records
      var numbers: [AuditTrailName: [Int64]] = [:]
      for record in records { numbers[try #require(record.trail), default: []].append(try #require(record.number)) }
      #expect(numbers[.acts] == Array((26...35).reversed()))
      #expect(numbers[.sessions] == Array((26...35).reversed()))
      #expect(numbers[.sends] == Array((2_501...3_500).reversed()))
    }
  }

  @Test("an act at work is told before all others, and as unknown when its process has been dead for long")
  func unknown() async throws {
    try await withStore { store, loop in
      try await store.audit.add([Self.entry("old", 1, at: loop.wallNow)], app: shop, in: .acts)
      _ = try await store.audit.begin(Self.entry("young", 2, at: loop.wallNow), app: shop, in: .admin)
      _ = try await store.audit.begin(Self.entry("dead", 3, at: loop.wallNow + -700_000), app: shop, in: .admin)
      func told() async throws -> [String] {
        try await store.audit.page(shop, AuditQuery(), before: nil, limit: 10).records
          .map { "\($0.entry.operation) \($0.entry.outcome)" }
      }
      #expect(try await told() == ["young begun", "dead begun", "old done"])
      try await store.audit.tidy(shop)
      for _ in 1...2 {
        let ended = try await told()
        #expect(ended.first == "young begun" && ended.dropFirst().sorted() == ["dead unknown", "old done"])
        try await store.audit.tidy(shop)
      }
    }
  }
}
