/// Why an expression is no audience; `detail` and `suggestion` are for the person who wrote it.
package struct AudienceFault: Error, Hashable, Sendable {
  /// Where the fault is: in a text, in a list of filters, at a term, or in the whole.
  package enum Place: Hashable, Sendable {
    /// Of the text, in characters, from 1.
    case column(Int)
    /// Of OneSignal's `filters`, from 0.
    case entry(Int)
    case term(AudienceTerm)
    case whole
  }
  package var place: Place
  package var detail: String
  /// What to write instead.
  package var suggestion: String?

  /// `detail`: what is wrong, without its place, which `message` puts before it. `suggestion`: text to write instead.
  package init(_ place: Place, _ detail: String, suggestion: String? = nil) {
    self.place = place
    self.detail = detail
    self.suggestion = suggestion
  }

  package var column: Int? { if case .column(let column) = place { column } else { nil } }

  /// The sentence for an answer or a terminal.
  package var message: String {
    let start =
      switch place {
      case .column(let column): "column \(column): "
      case .entry(let index): "filter \(index + 1): "
      case .term(let term): "`\(term.canonical)`: "
      case .whole: ""
      }
    return start + detail + (suggestion.map { "; did you mean `\($0)`?" } ?? "")
  }
}

/// All that is wrong with a list of filters.
package struct AudienceFaults: Error, Hashable, Sendable {
  /// In the order of their entries; never empty.
  package var faults: [AudienceFault]

  init(faults: [AudienceFault]) { self.faults = faults }

  init(_ place: AudienceFault.Place, _ detail: String) { faults = [AudienceFault(place, detail)] }
}
