extension AudienceExpression {
  /// The expression with every named audience replaced by what it stands for. Names that do not exist, that lead back to
  /// themselves, or that make the whole too large are refused.
  package func resolving(_ named: (String) -> AudienceExpression?) throws(AudienceFault) -> AudienceExpression {
    var resolution = Resolution()
    return try resolution.expand(self, named, path: [], depth: 0)
  }

  /// The named audiences it asks for itself.
  package var names: Set<String> {
    Set(terms.compactMap { if case .audience(let name) = $0 { name } else { nil } })
  }
}

private struct Resolution {
  private var termCount = 0

  mutating func expand(
    _ expression: AudienceExpression, _ named: (String) -> AudienceExpression?, path: [String], depth: Int
  ) throws(AudienceFault) -> AudienceExpression {
    guard depth <= AudienceExpression.maximumDepth else { throw tooLarge(path, "deep") }
    switch expression {
    case .term(.audience(let name)):
      guard path.count < AudienceExpression.maximumDepth else { throw tooLarge(path, "deep") }
      let inner = try Self.look(up: name, named, path: path)
      return try expand(inner, named, path: path + [name], depth: depth)
    case .term, .everyone:
      termCount += 1
      guard termCount <= AudienceExpression.maximumTerms else { throw tooLarge(path, "long") }
      return expression
    case .not(let inner): return .not(try expand(inner, named, path: path, depth: depth + 1))
    case .all(let members): return .all(try expand(members, named, path: path, depth: depth + 1))
    case .any(let members): return .any(try expand(members, named, path: path, depth: depth + 1))
    }
  }

  private mutating func expand(
    _ members: [AudienceExpression], _ named: (String) -> AudienceExpression?, path: [String], depth: Int
  ) throws(AudienceFault) -> [AudienceExpression] {
    var expanded: [AudienceExpression] = []
    for member in members { expanded.append(try expand(member, named, path: path, depth: depth)) }
    return expanded
  }

  private static func look(up name: String, _ named: (String) -> AudienceExpression?, path: [String])
    throws(AudienceFault) -> AudienceExpression
  {
    if let start = path.firstIndex(of: name) {
      let circle = (path[start...] + [name]).joined(separator: " → ")
      throw AudienceFault(.term(.audience(name)), "this audience refers to itself: \(circle)")
    }
    guard let expression = named(name) else {
      throw AudienceFault(.term(.audience(name)), "no audience has this name")
    }
    return expression
  }

  private func tooLarge(_ path: [String], _ what: String) -> AudienceFault {
    let limits = "at most \(AudienceExpression.maximumTerms) terms, \(AudienceExpression.maximumDepth) deep"
    return AudienceFault(
      path.first.map { .term(.audience($0)) } ?? .whole,
      "with its named audiences expanded, the expression is too \(what): \(limits)")
  }
}
