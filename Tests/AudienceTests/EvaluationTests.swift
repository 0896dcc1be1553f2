import Audience
import Support
import Testing

/// A device as a person would describe it.
private struct Sample {
  var tags: Set<String>
  var provider: String
  var platform: String?
  var language: String?
  var zone: String?
  var version: String?
  var permissions: Set<String>
  var activity: String?
  var day: Int

  static let today = 20_000

  init(_ random: inout Seeded) {
    tags = Set((0..<Int.random(in: 0...6, using: &random)).map { _ in random.pick(RandomTrees.tags) })
    provider = random.pick(["apns", "fcm", "onesignal"])
    platform = random.pick(["ios", "android", "web", nil])
    language = random.pick(["de", "de-at", "de-at-1996", "den", "fr", "zh-hans", nil])
    zone = random.pick(["Europe/Vienna", "UTC", nil])
    version = random.pick(RandomTrees.versions + ["2.1 (451)", "dev"] + [nil])
    permissions = Set(["provisional", "time-sensitive", "critical"].filter { _ in Bool.random(using: &random) })
    activity = random.pick(["match-7", "Match 7", "*", nil])
    day = Self.today - Int.random(in: 0...45, using: &random)
  }

  /// How versions of the samples stand to each other, by hand.
  private static let ranks = [
    "0.9": 0, "2.1": 1, "2.1.0": 1, "2.1 (451)": 1, "2.10": 2, "3.0-beta.2": 3, "3.0": 4,
  ]

  func fits(_ tree: AudienceExpression) -> Bool {
    switch tree {
    case .everyone: true
    case .not(let inner): !fits(inner)
    case .all(let members): members.allSatisfy(fits)
    case .any(let members): members.contains(where: fits)
    case .term(let term): fits(term)
    }
  }

  private func fits(_ term: AudienceTerm) -> Bool {
    switch term {
    case .tag(let tag): tags.contains { Array($0.utf8) == Array(tag.utf8) }
    case .tagPrefix(let prefix): tags.contains { Array($0.utf8.prefix(prefix.utf8.count)) == Array(prefix.utf8) }
    case .provider(let name): provider == name
    case .platform(let name): platform == name
    case .language(let name):
      language.map {
        Array($0.split(separator: "-").prefix(name.split(separator: "-").count)) == name.split(separator: "-")
      }
        ?? false
    case .zone(let name): zone == name
    case .appVersion(.exact, let wanted): version == wanted.text
    case .appVersion(let comparison, let wanted): fits(comparison, wanted.text)
    case .seen(.within, let days): Self.today - day < days
    case .seen(.olderThan, let days): Self.today - day > days
    case .present(.language): language != nil
    case .present(.zone): zone != nil
    case .present(.platform): platform != nil
    case .present(.appVersion): version != nil
    case .permission(let name): permissions.contains(name)
    case .activity(let name): activity == name
    case .present(.permission): !permissions.isEmpty
    case .present, .audience: false
    }
  }

  private func fits(_ comparison: AudienceTerm.Comparison, _ wanted: String) -> Bool {
    guard let own = version.flatMap({ Self.ranks[$0] }), let other = Self.ranks[wanted] else { return false }
    return switch comparison {
    case .less: own < other
    case .lessOrEqual: own <= other
    case .greater: own > other
    case .greaterOrEqual: own >= other
    case .equal, .exact: own == other
    }
  }

  /// The values of one field, as a store would keep its sets.
  func values(_ field: AudienceField) -> [String] {
    switch field {
    case .tag: Array(tags)
    case .provider: [provider]
    case .platform: platform.map { [$0] } ?? []
    case .language: language.map { [$0] } ?? []
    case .zone: zone.map { [$0] } ?? []
    case .appVersion: version.map { [$0] } ?? []
    case .permission: Array(permissions)
    case .activity: activity.map { [$0] } ?? []
    case .seen: []
    }
  }
}

