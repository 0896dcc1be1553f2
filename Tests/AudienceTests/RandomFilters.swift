import Domain
import Support

/// One entry of OneSignal's `filters`, as a client may write it.
struct SampleFilter: Hashable {
  var field: String
  /// Of a tag.
  var key: String?
  var relation: String
  /// `hours_ago` of a session.
  var value: String?

  var entry: JSONValue {
    var members = [JSONMember("field", .string(field))]
    if let key { members.append(JSONMember("key", .string(key))) }
    members.append(JSONMember("relation", .string(relation)))
    if let value { members.append(JSONMember(field == "last_session" ? "hours_ago" : "value", .string(value))) }
    return .object(members)
  }
}

/// Filters over few enough values that they meet; among their keys and values all that means something in an expression.
enum RandomFilters {
  static let keys = ["plan", "lang", "audience", "and", "first name", "é", "e\u{301}", "*", "a\"b\\c", "(x)", "!"]
  static let values = ["pro", "team", "source:ads", ":", "*", "New York", "é", "e\u{301}", "\"", "x:y:z"]
  static let languages = ["de", "fr", "zh-Hans"]
  static let versions = ["1", "2", "3"]

  /// `isPlain`: of those that an expression says in one term, or in one and its contrary.
  static func filter(_ random: inout Seeded, isPlain: Bool) -> SampleFilter {
    switch Int.random(in: 0..<10, using: &random) {
    case 0:
      return SampleFilter(field: "language", relation: random.pick(["=", "!="]), value: random.pick(languages))
    case 1:
      return SampleFilter(
        field: "app_version", relation: random.pick(["=", "!=", "<", ">"]), value: random.pick(versions))
    case 2:
      let days = Int.random(in: 1...4, using: &random)
      return SampleFilter(field: "last_session", relation: random.pick(["<", ">"]), value: String(days * 24))
    default:
      let relation = random.pick(
        ["=", "!=", "exists", "not_exists"] + (isPlain ? [] : ["in_array", "not_in_array"]))
      let value: String? =
        switch relation {
        case "exists", "not_exists": nil
        case "in_array", "not_in_array":
          (0..<Int.random(in: 1...2, using: &random)).map { _ in random.pick(values) }
            .joined(separator: random.pick([",", ", "]))
        default: random.pick(values + ["a,b", " led by a space"])
        }
      return SampleFilter(field: "tag", key: random.pick(keys), relation: relation, value: value)
    }
  }

  /// Groups that OR parts; in each, all must hold. Lists of two values, three times three: multiplied out they are 24 products
  /// of 3 filters at most, far from the limit.
  static func groups(_ random: inout Seeded, isPlain: Bool) -> [[SampleFilter]] {
    let most = isPlain ? 4 : 3
    return (0..<Int.random(in: 1...most, using: &random)).map { _ in
      (0..<Int.random(in: 1...most, using: &random)).map { _ in filter(&random, isPlain: isPlain) }
    }
  }

  /// The array; `and`: whether a pair of neighbours gets the operator that may be left out.
  static func array(_ groups: [[SampleFilter]], and: () -> Bool = { false }) -> JSONValue {
    var entries: [JSONValue] = []
    for (number, group) in groups.enumerated() {
      if number > 0 { entries.append(joint("OR")) }
      for (index, filter) in group.enumerated() {
        if index > 0, and() { entries.append(joint("AND")) }
        entries.append(filter.entry)
      }
    }
    return .array(entries)
  }

  private static func joint(_ name: String) -> JSONValue { .object([JSONMember("operator", .string(name))]) }
}
