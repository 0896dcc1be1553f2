import Domain
import JSON
import Support

/// Good bodies with one member set to something hostile: each member that a schema describes, with each value. By chance most
/// bodies have a second fault, and are refused before the first one does harm.
struct BodySweep {
  let schemas: JSONValue
  /// Good bodies, by method and path; other routes are left to chance.
  private static let good: [String: Fragment] = [
    "POST /v1/messages": .object([
      .init(key: "to", value: .object([.init(key: "devices", value: .array([.text("d1")]))])),
      .init(key: "notification", value: .object([.init(key: "title", value: .text("T"))])),
    ]),
    "PUT /v1/devices/{id}": .object([
      .init(key: "provider", value: .text("fcm")), .init(key: "token", value: .text("swept-token")),
    ]),
    "POST /v1/audiences/count": .object([.init(key: "audience", value: .text("news"))]),
    "POST /v1/messages/{id}/replay": .object([]),
    "PATCH /v1/messages/{id}": .object([]),
  ]
  /// Members within members are followed so far.
  private static let deepest = 4
  private static let item = "[]"

  func bodies(of route: DrivenRoute) -> [String] {
    guard let good = Self.good[route.name], let schema = route.body else { return [] }
    let texts = HostileValues.texts.map(Fragment.text)
    let values =
      HostileValues.numbers.map(Fragment.raw) + texts + [.raw("null"), .raw("true"), .array([]), .object([])]
    return paths(in: schema, []).flatMap { path in values.map { good.setting(path[...], to: $0).json } }
  }

  private func paths(in schema: JSONValue, _ path: [String]) -> Set<[String]> {
    if let reference = schema["$ref"]?.string?.split(separator: "/").last {
      return paths(in: schemas[String(reference)] ?? .null, path)
    }
    var found: Set<[String]> = path.isEmpty ? [] : [path]
    guard path.count < Self.deepest else { return found }
    for choice in (schema["oneOf"]?.array ?? []) + (schema["anyOf"]?.array ?? []) {
      found.formUnion(paths(in: choice, path))
    }
    if let items = schema["items"] { found.formUnion(paths(in: items, path + [Self.item])) }
    for property in schema["properties"]?.object ?? [] {
      found.formUnion(paths(in: property.value, path + [property.key]))
    }
    return found
  }
}

extension Fragment {
  /// With the member at a path, made on the way where it is not there; a path goes into the first item of an array.
  fileprivate func setting(_ path: ArraySlice<String>, to value: Fragment) -> Fragment {
    guard let key = path.first else { return value }
    let rest = path.dropFirst()
    if key == "[]" {
      guard case .array(let items) = self, let first = items.first else {
        return .array([Fragment.object([]).setting(rest, to: value)])
      }
      return .array([first.setting(rest, to: value)] + items.dropFirst())
    }
    guard case .object(var members) = self else { return Fragment.object([]).setting(path, to: value) }
    if let at = members.firstIndex(where: { $0.key == key }) {
      members[at].value = members[at].value.setting(rest, to: value)
    } else {
      members.append(Member(key: key, value: Fragment.object([]).setting(rest, to: value)))
    }
    return .object(members)
  }
}
