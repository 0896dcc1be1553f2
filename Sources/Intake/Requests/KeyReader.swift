package import Domain

/// What a request says of an API key. What it does not say is nil.
package struct KeyReading: Hashable, Sendable {
  package var name: String?
  /// Words that the caller knows.
  package var scopes: [String]?
  /// The outer nil: it does not say. The inner nil: the key does not end.
  package var expiresAt: WallTime??
  package var addresses: [AddressRange]?
}

/// Reads API keys.
package struct KeyReader {
  private let scopes: [String]
  private let now: WallTime

  /// `scopes`: the words that there are.
  package init(scopes: [String], now: WallTime) { (self.scopes, self.now) = (scopes, now) }

  package static let longestName = 128
  package static let mostAddresses = 64
  /// Seconds that a former secret may stay valid.
  package static let keep: ClosedRange<Int64> = 0...30 * 86_400

  /// The body of `POST /v1/keys`: a name and scopes at least.
  package func newKey(from document: JSONValue) throws(Refusal) -> KeyReading {
    try read(document, of: .newKey) { fields, findings in
      for name in ["name", "scopes"] { fields.require(name, "`\(name)` is missing", &findings) }
    }
  }

  /// The body of `PATCH /v1/keys/{id}`: any of its fields.
  package func edit(from document: JSONValue) throws(Refusal) -> KeyReading {
    try read(document, of: .keyEdit) { fields, findings in
      guard fields.isEmpty, !fields.meansOthers else { return }
      findings.refuse(
        fields.place, .required, "give what is to be changed: \(Schema.keyEdit.fields.joined(separator: ", "))")
    }
  }

  /// The body of `POST /v1/keys/{id}/rotate`: seconds that the former secret stays valid; nil: it does not say.
  package static func rotation(from document: JSONValue) throws(Refusal) -> Int64? {
    var findings = Findings(providers: nil, maximumTargets: RequestBounds.targets)
    let fields = Fields(document, at: .root, of: .keyRotation, &findings)
    let keep = fields?.integer("keep", in: keep, &findings)
    try findings.refuse()
    return keep
  }

  private func read(
    _ document: JSONValue, of schema: Schema, _ check: (Fields, inout Findings) -> Void
  ) throws(Refusal) -> KeyReading {
    var findings = Findings(providers: nil, maximumTargets: RequestBounds.targets, now: now)
    var reading = KeyReading()
    if let fields = Fields(document, at: .root, of: schema, &findings) {
      reading.name = fields.text("name", .line(Self.longestName), &findings)
      reading.scopes = readScopes(fields, &findings)
      reading.expiresAt = readEnd(fields, &findings)
      reading.addresses = Self.readAddresses(fields, &findings)
      check(fields, &findings)
    }
    try findings.refuse()
    return reading
  }

  private func readScopes(_ fields: Fields, _ findings: inout Findings) -> [String]? {
    let name = "scopes"
    guard let words = fields.texts(name, maximum: scopes.count, .line(32), &findings) else { return nil }
    if fields[name]?.array?.isEmpty == true {
      findings.refuse(fields.place.member(name), .empty, "`scopes` is empty: a key without scopes can do nothing")
    }
    for (index, word) in words.enumerated() where !scopes.contains(word) {
      let near = findings.faults.suggestion { Suggestion.nearest(to: word, among: scopes) }
      findings.refuse(
        fields.place.member(name).element(index), .unknownValue,
        near.map { "`\(word)` is not a scope; did you mean `\($0)`?" }
          ?? "`\(word)` is not a scope; the scopes are \(scopes.joined(separator: ", "))")
    }
    return words.eachOnce
  }

  private func readEnd(_ fields: Fields, _ findings: inout Findings) -> WallTime?? {
    let name = "expires_at"
    guard let value = fields[name] else { return nil }
    if case .null = value { return .some(nil) }
    guard let text = fields.text(name, .line(64), &findings) else { return nil }
    guard let time = WallTime(rfc3339: text) else {
      findings.refuse(
        fields.place.member(name), .invalidFormat,
        WallTime.calendarFault(in: text) ?? "`\(name)` needs \(TimeAdvice.absolute(text)); null means no end")
      return nil
    }
    guard time > now else {
      findings.refuse(
        fields.place.member(name), .notAllowed,
        "`\(name)` has passed (it is now \(now.rfc3339)): to end a key at once, revoke it")
      return nil
    }
    return time
  }

  private static func readAddresses(_ fields: Fields, _ findings: inout Findings) -> [AddressRange]? {
    let name = "addresses"
    guard let texts = fields.texts(name, maximum: mostAddresses, .line(64), &findings) else { return nil }
    var ranges: [AddressRange] = []
    for (index, text) in texts.enumerated() {
      guard let range = AddressRange(text) else {
        findings.refuse(
          fields.place.member(name).element(index), .invalidFormat,
          "must be an address or a network, such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32")
        continue
      }
      if !ranges.contains(range) { ranges.append(range) }
    }
    return ranges
  }
}
