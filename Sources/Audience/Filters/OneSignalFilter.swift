import Domain

/// OneSignal's `filters` (sheet section 2.2), as far as tags and facts of devices have a counterpart.
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

  /// One entry of the array. Two are the same if they are byte by byte: of two spellings of `é`, neither stands for the
  /// other.
  struct Entry: Equatable {
    var field: Field
    /// Of a tag.
    var key: String?
    var relation: String
    /// `hours_ago` of a session.
    var value: String?

    init(_ field: Field, key: String? = nil, _ relation: String, _ value: String? = nil) {
      self.field = field
      self.key = key
      self.relation = relation
      self.value = value
    }

    static func == (left: Self, right: Self) -> Bool {
      left.field == right.field && left.relation == right.relation && same(left.key, right.key)
        && same(left.value, right.value)
    }

    private static func same(_ left: String?, _ right: String?) -> Bool {
      guard let left, let right else { return left == nil && right == nil }
      return left.utf8.elementsEqual(right.utf8)
    }

    var json: JSONValue {
      var members = [JSONMember("field", .string(field.rawValue))]
      members.set("key", key)
      members.set("relation", relation)
      members.set(field == .lastSession ? "hours_ago" : "value", value)
      return .object(members)
    }
  }

  static let or = JSONValue.object([JSONMember("operator", .string("OR"))])
}
