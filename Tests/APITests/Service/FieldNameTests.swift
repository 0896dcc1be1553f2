import API
import Domain
import JSON
import Testing

@Suite("Names of fields mean one thing")
struct FieldNameTests {
  private struct Field {
    var place: String
    var name: String
    var schema: JSONValue
  }

  /// Every property of every schema of the description.
  private static let fields: [Field] = {
    var fields: [Field] = []
    func walk(_ value: JSONValue, _ place: String) {
      switch value {
      case .object(let members):
        // A property may itself be called so.
        let isSchema = value["type"]?.string == "object" || value["type"] == nil
        for member in members {
          if member.key == "properties", isSchema, let properties = member.value.object {
            for property in properties {
              fields.append(Field(place: place, name: property.key, schema: property.value))
              walk(property.value, "\(place).\(property.key)")
            }
          } else if member.key != "example", member.key != "examples" {
            walk(member.value, place)
          }
        }
      case .array(let items): for item in items { walk(item, place) }
      case .null, .bool, .integer, .unsigned, .double, .string: break
      }
    }
    for schema in OpenAPI.document["components"]?["schemas"]?.object ?? [] { walk(schema.value, schema.key) }
    walk(OpenAPI.document["paths"] ?? .null, "paths")
    return fields
  }()

  /// Nil where it has several, as what a sender may write in two ways.
  private static func type(of schema: JSONValue) -> String? {
    if let name = schema["$ref"]?.string?.split(separator: "/").last {
      return OpenAPI.document["components"]?["schemas"]?[String(name)].flatMap { type(of: $0) }
    }
    let types = schema["type"]?.array?.compactMap(\.string).filter { $0 != "null" } ?? []
    guard let type = schema["type"]?.string ?? (types.count == 1 ? types[0] : nil) else { return nil }
    return type == "integer" ? "number" : type
  }

  /// Names with two types, and why.
  private static let twofold: [String: String] = [
    "badge": "of the app's icon, a number; of a browser's notification, a URL, as the Web calls both",
    "body": "of a notification, its text; of a dry run, the provider's request",
    "message": "of a draft, the message; elsewhere, a message's id",
    "outcomes": "of a replay, which ones; of a report, how many of each",
    "status": "of a problem, the HTTP status, by RFC 9457; of a device, a word",
    "version": "of a draft or a message, how often it was changed; of Redis, its release as it calls it",
    "to": "of a message, its recipients; of quiet hours and a timeline, a word",
  ]
  /// Apple's names, with Apple's unit: seconds since 1970.
  private static let seconds: Set<String> = ["timestamp", "stale_date", "dismissal_date"]

  @Test("every name is in snake case")
  func snakeCase() {
    #expect(Self.fields.count > 300)
    for field in Self.fields {
      #expect(field.name.wholeMatch(of: /[a-z][a-z0-9]*(_[a-z0-9]+)*/) != nil, "\(field.place): \(field.name)")
    }
  }

  @Test("a time is ISO 8601 in a field that ends in _at, and no other field ends so")
  func times() {
    for field in Self.fields {
      let isTime = field.schema["format"]?.string == "date-time"
      if isTime { #expect(field.name.hasSuffix("_at"), "\(field.place): \(field.name)") }
      guard field.name.hasSuffix("_at") else { continue }
      // A sender may give a time with a zone's name, too.
      #expect(isTime || field.name == "send_at", "\(field.place): \(field.name)")
    }
    for name in Self.seconds {
      let fields = Self.fields.filter { $0.name == name }
      #expect(!fields.isEmpty && fields.allSatisfy { $0.place.hasPrefix("LiveActivity") }, "\(name)")
    }
  }

  @Test("a name has one type wherever it stands")
  func types() {
    for (name, fields) in Dictionary(grouping: Self.fields, by: \.name) {
      let types = Set(fields.compactMap { Self.type(of: $0.schema) })
      #expect((types.count > 1) == (Self.twofold[name] != nil), "\(name): \(types) in \(fields.map(\.place))")
    }
  }
}
