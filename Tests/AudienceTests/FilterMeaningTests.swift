import Audience
import Domain
import JSON
import Support
import Testing

/// A subscriber as OneSignal knows one.
private struct Subscriber {
  /// Each key once.
  var tags: [(key: String, value: String)]
  var language: String
  var version: String
  var daysAway: Int

  init(_ random: inout Seeded) {
    tags = []
    for key in RandomFilters.keys where Bool.random(using: &random) {
      tags.append((key, random.pick(RandomFilters.values + ["a,b", " led by a space"])))
    }
    language = random.pick(RandomFilters.languages)
    version = random.pick(RandomFilters.versions)
    daysAway = Int.random(in: 0...5, using: &random)
  }

  private func same(_ left: String, _ right: String) -> Bool { Array(left.utf8) == Array(right.utf8) }

  func fits(_ filter: SampleFilter) -> Bool {
    let value = filter.value ?? ""
    switch (filter.field, filter.relation) {
    case ("language", "="): return language == value
    case ("language", _): return language != value
    case ("app_version", "="): return version == value
    case ("app_version", "!="): return version != value
    case ("app_version", "<"): return version < value
    case ("app_version", _): return version > value
    case ("last_session", "<"): return daysAway * 24 < (Int(value) ?? 0)
    case ("last_session", _): return daysAway * 24 > (Int(value) ?? 0)
    default: break
    }
    let own = tags.first { same($0.key, filter.key ?? "") }?.value
    let listed = value.split(separator: ",").map { $0.drop { $0 == " " } }
    return switch filter.relation {
    case "=": own.map { same($0, value) } ?? false
    case "!=": !(own.map { same($0, value) } ?? false)
    case "exists": own != nil
    case "not_exists": own == nil
    case "in_array": own.map { own in listed.contains { same(own, String($0)) } } ?? false
    default: !(own.map { own in listed.contains { same(own, String($0)) } } ?? false)
    }
  }

  func fits(_ groups: [[SampleFilter]]) -> Bool { groups.contains { $0.allSatisfy(fits) } }

  /// The same as a device here.
  func fits(_ tree: AudienceExpression) -> Bool {
    let words = tree.evaluate(everyone: [1]) { term in
      let holds =
        switch term.field {
        case .tag: tags.contains { term.matches("\($0.key):\($0.value)") }
        case .language: term.matches(language.lowercased())
        case .appVersion: term.matches(version)
        case .seen: term.matches(day: 1_000 - daysAway, today: 1_000)
        default: false
        }
      return [holds ? 1 : 0]
    }
    return words == [1]
  }
}

@Suite("Filters keep their meaning on the way through expressions")
struct FilterMeaningTests {
  private func bytes(_ value: JSONValue) -> [UInt8] { value.encoded }

  /// What a message to `filters` makes of them until OneSignal is asked: the canonical text is what is stored.
  private func tree(_ filters: JSONValue) throws -> AudienceExpression {
    let tree = try AudienceExpression(oneSignalFilters: filters)
    let stored = try AudienceExpression(parsing: tree.canonical)
    #expect(stored == tree)
    return stored
  }

  @Test("filters that a tree says as they are come back byte by byte, and give that tree again")
  func roundTrip() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = Seeded(seed: seed)
    for _ in 0..<400 {
      let groups = RandomFilters.groups(&random, isPlain: true).map(withoutRepeats)
      let plain = RandomFilters.array(withoutRepeats(groups))
      let given = RandomFilters.array(withoutRepeats(groups)) { Bool.random(using: &random) }
      let first = try tree(given)
      let written = JSONValue.array(try first.oneSignalFilters())
      #expect(bytes(written) == bytes(plain), "seed \(seed): \(first.canonical)")
      #expect(try tree(written) == first, "seed \(seed): \(first.canonical)")
    }
  }

  /// A filter that is said twice is written once.
  private func withoutRepeats<Item: Encodes>(_ items: [Item]) -> [Item] {
    var seen: Set<[UInt8]> = []
    return items.filter { seen.insert($0.encoded).inserted }
  }

  @Test("filters, their expression, and the filters it is written as mean the same subscribers")
  func meaning() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = Seeded(seed: seed)
    for _ in 0..<400 {
      let groups = RandomFilters.groups(&random, isPlain: false)
      let expression = try tree(RandomFilters.array(groups))
      let written = try expression.oneSignalFilters()
      let again = try groupsOf(written)
      for _ in 0..<8 {
        let subscriber = Subscriber(&random)
        let isMeant = subscriber.fits(groups)
        #expect(subscriber.fits(expression) == isMeant, "seed \(seed): \(expression.canonical) \(subscriber)")
        #expect(subscriber.fits(again) == isMeant, "seed \(seed): \(expression.canonical) \(subscriber)")
      }
    }
  }

  private func groupsOf(_ entries: [JSONValue]) throws -> [[SampleFilter]] {
    var groups: [[SampleFilter]] = [[]]
    for entry in entries {
      if entry["operator"]?.string == "OR" {
        groups.append([])
        continue
      }
      let filter = SampleFilter(
        field: try #require(entry["field"]?.string), key: entry["key"]?.string,
        relation: try #require(entry["relation"]?.string),
        value: entry["value"]?.string ?? entry["hours_ago"]?.string)
      #expect(bytes(filter.entry) == bytes(entry))
      groups[groups.count - 1].append(filter)
    }
    return groups
  }
}

/// What two things are compared by where a letter's spelling counts.
private protocol Encodes { var encoded: [UInt8] { get } }
extension SampleFilter: Encodes {
  fileprivate var encoded: [UInt8] { entry.encoded }
}
extension [SampleFilter]: Encodes {
  fileprivate var encoded: [UInt8] { flatMap(\.encoded) }
}
