import Audience
import Domain
import HTTPServer
import Intake
import Store

/// What query parameters may hold. They are checked before an operation begins: a mistyped `dry_run` sends nothing.
struct QueryRules {
  /// Names of the providers, in order.
  let providers: [ProviderName]

  /// All that is wrong with them.
  func violations(in call: Call, _ endpoint: Endpoint) -> [Violation] {
    var violations: [Violation] = []
    var seen: Set<String> = []
    for (name, value) in call.request.query {
      var fault: (code: Violation.Code, detail: String)?
      if !endpoint.query.contains(name) {
        fault = (.unknownParameter, Self.unknown(name, of: endpoint, call.suggestions))
      } else if !seen.insert(name).inserted, !Endpoint.repeated.contains(name) {
        fault = (.duplicate, "`\(name)` is given more than once: give it once")
      } else {
        fault = self.fault(of: value, as: name, endpoint, call.suggestions).map { (.invalidFormat, $0) }
      }
      guard let fault else { continue }
      var violation = Violation("", fault.code, fault.detail)
      violation.parameter = String(name.prefix(40))
      violations.append(violation)
    }
    if violations.isEmpty, let from = call.time("from"), let to = call.time("to"), from > to {
      var violation = Violation("", .outOfRange, "`from` is later than `to`: exchange them")
      violation.parameter = "from"
      violations.append(violation)
    }
    return violations
  }

  private static func unknown(_ name: String, of endpoint: Endpoint, _ suggestions: SuggestionBudget) -> String {
    let shown = name.prefix(40)
    if let near = suggestions.nearest(to: name, among: endpoint.query) {
      return "unknown query parameter `\(shown)`; did you mean `\(near)`?"
    }
    let names = endpoint.query.map { "`\($0)`" }.joined(separator: ", ")
    return "unknown query parameter `\(shown)`; "
      + (names.isEmpty ? "\(endpoint.method) \(endpoint.path) takes none" : "the parameters are \(names)")
  }

  /// What is wrong with a value; nil: nothing, or only the operation itself can tell.
  private func fault(
    of value: String, as name: String, _ endpoint: Endpoint, _ suggestions: SuggestionBudget
  ) -> String? {
    switch name {
    case "limit": Whole.read(value, in: 1...1_000) == nil ? "`limit` must be a whole number of 1…1000" : nil
    case "hours":
      Whole.read(value, in: ActivityCalls.hours) == nil ? "`hours` must be a whole number of 1…48" : nil
    case "wait":
      WantedWait.seconds(ofQuery: value) == nil
        ? "`wait` must be a whole number of seconds, 1…\(WantedWait.longest); nothing was done" : nil
    case "dry_run", "dead", "keep_missing":
      ["true", "false"].contains(value) ? nil : "`\(name)` must be true or false; nothing was done"
    case "from", "to":
      WallTime(rfc3339: value) == nil
        ? WallTime.calendarFault(in: value) ?? "`\(name)` needs \(TimeAdvice.absolute(value))" : nil
    case "label":
      Self.isLabel(value) ? nil : "`label` must be key:value"
    case "audience": Self.fault(inAudience: value, suggestions)
    case "message": MessageID(value) == nil ? "`message` must be the id of a message" : nil
    case "bundle_id": AddressReader.isBundleID(value) ? nil : "`bundle_id` may hold only letters, digits, `.` and `-`"
    case "map", "set": DeviceTable.fault(of: value, as: name, suggestions)
    case "name" where value.isEmpty, "topic" where value.isEmpty, "tag" where value.isEmpty, "user" where value.isEmpty:
      "`\(name)` is empty: give a value or leave it out"
    default: words(of: name, endpoint).flatMap { Self.fault(of: value, as: name, among: $0, suggestions) }
    }
  }

  /// The words that a parameter takes; nil: any. Several of them are parted by commas.
  private func words(of name: String, _ endpoint: Endpoint) -> [String]? {
    switch name {
    case "provider": providers.map(\.rawValue)
    case "environment": Environment.allCases.map(\.rawValue)
    case "token_kind": TokenKind.allCases.map(\.rawValue)
    case "status": StoredDevice.Status.allCases.map(\.rawValue)
    case "format": endpoint.forms.map(\.rawValue)
    case "state": endpoint.states
    case "operation": AuditedOperations.names
    default: nil
    }
  }

  private static func fault(
    of value: String, as name: String, among known: [String], _ suggestions: SuggestionBudget
  ) -> String? {
    let words = Endpoint.listed.contains(name) ? value.split(separator: ",").map(String.init) : [value]
    guard let wrong = words.first(where: { !known.contains($0) }) ?? (words.isEmpty ? "" : nil) else { return nil }
    let start = "`\(name)` has an unknown value `\(wrong.prefix(40))`"
    if let meant = VendorValue.meaning(of: wrong, for: name), known.contains(meant) {
      return "\(start); here it is `\(meant)`"
    }
    let near = suggestions.nearest(to: wrong, among: known).map { "; did you mean `\($0)`? The" } ?? "; the"
    return "\(start)\(near) values are \(known.joined(separator: ", "))"
  }

  /// `key:value`. The key may hold a colon itself: the whole is compared.
  private static func isLabel(_ text: String) -> Bool {
    text.utf8.contains(UInt8(ascii: ":")) && text.utf8.first != UInt8(ascii: ":") && text.utf8.count <= longestLabel
  }
  /// Of a name, a colon and a value.
  private static let longestLabel = 64 * 4 + 1 + 256 * 4

  private static func fault(inAudience text: String, _ suggestions: SuggestionBudget) -> String? {
    do throws(AudienceFault) {
      _ = try AudienceExpression(parsing: text, suggestions: suggestions)
      return nil
    } catch {
      return "`audience` is not a valid expression: \(error.message)"
    }
  }
}
