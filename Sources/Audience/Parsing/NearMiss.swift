import Domain

/// What people write who know another grammar, and what they mean.
enum NearMiss {
  /// Keys that other systems use for what ours ask.
  private static let otherNames: [String: AudienceField] = [
    "version": .appVersion, "appversion": .appVersion, "app-version": .appVersion, "last_seen": .seen,
    "last_seen_at": .seen,
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
      if word == "*" { return TermFault("`*` alone has no meaning", suggestion: Keyword.everyone) }
      let key = before.contains(":") ? before.prefix { $0 != ":" } : before[...]
      return TermFault(
        "`*` can replace only a whole value; put it in quotes if it is part of a tag",
        suggestion: key.isEmpty ? nil : "\(Shown.short(String(key))):*", offset: offset)
    case ",", ";":
      return TermFault(
        "`\(sign)` is not an operator: write `||` (any of them) or `&&` (all of them), or put a tag that has it in "
          + "quotes",
        suggestion: offset == 0 ? nil : "\(Shown.short(before)) ||", offset: offset)
    case "'", "`", "\u{2018}", "\u{2019}", "\u{201c}", "\u{201d}", "\u{201e}", "\u{ab}", "\u{bb}":
      let inner = text(scalars[...].filter { $0 != sign && Bare.isPlain($0) }[...])
      return TermFault(
        "`\(sign)` is not a quote: use straight double quotes",
        suggestion: inner.isEmpty ? nil : "\"\(Shown.short(inner))\"", offset: offset)
    default: break
    }
    if sign.properties.generalCategory == .format || sign.breaksLine || sign.properties.isWhitespace {
      return TermFault(
        "an invisible character (U+\(hex(sign))) is here: remove it, or put the tag in quotes", offset: offset)
    }
    return TermFault(
      "`\(sign)` needs quotes around it", suggestion: word.utf8.count <= 64 ? AudienceTerm.quoted(word) : nil,
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
        "write `:` between a key and its value",
        suggestion: signs.hasPrefix("!") ? "!\(field.rawValue):\(value)" : meant,
        offset: offset)
    }
    if signs.contains("<") || signs.contains(">") {
      return TermFault(
        "tags cannot be compared: only `\(AudienceField.appVersion.rawValue):` and `\(AudienceField.seen.rawValue):` "
          + "can",
        offset: offset)
    }
    guard !key.isEmpty, !value.isEmpty else {
      return TermFault("`\(Shown.short(word))` is not a tag: put it in quotes if a tag has this name", offset: offset)
    }
    return TermFault(
      "write `:` between a tag's key and its value, and `!` before the whole tag",
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
