package import Domain

/// Groups that OR parts; in each, all must hold. An empty group is everyone, an empty sum nobody.
private typealias Sum = [[OneSignalFilter.Entry]]

extension AudienceExpression {
  /// OneSignal's `filters` for this expression, or the term that they cannot express. They know no parentheses, so the
  /// expression is multiplied out. Empty: everyone.
  package func oneSignalFilters() throws(AudienceFault) -> [JSONValue] {
    let sum = try clauses(negated: false)
    guard !sum.contains(where: \.isEmpty) else { return [] }
    guard !sum.isEmpty else {
      throw AudienceFault(.whole, "the audience is empty, and OneSignal has no filter for nobody")
    }
    return Array(sum.map { $0.map(\.json) }.joined(separator: [OneSignalFilter.or]))
  }

  /// The expression, or its contrary, multiplied out.
  private func clauses(negated: Bool) throws(AudienceFault) -> Sum {
    switch self {
    case .everyone: return negated ? [] : [[]]
    case .not(let inner): return try inner.clauses(negated: !negated)
    case .term(let term): return try term.clauses(negated: negated)
    case .all(let members), .any(let members):
      let isSum = if case .any = self { !negated } else { negated }
      var result: Sum = isSum ? [] : [[]]
      for member in members {
        let other = try member.clauses(negated: negated)
        result = isSum ? result + other.filter { !result.contains($0) } : try product(result, other)
        try Self.check(result)
      }
      return result
    }
  }

  private static func check(_ sum: Sum) throws(AudienceFault) {
    guard sum.reduce(-1, { $0 + $1.count + 1 }) > OneSignalFilter.maximumEntries else { return }
    throw AudienceFault(
      .whole,
      "OneSignal's filters have no parentheses; expanded, the expression needs more than "
        + "\(OneSignalFilter.maximumEntries) filters: use fewer alternatives inside `&&`"
    )
  }

  private func product(_ left: Sum, _ right: Sum) throws(AudienceFault) -> Sum {
    var result: Sum = []
    for first in left {
      for second in right {
        let clause = first + second.filter { !first.contains($0) }
        if !result.contains(clause) { result.append(clause) }
      }
      // As soon as it is too much: a hostile expression would grow without bound.
      try Self.check(result)
    }
    return result
  }
}

extension AudienceTerm {
  /// The filters of one term or of its contrary.
  fileprivate func clauses(negated: Bool) throws(AudienceFault) -> Sum {
    func single(_ entry: OneSignalFilter.Entry) -> Sum { [[entry]] }
    func unknown(_ reason: String) -> AudienceFault { AudienceFault(.term(self), reason) }
    switch self {
    case .tag(let tag):
      guard let colon = tag.utf8.firstIndex(of: UInt8(ascii: ":")) else {
        return single(OneSignalFilter.Entry(.tag, key: tag, negated ? "not_exists" : "exists"))
      }
      let key = String(tag[..<colon])
      let value = String(tag[tag.utf8.index(after: colon)...])
      guard !key.isEmpty, !value.isEmpty else { throw unknown("a OneSignal tag has a key and a value") }
      return single(OneSignalFilter.Entry(.tag, key: key, negated ? "!=" : "=", value))
    case .tagPrefix(let prefix):
      let key = String(prefix.unicodeScalars.dropLast())
      guard !key.utf8.contains(UInt8(ascii: ":")) else {
        throw unknown("OneSignal cannot filter tags by the beginning of their value")
      }
      return single(OneSignalFilter.Entry(.tag, key: key, negated ? "not_exists" : "exists"))
    case .language(let language):
      let theirs = ["zh-hans": "zh-Hans", "zh-hant": "zh-Hant"][language] ?? language
      guard theirs != language || !language.utf8.contains(UInt8(ascii: "-")) else {
        throw unknown("OneSignal knows languages only without regions")
      }
      return single(OneSignalFilter.Entry(.language, negated ? "!=" : "=", theirs))
    case .appVersion(let comparison, let version): return Self.version(comparison, version, negated: negated)
    case .seen(let recency, let days):
      let within = (recency == .within) != negated
      return single(OneSignalFilter.Entry(.lastSession, within ? "<" : ">", String(days * 24)))
    case .provider, .platform, .zone, .permission, .activity:
      throw unknown("OneSignal has no filter for this")
    case .present: throw unknown("OneSignal has no filter for devices that have any value of this")
    case .audience: throw unknown("a named audience must be expanded first")
    }
  }

  private static func version(_ comparison: Comparison, _ version: Version, negated: Bool) -> Sum {
    func filter(_ relation: String) -> [OneSignalFilter.Entry] {
      [OneSignalFilter.Entry(.appVersion, relation, version.text)]
    }
    return switch (comparison, negated) {
    case (.equal, false), (.exact, false): [filter("=")]
    case (.equal, true), (.exact, true): [filter("!=")]
    case (.less, false), (.greaterOrEqual, true): [filter("<")]
    case (.greater, false), (.lessOrEqual, true): [filter(">")]
    case (.lessOrEqual, false), (.greater, true): [filter("<"), filter("=")]
    case (.greaterOrEqual, false), (.less, true): [filter(">"), filter("=")]
    }
  }
}
