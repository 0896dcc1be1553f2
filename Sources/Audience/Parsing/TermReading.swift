import Domain

/// What is wrong with one term, and how many scalars behind its beginning.
struct TermFault: Error {
  var detail: String
  var suggestion: String?
  var offset = 0

  init(_ detail: String, suggestion: String? = nil, offset: Int = 0) {
    self.detail = detail
    self.suggestion = suggestion
    self.offset = offset
  }
}

/// Makes a term of a word or of quoted text.
struct TermReading {
  /// The names that exist; nil where any will do.
  let providers: [ProviderName]?
  let suggestions: SuggestionBudget

  func term(_ kind: Token.Kind) throws(TermFault) -> AudienceExpression {
    switch kind {
    case .quoted(let text, star: false): return .term(.tag(try tag(text)))
    case .quoted(let text, star: true):
      _ = try tag(text)
      return .term(.tagPrefix(text + ":"))
    case .word(let word, quoted: let value?): return .term(try quotedValue(word, value))
    case .word(let word, quoted: nil): return try bare(word)
    case .open, .close, .and, .or, .not, .end: preconditionFailure("a term is a word or quoted text")
    }
  }

  private func tag(_ text: String) throws(TermFault) -> String {
    if let fault = Tag.fault(in: text) { throw TermFault("this tag \(fault)") }
    return text
  }

  /// `key:"value"`
  private func quotedValue(_ word: String, _ value: String) throws(TermFault) -> AudienceTerm {
    let key = String(word.unicodeScalars.dropLast())
    switch try builtIn(key) {
    case nil:
      try refuseSigns(word)
      return .tag(try tag(word + value))
    case .field(.appVersion):
      if let fault = Tag.fault(in: value) { throw TermFault("this version \(fault)") }
      return .appVersion(.exact, Version(value))
    // Whatever it holds is its name.
    case .field(.activity): return try activity(value, offset: word.unicodeScalars.count + 1)
    case .field(let field): return try self.value(value, of: field, offset: word.unicodeScalars.count + 1)
    case .audience: return .audience(try audienceName(value))
    }
  }

  private func bare(_ word: String) throws(TermFault) -> AudienceExpression {
    if word == Keyword.everyone { return .everyone }
    guard let colon = word.unicodeScalars.firstIndex(of: ":") else {
      try refuseSigns(word)
      return .term(.tag(try tag(word)))
    }
    let key = String(word.unicodeScalars[..<colon])
    let value = String(word.unicodeScalars[word.unicodeScalars.index(after: colon)...])
    guard !key.isEmpty else { throw TermFault("a key is missing before `:`") }
    guard let known = try builtIn(key) else { return .term(try plain(word)) }
    guard !value.isEmpty else { throw TermFault("a value is missing after `\(word)`; write it without a space") }
    switch known {
    case .audience: return .term(.audience(try audienceName(value)))
    case .field(let field): return .term(try self.value(value, of: field, offset: key.unicodeScalars.count + 1))
    }
  }

  /// A tag with a colon, or `key:*`.
  private func plain(_ word: String) throws(TermFault) -> AudienceTerm {
    if word.hasSuffix(":*") {
      let prefix = String(word.unicodeScalars.dropLast())
      try refuseSigns(prefix)
      _ = try tag(String(prefix.unicodeScalars.dropLast()))
      return .tagPrefix(prefix)
    }
    guard !word.hasSuffix(":") else {
      throw TermFault(
        "a value is missing after `\(Shown.short(word))`; write it without a space", suggestion: Shown.short(word) + "*"
      )
    }
    try refuseSigns(word)
    return .tag(try tag(word))
  }

  private enum BuiltIn {
    case field(AudienceField)
    case audience
  }

  private func builtIn(_ key: String) throws(TermFault) -> BuiltIn? {
    if key == Key.audience { return .audience }
    if let field = AudienceField(rawValue: key), field != .tag { return .field(field) }
    let small = key.lowercased()
    if Key.all.contains(small) {
      throw TermFault(
        "write `\(small):` in lower case; put a tag that begins with it in quotes", suggestion: small + ":")
    }
    return nil
  }

  private func audienceName(_ name: String) throws(TermFault) -> String {
    guard AudienceName.isWellFormed(name) else { throw TermFault("`\(Shown.short(name))` \(AudienceName.rule)") }
    return name
  }

  /// Signs of a grammar that is not ours.
  func refuseSigns(_ word: String) throws(TermFault) {
    guard let fault = NearMiss.fault(in: word) else { return }
    throw fault
  }
}
