/// Whom a message is for: algebra over the tags and facts of devices. The parser gives `all` and `any` two or more members;
/// whoever builds a tree must do the same, or its canonical text would not read back as the same tree.
package indirect enum AudienceExpression: Hashable, Sendable {
  case term(AudienceTerm)
  case not(AudienceExpression)
  case all([AudienceExpression])
  case any([AudienceExpression])
  /// Each device; only the explicit word gives it.
  case everyone

  /// Of one expression with its named audiences put in; repeated terms count each time (`termCount`).
  package static let maximumTerms = 100
  /// Operators and parentheses around one term.
  package static let maximumDepth = 16
  /// Bytes of an expression's text; 100 quoted terms with their parentheses need less.
  package static let maximumBytes = 65_536
}

extension AudienceExpression {
  package var terms: Set<AudienceTerm> {
    switch self {
    case .term(let term): [term]
    case .not(let inner): inner.terms
    case .all(let members), .any(let members): members.reduce(into: []) { $0.formUnion($1.terms) }
    case .everyone: []
    }
  }

  /// The operators above the deepest term.
  package var depth: Int {
    switch self {
    case .term, .everyone: 0
    case .not(let inner): inner.depth + 1
    case .all(let members), .any(let members): (members.map(\.depth).max() ?? 0) + 1
    }
  }

  /// Terms with their repetitions, as the limit counts them.
  package var termCount: Int {
    switch self {
    case .term, .everyone: 1
    case .not(let inner): inner.termCount
    case .all(let members), .any(let members): members.reduce(0) { $0 + $1.termCount }
    }
  }

  /// Fully parenthesised; parsing it gives this tree again.
  package var canonical: String {
    switch self {
    case .term(let term): term.canonical
    case .not(let inner): "!" + inner.canonical
    case .all(let members): "(" + members.map(\.canonical).joined(separator: " && ") + ")"
    case .any(let members): "(" + members.map(\.canonical).joined(separator: " || ") + ")"
    case .everyone: Keyword.everyone
    }
  }
}

/// The words of the grammar, written in small letters.
enum Keyword {
  static let and = "and"
  static let or = "or"
  static let not = "not"
  static let everyone = "everyone"
  static let all = [and, or, not, everyone]
}
