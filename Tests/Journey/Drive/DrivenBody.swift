import Domain
import JSON
import Support

/// Bodies as the schemas of /openapi.json describe them, so that they come far, with something hostile in one place.
struct DrivenBody {
  let schemas: JSONValue
  /// Ids that the program gave or was given: by the name of the member or parameter that takes them.
  var known: [String: [String]]

  private static let deepest = 8

  func make(_ schema: JSONValue, _ chance: inout Seeded) -> Fragment {
    var body = value(of: schema, "", 0, &chance)
    // Untouched, or with one or two places that are not as they should be.
    for _ in 0..<chance.pick([0, 1, 1, 1, 2]) {
      var place = Int.random(in: 0..<body.count, using: &chance)
      let isSmall = Int.random(in: 0..<12, using: &chance) > 0
      body = body.replacing(&place, with: HostileValues.fragment(&chance, small: isSmall))
    }
    return body
  }

  private func value(of schema: JSONValue, _ name: String, _ depth: Int, _ chance: inout Seeded) -> Fragment {
    if let reference = schema["$ref"]?.string?.split(separator: "/").last {
      return value(of: schemas[String(reference)] ?? .null, name, depth, &chance)
    }
    // Beside properties it only says which of them are needed.
    let isWhole = schema["properties"] == nil
    if isWhole, let choices = schema["oneOf"]?.array ?? schema["anyOf"]?.array, !choices.isEmpty {
      return value(of: chance.pick(choices), name, depth, &chance)
    }
    if let words = schema["enum"]?.array, !words.isEmpty { return .text(chance.pick(words).string ?? "") }
    let type = schema["type"]?.string ?? schema["type"]?.array.map { chance.pick($0).string ?? "" }
    switch type {
    case "integer", "number": return number(schema, isWhole: type == "integer", &chance)
    case "boolean": return .raw(Bool.random(using: &chance) ? "true" : "false")
    case "array":
      guard depth < Self.deepest, let items = schema["items"] else { return .array([]) }
      return .array(
        (0..<Int.random(in: 1...3, using: &chance)).map { _ in value(of: items, name, depth + 1, &chance) })
    case "object": return object(schema, depth, &chance)
    case "null": return .raw("null")
    default: return .text(known[name].map { chance.pick($0) } ?? chance.pick(["news", "d1", "ana", "de", "x"]))
    }
  }

  private func number(_ schema: JSONValue, isWhole: Bool, _ chance: inout Seeded) -> Fragment {
    let low = schema["minimum"]?.integer ?? 0
    let high = max(low, min(schema["maximum"]?.integer ?? 1_000, 1 << 40))
    guard isWhole else { return .raw(chance.pick(["0.25", "0.5", "1", "\(high)"])) }
    return .raw(String(chance.pick([low, high, Int64.random(in: low...high, using: &chance)])))
  }

  private func object(_ schema: JSONValue, _ depth: Int, _ chance: inout Seeded) -> Fragment {
    let properties = schema["properties"]?.object ?? []
    guard !properties.isEmpty else {
      return .object([Fragment.Member(key: chance.pick(["screen", "en", "de", "a"]), value: .raw("1"))])
    }
    let required = Set((schema["required"]?.array ?? []).compactMap(\.string))
    let most = schema["maxProperties"]?.integer.map(Int.init) ?? .max
    var members: [Fragment.Member] = []
    for property in properties.shuffled(using: &chance) {
      let isNeeded = required.contains(property.key) || (most == 1 && members.isEmpty)
      guard members.count < most, isNeeded || (depth < Self.deepest && Int.random(in: 0..<6, using: &chance) == 0)
      else { continue }
      members.append(
        Fragment.Member(key: property.key, value: value(of: property.value, property.key, depth + 1, &chance)))
    }
    return .object(members)
  }
}
