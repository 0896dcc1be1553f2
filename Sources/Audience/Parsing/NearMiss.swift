import Domain

/// What people write who know another grammar, and what they mean.
enum NearMiss {
  /// Keys that other systems use for what ours ask.
  private static let otherNames: [String: AudienceField] = [
    "version": .appVersion, "appversion": .appVersion, "app-version": .appVersion, "last_seen": .seen,
    "lastseen": .seen, "last-seen": .seen, "last_session": .seen, "active": .seen,
  ]

  /// The fault of a word that holds a sign which must be quoted; nil if all of it may stand bare.
  static func fault(in word: String) -> TermFault? {
    let scalars = Array(word.unicodeScalars)
    guard let offset = scalars.firstIndex(where: { !Bare.isPlain($0) }) else { return nil }
    let before = text(scalars[..<offset])
    let sign = scalars[offset]
    switch sign {
    case "=", "!", "<", ">": return compared(before, text(scalars[offset...]), offset, word)
    case "*":
      if word == "*" { return TermFault("`*` alone means nothing", suggestion: Keyword.everyone) }
      let key = before.contains(":") ? before.prefix { $0 != ":" } : before[...]
      return TermFault(
        "`*` stands only for a whole value, and in quotes if a tag holds it",
        suggestion: key.isEmpty ? nil : "\(Shown.short(String(key))):*", offset: offset)
    case ",", ";":
      return TermFault(
        "`\(sign)` joins nothing: write `||` (one of them) or `&&` (all of them), or put a tag that holds it in quotes",
        suggestion: offset == 0 ? nil : "\(Shown.short(before)) ||", offset: offset)
    case "'", "`", "\u{2018}", "\u{2019}", "\u{201c}", "\u{201d}", "\u{201e}", "\u{ab}", "\u{bb}":
      let inner = text(scalars[...].filter { $0 != sign && Bare.isPlain($0) }[...])
      return TermFault(
        "`\(sign)` is no quote here: quotes are straight and double",
        suggestion: inner.isEmpty ? nil : "\"\(Shown.short(inner))\"", offset: offset)
    default: break
    }
    if sign.properties.generalCategory == .format || sign.breaksLine || sign.properties.isWhitespace {
      return TermFault(
        "an invisible character (U+\(hex(sign))) stands here: remove it, or put the tag in quotes", offset: offset)
    }
    return TermFault(
      "`\(sign)` stands only in quotes", suggestion: word.utf8.count <= 64 ? AudienceTerm.quoted(word) : nil,
      offset: offset)
  }

  /// `plan=pro`, `plan!=pro`, `version>=2`, `last_seen:<30d`.
  private static func compared(_ before: String, _ rest: String, _ offset: Int, _ word: String) -> TermFault {
    let signs = String(rest.prefix { "=!<>".contains($0) })
    let value = Shown.short(String(rest.dropFirst(signs.count)))
    let key = Shown.short(before.hasSuffix(":") ? String(before.dropLast()) : before)
    if let field = otherNames[key.lowercased()] ?? AudienceField(rawValue: key), field != .tag {
      let plain = signs == "=" || signs == "=="
      let sign = field == .seen ? signs.contains(">") ? ">" : "<" : plain ? "" : signs
      let shape = field == .seen ? value.prefix { $0.isNumber } + "d" : value[...]
      let isOurs = field == .seen || field == .appVersion
      let meant = isOurs ? "\(field.rawValue):\(sign)\(shape)" : "\(field.rawValue):\(value)"
      return TermFault(
        "a value follows its key behind `:`", suggestion: signs.hasPrefix("!") ? "!\(field.rawValue):\(value)" : meant,
        offset: offset)
    }
    if signs.contains("<") || signs.contains(">") {
      return TermFault(
        "tags are not compared: only `\(AudienceField.appVersion.rawValue):` and `\(AudienceField.seen.rawValue):` are",
        offset: offset)
    }
    guard !key.isEmpty, !value.isEmpty else {
      return TermFault("`\(Shown.short(word))` is no tag: put it in quotes if it is called so", offset: offset)
    }
    return TermFault(
      "a tag's value follows its key behind `:`, and `!` stands before the whole",
      suggestion: "\(signs.hasPrefix("!") ? "!" : "")\(key):\(value)", offset: offset)
  }

  private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    String(String.UnicodeScalarView(scalars))
  }

  private static func hex(_ character: Unicode.Scalar) -> String {
    let digits = String(character.value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

/// Parts of an expression in a sentence about it.
enum Shown {
  private static let longest = 40

  static func short(_ text: String) -> String {
    text.unicodeScalars.count <= longest
      ? text : String(String.UnicodeScalarView(text.unicodeScalars.prefix(longest))) + "…"
  }
}
