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

extension ListForm {
  /// What a request asks for; nil: it does not say, or not in a word that is known.
  init?(askedBy request: HTTPServerRequest) {
    if let word = request.query("format") {
      self.init(rawValue: word)
    } else if let form = [ListForm.lines, .table].first(where: { request.accepts($0.mediaType) }) {
      self = form
    } else {
      return nil
    }
  }
}

extension Call {
  /// `usual`: where the client does not say.
  func form(usual: ListForm = .json) -> ListForm { ListForm(askedBy: request) ?? usual }
}

extension HTTPServerRequest {
  fileprivate func accepts(_ type: String) -> Bool {
    header("accept")?.split(separator: ",").contains { Call.mediaType(String($0)) == type } ?? false
  }
}
