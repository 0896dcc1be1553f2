package import Audience
package import Domain

/// Reads whom a request means by an expression.
package enum AudienceReader {
  /// Whom a request means: what `PUT /v1/audiences/{name}` keeps and `POST /v1/audiences/count` counts.
  package static func read(
    _ document: JSONValue, as schema: Schema, providers: [ProviderName: TokenRules]?
  ) throws(Refusal) -> AudienceReading {
    var findings = Findings(providers: providers, maximumTargets: RequestBounds.targets)
    let reading = read(document, as: schema, &findings)
    try findings.refuse()
    guard let reading else { preconditionFailure("an audience was not read, but nothing was found wrong with it") }
    return reading
  }

  private static func read(_ document: JSONValue, as schema: Schema, _ findings: inout Findings) -> AudienceReading? {
    guard let fields = Fields(document, at: .root, of: schema, &findings) else { return nil }
    let reach = fields.choice("reach", Reach.self, &findings) ?? .allDevices
    let names = ProviderReader.list(fields, &findings)
    if let message = fields["message"], message.object == nil {
      findings.refuse(fields.place.member("message"), .wrongType, "must be an object, not \(message.article)")
    }
    let ways = ["audience", "filters", "everyone"].filter { schema.has($0) }
    let given = ways.filter { fields.has($0) }
    if given.isEmpty, fields.meansOthers { return nil }
    guard given.count == 1, let way = given.first else {
      let list = ways.map { "`\($0)`" }.joined(separator: ", ")
      findings.refuse(.root, given.isEmpty ? .required : .notAllowed, "give exactly one of \(list)")
      return nil
    }
    let expression =
      way == "everyone"
      ? everyone(fields, &findings).map { _ in AudienceExpression.everyone }
      : expression(way, fields, &findings)
    return expression.map {
      AudienceReading(expression: $0, reach: reach, providers: names, text: fields[way]?.string, pointer: "/\(way)")
    }
  }

  /// `audience`: the grammar's text; `filters`: OneSignal's array.
  static func expression(_ way: String, _ fields: Fields, _ findings: inout Findings) -> AudienceExpression? {
    guard let value = fields[way] else { return nil }
    let suggestions = findings.faults.suggestions
    if way == "filters" {
      do throws(AudienceFaults) {
        return try AudienceExpression(oneSignalFilters: value, suggestions: suggestions)
      } catch {
        for fault in error.faults { refuse(fault, in: fields.place.member(way), &findings) }
        return nil
      }
    }
    guard case .string(let text) = value else {
      findings.refuse(fields.place.member(way), .wrongType, "must be a string, not \(value.article)")
      return nil
    }
    do throws(AudienceFault) {
      return try AudienceExpression(
        parsing: text, providers: findings.providers?.keys.sorted { $0.rawValue < $1.rawValue },
        suggestions: suggestions)
    } catch {
      refuse(error, in: fields.place.member(way), &findings)
      return nil
    }
  }

  private static func refuse(_ fault: AudienceFault, in place: Place, _ findings: inout Findings) {
    guard case .entry(let index) = fault.place else { return findings.refuse(place, fault) }
    findings.refuse(place.element(index), fault)
  }

  static func everyone(_ fields: Fields, _ findings: inout Findings) -> Recipients? {
    guard let everyone = fields.flag("everyone", &findings) else { return nil }
    guard everyone else {
      findings.refuse(
        fields.place.member("everyone"), .notAllowed, "`everyone` must be true: to send to fewer, name other recipients"
      )
      return nil
    }
    return .everyone
  }
}

/// Whom a request means, and how it said so.
package struct AudienceReading: Sendable {
  /// May name audiences.
  package var expression: AudienceExpression
  package var reach: Reach
  package var providers: [ProviderName]?
  /// The expression's text, if it was one.
  package var text: String?
  /// Where it stood.
  package var pointer: String
}

extension Violation {
  /// What is wrong with an expression; `column` where its text shows it.
  package init(_ pointer: String, _ fault: AudienceFault, column: Int? = nil) {
    self.init(pointer, .invalidAudience, fault.message)
    self.column = column ?? fault.column
  }
}
