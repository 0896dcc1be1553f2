package import Domain

/// What may still be told of the faults of one request. All documents of a bulk call share one: telling a fault, and
/// finding what was probably meant, costs time and bytes. Belongs to the loop that reads the request.
package final class FaultBudget {
  /// Faults told of one document.
  let eachDocument: Int
  private var violations = RequestBounds.violations
  package let suggestions: SuggestionBudget

  /// `suggestions`: those of the request, where more than its body is searched.
  package init(
    eachDocument: Int = RequestBounds.violations, suggestions: SuggestionBudget = SuggestionBudget()
  ) {
    self.eachDocument = eachDocument
    self.suggestions = suggestions
  }

  /// Of a part that is read by itself: what is found in it is added to the whole later, and only then counts.
  func ofPart() -> FaultBudget { FaultBudget(eachDocument: eachDocument, suggestions: suggestions) }

  /// True if one more fault may be told of a document that has `told` already. The first one always may: whoever is
  /// refused learns why.
  package func mayTell(behind told: Int) -> Bool {
    guard told < eachDocument else { return false }
    guard violations > 0 else { return told == 0 }
    violations -= 1
    return true
  }

  /// Whether anything more may be told of a document that has `told` already.
  package func hasRoom(behind told: Int) -> Bool { told < eachDocument && (violations > 0 || told == 0) }

  /// `told` of one document with as many of `more` as may be told, and how many are left out.
  package func add(_ more: [Violation], to told: [Violation] = []) -> [Violation] {
    guard told.last?.code != Violation.Code.moreViolations.rawValue else { return told }
    var all = told
    for violation in more where mayTell(behind: all.count) { all.append(violation) }
    let untold = told.count + more.count - all.count
    if untold > 0 { all.append(.untold(untold)) }
    return all
  }

  /// What `find` finds, as long as the request has a search left.
  package func suggestion(_ find: () -> String?) -> String? { suggestions.spend() ? find() : nil }
}
