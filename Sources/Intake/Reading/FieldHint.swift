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
    "replicas": "such as 1", "volume": "such as 0.8", "relevance_score": "such as 0.8",
  ]
  /// Values as JSON writes them.
  private static let examples = [
    "send_at": #""2026-12-01T09:00:00Z""#, "send_at_local": #""2026-12-01T09:00:00""#,
    "last_seen_at": #""2026-12-01T09:00:00Z""#, "registered_at": #""2026-12-01T09:00:00Z""#,
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

  /// What a text is to look like that was given as another value.
  static func asText(_ value: JSONValue) -> String {
    switch value {
    case .integer, .unsigned, .double: ": write \"\(String(decoding: value.encoded, as: UTF8.self))\""
    case .null, .bool, .string, .array, .object: ""
    }
  }
}
