package import Domain

/// Reads an expression by recursive descent: `||` binds least, then `&&`, then `!`. What is too long, too deep or has too
/// many terms is refused as soon as it is.
struct Parser {
  private var lexer: Lexer
  private var token: Token
  private let reading: TermReading
  private var nesting = 0
  private var termCount = 0
  /// Where each term stood first.
  private(set) var places: [AudienceTerm: Int] = [:]

  private typealias Node = (tree: AudienceExpression, depth: Int)

  init(
    _ text: String, providers: [ProviderName]?, suggestions: SuggestionBudget = SuggestionBudget()
  ) throws(AudienceFault) {
    guard text.utf8.count <= AudienceExpression.maximumBytes else {
      throw AudienceFault(
        .whole, "the expression has \(text.utf8.count) bytes; the limit is \(AudienceExpression.maximumBytes)")
    }
    lexer = Lexer(text)
    reading = TermReading(providers: providers, suggestions: suggestions)
    token = Token(kind: .end, start: 0)
    token = try lexer.next()
  }

  mutating func expression() throws(AudienceFault) -> AudienceExpression {
    if token.kind == .end {
      throw fault("the expression is empty: name a tag, or write `\(Keyword.everyone)` for every device")
    }
    let tree = try disjunction().tree
    switch token.kind {
    case .end: return tree
    case .close: throw fault("this parenthesis has no opening one: remove it, or add `(` before")
    default: throw missingOperator()
    }
  }

  func column(of place: Int) -> Int { lexer.column(of: place) }

  private mutating func advance() throws(AudienceFault) { token = try lexer.next() }

  private func fault(_ detail: String, suggestion: String? = nil) -> AudienceFault {
    lexer.fault(at: token.start, detail, suggestion: suggestion)
  }
  private func missingOperator() -> AudienceFault {
    fault("an operator is missing before this: write `&&` or `||` between two terms")
  }

  private mutating func disjunction() throws(AudienceFault) -> Node {
    let start = token.start
    var members = [try conjunction()]
    while token.kind == .or {
      try advance()
      members.append(try conjunction())
    }
    return try joined(members, AudienceExpression.any, start)
  }

  private mutating func conjunction() throws(AudienceFault) -> Node {
    let start = token.start
    var members = [try operand()]
    while token.kind == .and {
      try advance()
      members.append(try operand())
    }
    return try joined(members, AudienceExpression.all, start)
  }

  private func joined(_ members: [Node], _ join: ([AudienceExpression]) -> AudienceExpression, _ start: Int)
    throws(AudienceFault) -> Node
  {
    guard members.count > 1 else { return members[0] }
    let depth = (members.map(\.depth).max() ?? 0) + 1
    guard depth <= AudienceExpression.maximumDepth else { throw tooDeep(at: start) }
    return (join(members.map(\.tree)), depth)
  }

  private func tooDeep(at place: Int) -> AudienceFault {
    lexer.fault(
      at: place,
      "more than \(AudienceExpression.maximumDepth) operators and parentheses are nested: move a part into a named "
        + "audience"
    )
  }

  private mutating func operand() throws(AudienceFault) -> Node {
    let start = token.start
    switch token.kind {
    case .open:
      try advance()
      if token.kind == .close { throw fault("these parentheses are empty: name a tag") }
      let inner = try nested(at: start) { parser throws(AudienceFault) in try parser.disjunction() }
      guard token.kind == .close else {
        if token.kind == .end { throw lexer.fault(at: start, "this parenthesis is never closed: write `)`") }
        throw missingOperator()
      }
      try advance()
      return inner
    case .not:
      try advance()
      let inner = try nested(at: start) { parser throws(AudienceFault) in try parser.operand() }
      guard inner.depth < AudienceExpression.maximumDepth else { throw tooDeep(at: start) }
      return (.not(inner.tree), inner.depth + 1)
    case .word, .quoted: return try term()
    case .and, .or: throw fault("a term is missing before this operator")
    case .close: throw fault("a term is missing before this parenthesis")
    case .end: throw fault("a term is missing at the end, after the operator")
    }
  }

  private mutating func nested(at place: Int, _ read: (inout Parser) throws(AudienceFault) -> Node)
    throws(AudienceFault) -> Node
  {
    guard nesting < AudienceExpression.maximumDepth else { throw tooDeep(at: place) }
    nesting += 1
    let node = try read(&self)
    nesting -= 1
    return node
  }

  private mutating func term() throws(AudienceFault) -> Node {
    termCount += 1
    guard termCount <= AudienceExpression.maximumTerms else {
      throw fault("this is term \(termCount); an expression has at most \(AudienceExpression.maximumTerms)")
    }
    let place = token.start
    let tree: AudienceExpression
    do {
      tree = try reading.term(token.kind)
    } catch {
      throw lexer.fault(at: place + error.offset, error.detail, suggestion: error.suggestion)
    }
    try advance()
    if case .term(let term) = tree, places[term] == nil { places[term] = place }
    return (tree, 0)
  }
}

extension AudienceExpression {
  /// Reads the text of an expression. `providers`: the names that exist, nil where any will do. `suggestions`: those of the
  /// request that it stands in.
  package init(
    parsing text: String, providers: [ProviderName]? = nil, suggestions: SuggestionBudget = SuggestionBudget()
  ) throws(AudienceFault) {
    var parser = try Parser(text, providers: providers, suggestions: suggestions)
    self = try parser.expression()
  }

  /// The column in which a term first stands in the text that this expression was parsed from.
  package static func column(of term: AudienceTerm, in text: String) -> Int? {
    guard var parser = try? Parser(text, providers: nil), (try? parser.expression()) != nil else { return nil }
    return parser.places[term].map(parser.column(of:))
  }
}
