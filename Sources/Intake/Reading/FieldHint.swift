import Domain
import JSON

/// What somebody needs to know who has written a field in a wrong way: its unit, and how it is written.
enum FieldHint {
  /// Units of numbers, with an example. They stand behind the range.
  private static let units = [
    "ttl": "in seconds: 86400 is a day", "rate_per_second": "in deliveries per second: 5000", "badge": "such as 1",
    "timestamp": "in seconds since 1970", "stale_date": "in seconds since 1970",
    "dismissal_date": "in seconds since 1970", "holdout": "in percent: 10", "weight": "in percent: 45",
    "share": "as a part of 1: 0.5 is half of the deliveries", "minimum": "in outcomes: 500", "max": "in messages: 2",
    "replicas": "such as 1", "keep": "in seconds: 86400 is a day", "volume": "such as 0.8",
    "relevance_score": "such as 0.8",
  ]
  /// Values as JSON writes them.
  private static let examples = [
    "send_at": #""2026-12-01T09:00:00Z""#, "send_at_local": #""2026-12-01T09:00:00""#,
    "expires_at": #""2026-12-01T09:00:00Z""#, "last_seen_at": #""2026-12-01T09:00:00Z""#,
    "registered_at": #""2026-12-01T09:00:00Z""#,
    "tz": #""Europe/Vienna""#, "zone": #""Europe/Vienna""#, "language": #""de""#, "from": #""22:00""#,
    "to": #""08:00""#, "color": ##""#3366ff""##, "audience": #""plan:pro && lang:de""#,
    "sound": #""default", or { "name": "alarm.caf", "critical": true }"#,
  ]
  /// By the name of the schema.
  private static let objects = [
    "to": #"{ "users": ["4711"] }"#, "token": #"{ "provider": "fcm", "token": "…" }"#,
    "to.channel": #"{ "id": "…" }"#, "notification": #"{ "title": "Hello", "body": "World" }"#,
    "sound": #"{ "name": "default" }"#, "button": #"{ "id": "yes", "text": "Yes" }"#,
    "localized": #"{ "title": "Hallo" }"#,
    "live_activity": #"{ "event": "update", "content_state": { … } }"#,
    "file_provider": #"{ "container_identifier": "…" }"#, "mdm": #"{ "push_magic": "…" }"#,
    "quiet_hours": #"{ "from": "22:00", "to": "08:00" }"#, "cap": #"{ "max": 2, "per": "day" }"#,
    "variant": #"{ "name": "loud", "weight": 50, "notification": { … } }"#, "durability": #"{ "replicas": 1 }"#,
    "error_brake": #"{ "share": 0.5, "minimum": 500 }"#,
  ]

  /// ` (in seconds: 86400 is a day)`, or nothing.
  static func unit(of name: String) -> String { units[name].map { " (\($0))" } ?? "" }

  /// `, such as "2026-12-01T09:00:00Z"`, or nothing.
  static func example(of name: String) -> String { examples[name].map { ", such as \($0)" } ?? "" }

  /// `: { "provider": "fcm", "token": "…" }`, or nothing.
  static func object(_ schema: Schema) -> String { objects[schema.name].map { ": \($0)" } ?? "" }

  /// Of an object that has exactly one of its fields: which.
  static func ways(of schema: Schema) -> String {
    guard schema.name == Schema.recipients.name else { return "" }
    return " with one of " + schema.fields.map { "`\($0)`" }.joined(separator: ", ")
  }

  /// How an object is written that was given as another value, or else its fields.
  static func asObject(_ value: JSONValue, of schema: Schema) -> String {
    let everyone = ["everyone", "everybody", "all", "*"]
    if schema.name == Schema.recipients.name, case .string(let word) = value, everyone.contains(word.lowercased()) {
      return #": { "everyone": true }"#
    }
    let example = object(schema)
    return example.isEmpty ? "; it takes \(schema.fields.joined(separator: ", "))" : example
  }

  /// A value of the wrong type, with itself where that shows the fault: a number with a fraction, for one that is whole.
  static func shown(_ value: JSONValue) -> String {
    guard case .double = value else { return value.article }
    let text = String(decoding: value.encoded, as: UTF8.self)
    return text.utf8.count <= 24 ? text : value.article
  }

  /// How a number is written that was given as a text.
  static func asNumber(_ value: JSONValue) -> String {
    guard case .string(let text) = value, text.utf8.count <= 24, text.wholeMatch(of: /-?\d+(\.\d+)?/) != nil else {
      return ""
    }
    return ": write \(text) without quotes"
  }

  /// How true and false are written that were given as something else.
  static func asFlag(_ value: JSONValue) -> String {
    switch value {
    case .string("true"), .string("false"): ": write it without quotes"
    case .integer(0): ": write false"
    case .integer(1): ": write true"
    default: ""
    }
  }

  /// What a text is to look like that was given as another value.
  static func asText(_ value: JSONValue) -> String {
    switch value {
    case .integer, .unsigned, .double: ": write \"\(String(decoding: value.encoded, as: UTF8.self))\""
    case .null, .bool, .string, .array, .object: ""
    }
  }
}
