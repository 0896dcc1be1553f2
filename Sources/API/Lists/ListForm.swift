import HTTPServer

/// How a list is answered: `?format=`, or else by the `Accept` header.
enum ListForm: String, CaseIterable {
  /// A page.
  case json
  /// All of it, one JSON object a line.
  case lines = "ndjson"
  /// All of it, a table with a head.
  case table = "csv"

  var mediaType: String {
    switch self {
    case .json: "application/json"
    case .lines: Lines.mediaType
    case .table: "text/csv"
    }
  }
}

extension Call {
  /// `usual`: where the client does not say.
  func form(usual: ListForm = .json) -> ListForm {
    if let word = request.query("format") {
      guard let form = ListForm(rawValue: word) else { preconditionFailure("a query is checked before it is read") }
      return form
    }
    return [ListForm.lines, .table].first { accepts($0.mediaType) } ?? usual
  }
}
