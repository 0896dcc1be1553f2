/// The members of an object while it is being put together: order kept, no key twice.
extension [JSONMember] {
  /// The first of that key; looks at one after the other.
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
  /// Nil leaves everything as it is.
  package mutating func set(_ key: String, _ text: String?) { set(key, text.map(JSONValue.string)) }
  /// Nil leaves everything as it is.
  package mutating func set(_ key: String, _ number: Int?) { set(key, number.map { .integer(Int64($0)) }) }
  /// Nothing is set when there are no members.
  package mutating func set(_ key: String, members: [JSONMember]) { if !members.isEmpty { set(key, .object(members)) } }
  /// Nothing is set when there are no items.
  package mutating func set(_ key: String, strings: [String]) {
    if !strings.isEmpty { set(key, .array(strings.map(JSONValue.string))) }
  }

  /// Sets these members one after the other; the time grows with their number, not with its square.
  package mutating func set(_ members: [JSONMember]) {
    var places = MemberPlaces(of: self, asked: members.count)
    for member in members { put(member, &places) }
  }

  /// Lays `patch` over these members as RFC 7396 does: objects deeply, null removes, everything else replaces. The time
  /// grows with the number of members of both.
  package mutating func merge(_ patch: [JSONMember]) {
    var places = MemberPlaces(of: self, asked: patch.count)
    var removed: Set<Int> = []
    for member in patch {
      switch member.value {
      case .null: if let place = places[member.key, in: self] { removed.insert(place) }
      case .object(let inner):
        var merged = places[member.key, in: self].flatMap { self[$0].value.object } ?? []
        merged.merge(inner)
        put(JSONMember(member.key, .object(merged)), &places)
      default: put(member, &places)
      }
    }
    guard !removed.isEmpty else { return }
    self = enumerated().filter { !removed.contains($0.offset) }.map(\.element)
  }

  private mutating func put(_ member: JSONMember, _ places: inout MemberPlaces) {
    if let place = places[member.key, in: self] {
      self[place].value = member.value
    } else {
      places.appended(member.key, at: count)
      append(member)
    }
  }
}

/// Where the members of an object stand while many are set. A few are compared one by one, which beats hashing them.
private struct MemberPlaces {
  private static let comparisons = 256
  private var known: [String: Int]?

  init(of members: [JSONMember], asked: Int) {
    guard asked > 1, (members.count + asked) > Self.comparisons / asked else { return }
    var known: [String: Int] = [:]
    known.reserveCapacity(members.count + asked)
    for (place, member) in members.enumerated() { known[member.key] = place }
    self.known = known
  }

  subscript(key: String, in members: [JSONMember]) -> Int? {
    known.map { $0[key] } ?? members.firstIndex { $0.key == key }
  }
  mutating func appended(_ key: String, at place: Int) { known?[key] = place }
}
