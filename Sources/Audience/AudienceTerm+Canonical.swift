extension AudienceTerm {
  /// The term as the grammar writes it; quoted only where it must be.
  package var canonical: String {
    switch self {
    case .tag(let tag): Bare.isTag(tag) ? tag : Self.quoted(tag)
    case .tagPrefix(let prefix):
      Bare.isTag(prefix + "x") ? prefix + "*" : Self.quoted(String(prefix.unicodeScalars.dropLast())) + ":*"
    case .provider(let name): Self.pair(.provider, name)
    case .platform(let name): Self.pair(.platform, name)
    case .language(let language): Self.pair(.language, language)
    case .zone(let zone): Self.pair(.zone, zone)
    case .appVersion(let comparison, let version):
      Self.pair(
        .appVersion,
        Bare.isVersion(version.text) ? comparison.rawValue + version.text : Self.quoted(version.text))
    case .seen(let recency, let days): Self.pair(.seen, "\(recency.rawValue)\(days)d")
    case .permission(let name): Self.pair(.permission, name)
    case .activity(let name): Self.pair(.activity, Bare.isValue(name) ? name : Self.quoted(name))
    case .present(let field): Self.pair(field, "*")
    case .audience(let name): "\(Key.audience):\(name)"
    }
  }

  private static func pair(_ field: AudienceField, _ value: String) -> String { "\(field.rawValue):\(value)" }

  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for character in text.unicodeScalars {
      if character == "\"" || character == "\\" { quoted.unicodeScalars.append("\\") }
      quoted.unicodeScalars.append(character)
    }
    return quoted + "\""
  }
}

/// The keys that ask for something else than a tag.
enum Key {
  static let audience = "audience"
  static let all = AudienceField.allCases.filter { $0 != .tag }.map(\.rawValue) + [audience]
}

/// What may stand in an expression without quotes.
enum Bare {
  /// Letters, marks, digits and symbols of every script, and of ASCII's signs those that mean nothing here.
  static func isPlain(_ character: Unicode.Scalar) -> Bool {
    guard !character.isASCII else {
      return switch character {
      case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", "/", "+", "@", "#", "$", "%", "~", ":": true
      default: false
      }
    }
    return switch character.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber, .mathSymbol, .currencySymbol,
      .otherSymbol:
      true
    default: false
    }
  }

  /// True if the tag reads as itself: no keyword, no key of ours, no sign of the grammar.
  static func isTag(_ tag: String) -> Bool {
    guard tag.unicodeScalars.allSatisfy(isPlain), tag.utf8.first != UInt8(ascii: ":") else { return false }
    guard tag.utf8.last != UInt8(ascii: ":"), !Keyword.all.contains(tag.lowercased()) else { return false }
    guard let colon = tag.utf8.firstIndex(of: UInt8(ascii: ":")) else { return true }
    return !Key.all.contains(tag[..<colon].lowercased())
  }

  /// True if it reads as itself behind a key and its colon.
  static func isValue(_ text: String) -> Bool { !text.isEmpty && text.unicodeScalars.allSatisfy(isPlain) }

  static func isVersion(_ text: String) -> Bool {
    !text.isEmpty && text.unicodeScalars.allSatisfy { $0.isASCII && isPlain($0) }
  }
}
