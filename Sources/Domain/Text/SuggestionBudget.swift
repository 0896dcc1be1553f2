/// The searches that one request may still make for a name that was probably meant. A search compares up to a thousand words,
/// so a bulk request must not make one for each line. Belongs to the loop that serves the request.
package final class SuggestionBudget {
  /// Searches of one request; later faults are told without a suggestion.
  package static let searches = 20
  private var left = searches

  /// One for each request.
  package init() {}

  /// Ask before looking up what is to be compared.
  package var isLeft: Bool { left > 0 }

  /// Spends a search; false if none is left.
  package func spend() -> Bool {
    guard left > 0 else { return false }
    left -= 1
    return true
  }

  /// As `Suggestion.nearest`, as long as a search is left.
  package func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    spend() ? Suggestion.nearest(to: word, among: candidates) : nil
  }
}
