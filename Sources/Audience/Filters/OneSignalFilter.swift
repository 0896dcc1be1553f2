import Domain

/// OneSignal's `filters` (protocols/onesignal.md section 2.2), as far as tags and facts of devices have a counterpart.
enum OneSignalFilter {
  static let maximumEntries = 200
  static let maximumList = 20

  enum Field: String, CaseIterable {
    case tag
    case language
    case appVersion = "app_version"
    case lastSession = "last_session"

    var relations: [String] {
      switch self {
      case .tag: ["=", "!=", "exists", "not_exists", "in_array", "not_in_array"]
      case .language: ["=", "!="]
      case .appVersion: ["=", "!=", ">", "<"]
      case .lastSession: [">", "<"]
      }
    }
    var members: [String] {
      switch self {
      case .tag: ["field", "key", "relation", "value"]
      case .language, .appVersion: ["field", "relation", "value"]
      case .lastSession: ["field", "relation", "hours_ago"]
      }
    }
  }

  /// What OneSignal counts itself.
  static let onlyTheirs: Set<String> = [
    "first_session", "session_count", "session_time", "location", "country", "amount_spent", "bought_sku", "email",
  ]

  /// One entry of the array.
  struct Entry: Equatable {
    var field: Field
    /// Of a tag.
    var key: ExactText?
    var relation: String
    /// `hours_ago` of a session.
    var value: ExactText?

    init(_ field: Field, key: String? = nil, _ relation: String, _ value: String? = nil) {
      self.field = field
      self.key = key.map(ExactText.init)
      self.relation = relation
      self.value = value.map(ExactText.init)
    }

    var json: JSONValue {
      var members = [JSONMember("field", .string(field.rawValue))]
      members.set("key", key?.text)
      members.set("relation", relation)
      members.set(field == .lastSession ? "hours_ago" : "value", value?.text)
      return .object(members)
    }
  }

  static let or = JSONValue.object([JSONMember("operator", .string("OR"))])
}
