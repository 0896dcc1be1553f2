import Audience
import Domain
import Intake
import Store

/// Writes expressions out: what each named audience in them stands for.
struct AudienceResolver {
  let store: Store

  /// The expression with each named audience replaced by what it stands for. `text`: what the expression was read from,
  /// to show the column; `assuming`: audiences as they would be.
  func writtenOut(
    _ expression: AudienceExpression, _ call: Call, at pointer: String, text: String?, _ code: ProblemCode,
    assuming: [String: AudienceExpression] = [:]
  ) async throws(Problem) -> AudienceExpression {
    var known = assuming
    var asked = Set(assuming.keys)
    var wanted = expression.names.union(assuming.values.flatMap(\.names)).subtracting(asked)
    // What lies deeper is refused anyway.
    for _ in 0...AudienceExpression.maximumDepth where !wanted.isEmpty {
      let names = wanted.sorted()
      let texts = try await named(names, call.app)
      for (name, text) in zip(names, texts) { known[name] = text.flatMap { try? AudienceExpression(parsing: $0) } }
      asked.formUnion(names)
      wanted = Set(names.flatMap { known[$0]?.names ?? [] }).subtracting(asked)
    }
    do throws(AudienceFault) {
      return try expression.resolving { known[$0] }
    } catch {
      var fault = error
      var column: Int?
      if case .term(let term) = fault.place {
        column = text.flatMap { AudienceExpression.column(of: term, in: $0) }
        if case .audience(let name) = term, known[name] == nil, call.suggestions.spend() {
          let others = try await all(call.app).map(\.name)
          fault.suggestion = Suggestion.nearest(to: name, among: others).map { AudienceTerm.audience($0).canonical }
        }
      }
      throw Problem(Refusal(violations: [Violation(pointer, fault, column: column)]), code)
    }
  }

  /// The named audiences of the app.
  func all(_ app: AppID) async throws(Problem) -> [NamedAudience] {
    do throws(StoreError) {
      return try await store.namedAudiences.all(app: app)
    } catch {
      throw Problem(error)
    }
  }

  private func named(_ names: [String], _ app: AppID) async throws(Problem) -> [String?] {
    do throws(StoreError) {
      return try await store.namedAudiences.find(names, app: app)
    } catch {
      throw Problem(error)
    }
  }
}

extension Call {
  /// The audience that the body names.
  func audience(as schema: Schema, providers: [ProviderName: TokenRules]) throws(Problem) -> AudienceReading {
    try read(.invalidAudience) { document throws(Refusal) in
      try AudienceReader.read(document, as: schema, providers: providers)
    }
  }
}
