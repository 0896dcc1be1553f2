/// The members of an object while it is being put together: order kept, no key twice.
extension [JSONMember] {
  package subscript(key: String) -> JSONValue? { first { $0.key == key }?.value }

  /// Sets a member in place or at the end; nil leaves everything as it is.
  package mutating func set(_ key: String, _ value: JSONValue?) {
    guard let value else { return }
    if let place = firstIndex(where: { $0.key == key }) {
      self[place].value = value
    } else {
      append(JSONMember(key, value))
    }
  }
  package mutating func set(_ key: String, _ text: String?) { set(key, text.map(JSONValue.string)) }
  package mutating func set(_ key: String, _ number: Int?) { set(key, number.map { .integer(Int64($0)) }) }
  /// Nothing is set when there are no members.
  package mutating func set(_ key: String, members: [JSONMember]) { if !members.isEmpty { set(key, .object(members)) } }
  /// Nothing is set when there are no items.
  package mutating func set(_ key: String, strings: [String]) {
    if !strings.isEmpty { set(key, .array(strings.map(JSONValue.string))) }
  }

  /// Lays `patch` over these members as RFC 7396 does: objects deeply, null removes, everything else replaces.
  package mutating func merge(_ patch: [JSONMember]) {
    for member in patch {
      switch member.value {
      case .null: removeAll { $0.key == member.key }
      case .object(let inner):
        var merged = self[member.key]?.object ?? []
        merged.merge(inner)
        set(member.key, .object(merged))
      default: set(member.key, member.value)
      }
    }
  }
}
