import Domain

/// The values of the keys that ask for facts of the device.
extension TermReading {
  private static let longestActivity = 256
  private static let longestSpan = 36_500

  func value(_ value: String, of field: AudienceField, offset: Int) throws(TermFault) -> AudienceTerm {
    if value == "*" { return try anyValue(of: field) }
    switch field {
    case .provider: return .provider(try provider(value, offset))
    case .platform: return .platform(try platform(value, offset))
    case .language: return .language(try language(value, offset))
    case .zone: return .zone(try zone(value, offset))
    case .appVersion: return try version(value, offset)
    case .seen: return try seen(value, offset)
    case .permission: return .permission(try permission(value, offset))
    case .activity:
      try refuseSigns(value)
      return try activity(value, offset: offset)
    case .tag: preconditionFailure("tags have no key of their own")
    }
  }

  private func anyValue(of field: AudienceField) throws(TermFault) -> AudienceTerm {
    guard field != .provider, field != .seen else {
      throw TermFault("this matches every device", suggestion: Keyword.everyone)
    }
    guard field != .activity else { throw TermFault("name the activity") }
    return .present(field)
  }

  func activity(_ name: String, offset: Int) throws(TermFault) -> AudienceTerm {
    guard (1...Self.longestActivity).contains(name.utf8.count), !name.unicodeScalars.contains(where: \.breaksLine)
    else {
      throw TermFault(
        "an activity's name has 1…\(Self.longestActivity) bytes and no control characters", offset: offset)
    }
    return .activity(name)
  }

  private func permission(_ value: String, _ offset: Int) throws(TermFault) -> String {
    let names = Permission.allCases.map(\.rawValue)
    guard names.contains(value) else {
      let near = suggestions.nearest(to: value.lowercased(), among: names)
        .map { "\(AudienceField.permission.rawValue):\($0)" }
      throw TermFault(
        "`\(Shown.short(value))` is not one of \(names.joined(separator: ", "))", suggestion: near, offset: offset)
    }
    return value
  }

  private func provider(_ value: String, _ offset: Int) throws(TermFault) -> String {
    let name = value.lowercased()
    guard let providers else {
      guard Self.isWord(name) else { throw TermFault("`\(Shown.short(value))` is not a provider", offset: offset) }
      return name
    }
    let names = providers.map(\.rawValue)
    guard names.contains(name) else {
      let near = suggestions.nearest(to: name, among: names).map { "\(AudienceField.provider.rawValue):\($0)" }
      let list = near == nil ? ": the providers are \(names.joined(separator: ", "))" : ""
      throw TermFault("`\(Shown.short(value))` is not a provider\(list)", suggestion: near, offset: offset)
    }
    return name
  }

  private func platform(_ value: String, _ offset: Int) throws(TermFault) -> String {
    let name = value.lowercased()
    guard Self.isWord(name) else {
      throw TermFault("a platform is one word of letters, digits and `_`, such as ios or android", offset: offset)
    }
    return name
  }

  private func language(_ value: String, _ offset: Int) throws(TermFault) -> String {
    guard LanguageTag.isPlausible(value) else {
      let dashed = String(value.map { $0 == "_" ? "-" : $0 })
      let near = LanguageTag.isPlausible(dashed) ? "\(AudienceField.language.rawValue):\(dashed.lowercased())" : nil
      throw TermFault(
        "`\(Shown.short(value))` is not a language tag (BCP 47) such as de or pt-BR", suggestion: near, offset: offset)
    }
    return value.lowercased()
  }

  private func zone(_ value: String, _ offset: Int) throws(TermFault) -> String {
    guard ZoneName.exists(value) else {
      let found = suggestions.spend() ? ZoneName.nearest(to: value) : nil
      let near = found.map { "\(AudienceField.zone.rawValue):\($0)" }
      throw TermFault(
        "`\(Shown.short(value))` is not an IANA zone such as Europe/Vienna", suggestion: near, offset: offset)
    }
    return value
  }

  private func version(_ value: String, _ offset: Int) throws(TermFault) -> AudienceTerm {
    let sign = value.prefix { "<>=".contains($0) }
    let text = String(value.dropFirst(sign.count))
    let field = AudienceField.appVersion.rawValue
    guard let comparison = AudienceTerm.Comparison(rawValue: String(sign)) else {
      let meant = sign.first == "=" ? sign.contains(">") ? ">=" : sign.contains("<") ? "<=" : "=" : "\(sign.prefix(1))="
      throw TermFault(
        "compare versions with <, <=, >, >= or =", suggestion: "\(field):\(meant)\(Shown.short(text))",
        offset: offset)
    }
    guard Bare.isVersion(text), text.utf8.count <= Tag.maximumBytes else {
      throw TermFault(
        "a version such as 2.1 is missing after `\(field):\(sign)`; characters other than letters, digits, `.`, `-` "
          + "and `+` need quotes",
        offset: offset + sign.count)
    }
    let version = Version(text)
    guard comparison == .exact || version.isComparable else {
      throw TermFault(
        "`\(Shown.short(text))` does not begin with a number, so it has no order: compare with a version such as 2.1",
        offset: offset + sign.count)
    }
    return .appVersion(comparison, version)
  }

  /// `<30d` or `>30d`.
  private func seen(_ value: String, _ offset: Int) throws(TermFault) -> AudienceTerm {
    let sign = value.prefix { "<>=".contains($0) }
    let span = value.dropFirst(sign.count)
    let digits = span.prefix { $0.isASCII && $0.isNumber }
    let unit = span.dropFirst(digits.count).lowercased()
    let field = AudienceField.seen.rawValue
    guard let number = Whole.read(digits, in: 0...Self.longestSpan), number > 0 || sign == ">" else {
      let example = "\(field):<30d (seen in the last 30 days) or \(field):>30d"
      throw TermFault(
        digits.isEmpty
          ? "`\(field):` takes a number of days: \(example)"
          : "`\(field):` takes 1…\(Self.longestSpan) days: \(example)",
        offset: offset)
    }
    let recency = AudienceTerm.Recency(rawValue: String(sign))
    if let recency, unit == "d" { return .seen(recency, days: number) }
    let days =
      switch unit {
      case "w", "weeks": number * 7
      case "h", "hours": (number + 23) / 24
      case "m", "months": number * 30
      case "y", "years": number * 365
      default: number
      }
    let meant = recency?.rawValue ?? (sign.contains(">") ? ">" : "<")
    throw TermFault(
      recency == nil
        ? "`\(field):` needs `<` (seen since) or `>` (not seen since)" : "`\(field):` counts whole days, written `d`",
      suggestion: "\(field):\(meant)\(days)d", offset: offset)
  }

  private static func isWord(_ text: String) -> Bool {
    (1...32).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy { character in
        switch character {
        case "a"..."z", "0"..."9", "_": true
        default: false
        }
      }
  }
}
