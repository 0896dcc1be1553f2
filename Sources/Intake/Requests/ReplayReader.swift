package import Domain

/// Which deliveries of a message go again.
package struct ReplaySelection: Hashable, Sendable {
  package var outcomes: Set<Outcome>
  /// Nil: whatever the reason.
  package var reasons: Set<String>?
  /// Where an earlier replay stopped, as it said; nil: from the beginning.
  package var after: String?

  /// Of a request that names none. Dead tokens, skipped and cancelled deliveries do not go again unless they are named.
  package static let defaultOutcomes: Set<Outcome> = [.failed, .expired]

  /// Without arguments: what `POST …/replay` without a body means.
  package init(outcomes: Set<Outcome> = defaultOutcomes, reasons: Set<String>? = nil) {
    self.outcomes = outcomes
    self.reasons = reasons
  }

  /// `state`: as reports tell it.
  package func takes(state: String, reason: String?) -> Bool {
    guard let outcome = Outcome(rawValue: state), outcomes.contains(outcome) else { return false }
    return reasons.map { $0.contains(reason ?? "") } ?? true
  }
}

/// Reads which deliveries go again.
package enum ReplayReader {
  private static let maximumReasons = 64

  /// The body of `POST /v1/messages/{id}/replay`.
  package static func read(_ document: JSONValue) throws(Refusal) -> ReplaySelection {
    var findings = Findings(providers: nil, maximumTargets: RequestBounds.targets)
    var selection = ReplaySelection()
    if let fields = Fields(document, at: .root, of: .replay, &findings) {
      if let words = fields.items("outcomes", maximum: Outcome.allCases.count, &findings) {
        selection.outcomes = readOutcomes(words, at: fields.place.member("outcomes"), &findings)
      }
      if let reasons = fields.texts("reasons", maximum: maximumReasons, .line(512), &findings) {
        if reasons.isEmpty {
          findings.refuse(fields.place.member("reasons"), .empty, "is empty: leave it out for all reasons")
        }
        selection.reasons = Set(reasons)
      }
      selection.after = fields.text("after", .identifier(256), &findings)
    }
    try findings.refuse()
    return selection
  }

  private static func readOutcomes(_ words: [JSONValue], at place: Place, _ findings: inout Findings) -> Set<Outcome> {
    let again = Outcome.allCases.filter { $0 != .accepted }
    if words.isEmpty { findings.refuse(place, .empty, "is empty: leave it out for failed and expired") }
    var outcomes: Set<Outcome> = []
    for (index, word) in words.enumerated() {
      guard let outcome = word.string.flatMap({ Outcome(rawValue: $0) }) else {
        let near = word.string.flatMap { word in
          findings.faults.suggestion { Suggestion.nearest(to: word, among: again.map(\.rawValue)) }
        }
        findings.refuse(
          place.element(index), .unknownValue,
          near.map { "did you mean `\($0)`?" } ?? "use one of \(again.map(\.rawValue).joined(separator: ", "))")
        continue
      }
      guard outcome != .accepted else {
        findings.refuse(
          place.element(index), .notAllowed, "accepted deliveries cannot be replayed: send a new message instead")
        continue
      }
      outcomes.insert(outcome)
    }
    return outcomes
  }
}
