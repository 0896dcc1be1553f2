import Domain

/// Reads the names of providers.
enum ProviderReader {
  /// A provider that may be named, with the rules of its tokens where they are known.
  struct Known {
    let name: ProviderName
    let rules: TokenRules?
  }

  /// `providers`: those that a request is for, each once.
  static func list(_ fields: Fields, _ findings: inout Findings) -> [ProviderName]? {
    guard let items = fields.items("providers", maximum: 16, &findings) else { return nil }
    let place = fields.place.member("providers")
    if items.isEmpty {
      findings.refuse(place, .empty, "names no provider: leave it out to use all")
    }
    var names: [ProviderName] = []
    for (index, item) in items.enumerated() {
      guard let name = read(item, at: place.element(index), &findings)?.name else { continue }
      if !names.contains(name) { names.append(name) }
    }
    return names
  }

  /// A provider's name; one that does not exist is refused where the names are known.
  static func read(_ value: JSONValue, at place: @autoclosure () -> Place, _ findings: inout Findings) -> Known? {
    guard case .string(let text) = value else {
      findings.refuse(place(), .wrongType, "must be a provider's name, not \(value.article)")
      return nil
    }
    if let fault = TextRule.identifier(32).fault(in: text) {
      findings.refuse(place(), fault.code, "the provider's name \(fault.detail)")
      return nil
    }
    let name = ProviderName(rawValue: text)
    guard let known = findings.providers else { return Known(name: name, rules: nil) }
    if let rules = known[name] { return Known(name: name, rules: rules) }
    let names = known.keys.map(\.rawValue).sorted()
    let meant = VendorValue.meaning(of: text, for: "provider").flatMap { names.contains($0) ? $0 : nil }
    let hint =
      meant.map { "`\(text.prefix(40))` is `\($0)` here" }
      ?? findings.faults.suggestion { Suggestion.nearest(to: text, among: names) }.map { "did you mean `\($0)`?" }
      ?? "the providers are \(names.joined(separator: ", "))"
    findings.refuse(place(), .unknownValue, "unknown provider; \(hint)")
    return nil
  }
}
