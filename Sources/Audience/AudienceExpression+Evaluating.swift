extension AudienceExpression {
  /// The devices of one block, a bit each. `words` gives the block of a term, `everyone` all devices of the block; a block
  /// that is shorter than `everyone` ends in zeros. The result is not yet cut to the active devices.
  package func evaluate(everyone: [UInt64], _ words: (AudienceTerm) -> [UInt64]) -> [UInt64] {
    switch self {
    case .everyone: return everyone
    case .term(let term):
      var result = words(term)
      if result.count > everyone.count { result.removeLast(result.count - everyone.count) }
      while result.count < everyone.count { result.append(0) }
      return result
    case .not(let inner):
      var result = inner.evaluate(everyone: everyone, words)
      for index in result.indices { result[index] = everyone[index] & ~result[index] }
      return result
    case .all(let members):
      var result = everyone
      for member in members {
        let other = member.evaluate(everyone: everyone, words)
        for index in result.indices { result[index] &= other[index] }
      }
      return result
    case .any(let members):
      var result = [UInt64](repeating: 0, count: everyone.count)
      for member in members {
        let other = member.evaluate(everyone: everyone, words)
        for index in result.indices { result[index] |= other[index] }
      }
      return result
    }
  }
}
