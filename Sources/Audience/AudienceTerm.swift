/// What one term asks of a device.
package enum AudienceTerm: Sendable {
  case tag(String)
  /// `key:*`. Holds what the tags begin with, the colon included.
  case tagPrefix(String)
  case provider(String)
  /// Small letters.
  case platform(String)
  /// A language tag in small letters: `de` is also what `de-at` speaks.
  case language(String)
  case zone(String)
  case appVersion(Comparison, Version)
  /// Whole days since the device was last seen, or registered if it was never seen.
  case seen(Recency, days: Int)
  /// What the device's notifications may do.
  case permission(String)
  /// The Live Activity that the device shows.
  case activity(String)
  /// `lang:*`: the device has told this fact.
  case present(AudienceField)
  /// A named audience. Gone after `resolving`.
  case audience(String)

  /// How `app_version` is compared; the raw values are the grammar's signs.
  package enum Comparison: String, Hashable, Sendable, CaseIterable {
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    /// The same version: 2.1 is also 2.1.0.
    case equal = "="
    /// The same text.
    case exact = ""
  }

  /// On which side of a number of days `seen` lies; the raw values are the grammar's signs.
  package enum Recency: String, Hashable, Sendable, CaseIterable {
    case within = "<"
    case olderThan = ">"
  }
}

/// The facts of a device that terms ask for; the raw values are the grammar's keys, but for tags.
package enum AudienceField: String, Hashable, Sendable, CaseIterable {
  case tag
  case provider
  case platform
  case language = "lang"
  case zone = "tz"
  case appVersion = "app_version"
  case seen
  case permission = "auth"
  case activity
}

/// Terms are the same if their canonical texts are, byte by byte: two spellings of `é` are two tags.
extension AudienceTerm: Hashable {
  package static func == (left: Self, right: Self) -> Bool { left.canonical.utf8.elementsEqual(right.canonical.utf8) }
  package func hash(into hasher: inout Hasher) { hasher.combine(canonical) }
}

/// What a store of sets by field and value needs to find the devices of a term.
extension AudienceTerm {
  /// The fact that decides; nil for a named audience.
  package var field: AudienceField? {
    switch self {
    case .tag, .tagPrefix: .tag
    case .provider: .provider
    case .platform: .platform
    case .language: .language
    case .zone: .zone
    case .appVersion: .appVersion
    case .seen: .seen
    case .permission: .permission
    case .activity: .activity
    case .present(let field): field
    case .audience: nil
    }
  }

  /// The single value that matches; nil where several may: then all values are asked that begin with `valuePrefix`.
  package var soleValue: String? {
    switch self {
    case .tag(let value), .provider(let value), .platform(let value), .zone(let value), .permission(let value),
      .activity(let value):
      value
    case .appVersion(.exact, let version): version.text
    case .tagPrefix, .language, .appVersion, .seen, .present, .audience: nil
    }
  }

  /// How every value begins that matches.
  package var valuePrefix: String {
    switch self {
    case .tagPrefix(let prefix): prefix
    case .language(let language): language
    default: soleValue ?? ""
    }
  }

  /// True if a device whose fact has this value is meant. Languages are compared in small letters. Never true of `seen`,
  /// which needs the day, and of a named audience.
  package func matches(_ value: String) -> Bool {
    switch self {
    case .tag(let own), .provider(let own), .platform(let own), .zone(let own), .permission(let own),
      .activity(let own):
      same(value, own)
    case .tagPrefix(let prefix): value.utf8.starts(with: prefix.utf8)
    case .language(let language):
      value.utf8.starts(with: language.utf8)
        && (value.utf8.count == language.utf8.count
          || value.utf8.dropFirst(language.utf8.count).first == UInt8(ascii: "-"))
    case .appVersion(.exact, let version): same(value, version.text)
    case .appVersion(let comparison, let version): comparison.holds(Version(value).order(to: version))
    case .present: true
    case .seen, .audience: false
    }
  }

  /// `seen` of a device that was seen on that day; days are counted since 1970.
  package func matches(day: Int, today: Int) -> Bool {
    switch self {
    case .seen(.within, let days): today - day < days
    case .seen(.olderThan, let days): today - day > days
    default: false
    }
  }

  private func same(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}

extension AudienceTerm.Comparison {
  /// Whether it holds between two things that stand in this order; nothing holds between what has none.
  func holds(_ order: Version.Order?) -> Bool {
    guard let order else { return false }
    return switch self {
    case .less: order == .before
    case .lessOrEqual: order != .after
    case .greater: order == .after
    case .greaterOrEqual: order != .before
    case .equal, .exact: order == .same
    }
  }
}
