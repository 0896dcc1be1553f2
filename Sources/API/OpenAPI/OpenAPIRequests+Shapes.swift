import Audience
import Domain
import Intake

/// What the schemas of requests are put together from.
extension OpenAPIRequests {
  static func closed(_ required: [String], _ properties: [(String, JSONValue)]) -> JSONValue {
    var members: [(String, JSONValue)] = [("type", "object"), ("additionalProperties", .bool(false))]
    if !required.isEmpty { members.append(("required", .array(required.map { .string($0) }))) }
    members.append(("properties", .make(properties)))
    return .make(members)
  }
  /// One of these members at least.
  static func closed(anyOf members: [String], _ properties: [(String, JSONValue)]) -> JSONValue {
    let choices = members.map { JSONValue.make([("required", .array([.string($0)]))]) }
    return .object((closed([], properties).object ?? []) + [JSONMember("anyOf", .array(choices))])
  }
  static func text(_ maximum: Int? = nil, pattern: String? = nil, _ note: String? = nil) -> JSONValue {
    var members: [(String, JSONValue)] = [("type", "string")]
    if let maximum { members.append(("maxLength", .integer(Int64(maximum)))) }
    if let pattern { members.append(("pattern", .string(pattern))) }
    if let note { members.append(("description", .string(note))) }
    return .make(members)
  }
  static func whole(_ range: ClosedRange<Int64>, _ note: String? = nil) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("type", "integer"), ("minimum", .integer(range.lowerBound)), ("maximum", .integer(range.upperBound)),
    ]
    if let note { members.append(("description", .string(note))) }
    return .make(members)
  }
  static let share: JSONValue = .make([
    ("type", "number"), ("minimum", .integer(0)), ("maximum", .integer(1)),
  ])
  static func percent(_ note: String) -> JSONValue {
    .make([
      ("type", "number"), ("minimum", .double(0.01)), ("maximum", .integer(100)), ("multipleOf", .double(0.01)),
      ("description", .string("In percent. " + note)),
    ])
  }
  static func flag(_ note: String? = nil) -> JSONValue {
    .make([("type", "boolean")] + (note.map { [("description", .string($0))] } ?? []))
  }
  static func time(_ note: String? = nil) -> JSONValue {
    .make([("type", "string"), ("format", "date-time")] + (note.map { [("description", .string($0))] } ?? []))
  }
  static func free(_ note: String = "", _ freedom: Freedom = .payload) -> JSONValue {
    let bounds = "At most \(freedom.bytes) bytes, nested at most \(Freedom.depth) deep."
    let text: JSONValue = .string(note.isEmpty ? bounds : "\(note) \(bounds)")
    return .make([("type", "object"), ("maxProperties", .integer(Int64(Freedom.members))), ("description", text)])
  }
  /// Of an object that is described elsewhere.
  static func part(_ note: String) -> JSONValue {
    .make([("type", "object"), ("description", .string(note))])
  }
  static func list(_ items: JSONValue, maximum: Int) -> JSONValue {
    .make([("type", "array"), ("items", items), ("maxItems", .integer(Int64(maximum)))])
  }
  static func words(_ words: [String]) -> JSONValue {
    .make([("type", "string"), ("enum", .array(words.map { .string($0) }))])
  }
  static func choice<Choice: RawRepresentable & CaseIterable>(_: Choice.Type) -> JSONValue
  where Choice.RawValue == String {
    .make([("type", "string"), ("enum", .array(Choice.allCases.map { .string($0.rawValue) }))])
  }
  static let link = text(
    2_048, pattern: "^[A-Za-z][A-Za-z0-9+.-]*:", "Any scheme except javascript, data and file.")
  static let https = text(2_048, pattern: "^[hH][tT][tT][pP][sS]://")
  static let deviceID = text(128, pattern: "^[!-.0-~]+$")
}