@Suite("An expression selects the devices it describes")
struct EvaluationTests {
  @Test("words of bits give what asking every device gives")
  func evaluation() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = Seeded(seed: seed)
    for _ in 0..<200 {
      let devices = (0..<Int.random(in: 1...300, using: &random)).map { _ in
        Int.random(in: 0..<5, using: &random) == 0 ? nil : Sample(&random)
      }
      let everyone = words(devices) { _ in true }
      for _ in 0..<10 {
        let tree = RandomTrees.tree(&random, depth: 4)
        let result = tree.evaluate(everyone: everyone) { term in block(of: term, devices) }
        #expect(result == words(devices) { $0.fits(tree) }, "seed \(seed): \(tree.canonical)")
      }
    }
  }

  /// The block of a term, found as a store finds it: by field, value and prefix; sometimes shorter than it could be.
  private func block(of term: AudienceTerm, _ devices: [Sample?]) -> [UInt64] {
    guard let field = term.field else { return [] }
    var result = words(devices) { device in
      if field == .seen { return term.matches(day: device.day, today: Sample.today) }
      let values = device.values(field)
      let selected = values.filter { term.matches($0) }
      #expect(selected.allSatisfy { $0.utf8.starts(with: term.valuePrefix.utf8) })
      if let sole = term.soleValue { #expect(selected.allSatisfy { $0.utf8.elementsEqual(sole.utf8) }) }
      return !selected.isEmpty
    }
    while result.last == 0 { result.removeLast() }
    return result
  }

  private func words(_ devices: [Sample?], _ holds: (Sample) -> Bool) -> [UInt64] {
    var words = [UInt64](repeating: 0, count: (devices.count + 63) / 64)
    for (number, device) in devices.enumerated() where device.map(holds) ?? false {
      words[number / 64] |= 1 << UInt64(number % 64)
    }
    return words
  }

  @Test(
    "versions stand in order",
    arguments: [
      ("2.1", "2.10"), ("2.9.9", "2.10"), ("1", "1.0.1"), ("3.0-beta", "3.0"), ("3.0-beta.2", "3.0-beta.11"),
      ("3.0-alpha", "3.0-beta"), ("3.0-1", "3.0-rc"), ("99999999999999999999", "100000000000000000000"), ("v1.9", "V2"),
    ])
  func versions(_ older: String, _ newer: String) {
    #expect(Version(older).order(to: Version(newer)) == .before)
    #expect(Version(newer).order(to: Version(older)) == .after)
  }

  @Test("versions that mean the same, and those that mean nothing")
  func sameVersions() {
    for (left, right) in [("2.1", "2.1.0"), ("2.1", "2.1 (451)"), ("v2.01", "2.1+build.7")] {
      #expect(Version(left).order(to: Version(right)) == .same)
    }
    for text in ["", "dev", "-1", "v", ".1"] { #expect(Version(text).order(to: Version("1")) == nil, "\(text)") }
  }

  @Test("named audiences are written out; circles, gaps and explosions are refused")
  func resolving() throws {
    var named: [String: AudienceExpression] = [:]
    named["vip"] = try AudienceExpression(parsing: "plan:pro && !audience:gone")
    named["gone"] = try AudienceExpression(parsing: "seen:>90d")
    func resolve(_ text: String) throws -> String {
      try AudienceExpression(parsing: text).resolving { named[$0] }.canonical
    }
    #expect(try resolve("audience:vip || beta") == "((plan:pro && !seen:>90d) || beta)")

    func message(_ text: String) throws -> String {
      try #require(throws: AudienceFault.self) { try resolve(text) }.message
    }
    #expect(try message("!audience:nobody").contains("no audience has this name"))
    named["a"] = try AudienceExpression(parsing: "audience:b || x")
    named["b"] = try AudienceExpression(parsing: "audience:a || y")
    #expect(try message("audience:b").contains("b → a → b"))
    // Each doubles the next: 2^30 terms if nobody counted.
    for index in 0..<30 {
      named["d\(index)"] = try AudienceExpression(
        parsing: index == 29 ? "x" : "audience:d\(index + 1) || audience:d\(index + 1)")
      named["c\(index)"] = try AudienceExpression(parsing: index == 29 ? "x" : "audience:c\(index + 1)")
    }
    #expect(try message("audience:d0").contains("too"))
    #expect(try message("audience:c0").contains("too deep"))
    #expect(try resolve("audience:d24").filter { $0 == "x" }.count == 32)
  }
}
