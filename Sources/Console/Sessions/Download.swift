import Domain
import HTTPServer

extension Visitor {
  /// What an operation of the API answers with 200, as a file that the browser keeps; all else is the problem that it tells.
  /// The body is handed through as it is made, so that a long list takes no memory here. `filename` may come from outside.
  func download(
    _ path: [String], query: [(name: String, value: String)] = [], filename: String
  ) async -> Result<HTTPServerResponse, ToldProblem> {
    let method = visit.request.method == "HEAD" ? "HEAD" : "GET"
    var response = await raw(method, path, query: query.filter { !$0.value.isEmpty })
    guard response.status == 200 else { return .failure(ToldProblem(response)) }
    response.headers += Download.headers(filename)
    return .success(response)
  }
}

/// What browsers are told of a file: they keep it and show nothing of it as a page of this host.
enum Download {
  private static let longestName = 100

  /// Beside the type of the content.
  static func headers(_ filename: String) -> [Header] {
    [
      Header("content-disposition", disposition(filename)), Header("x-content-type-options", "nosniff"),
      Header("content-security-policy", "default-src 'none'; sandbox"), Header("referrer-policy", "same-origin"),
      Header("cross-origin-resource-policy", "same-origin"), Header("vary", "cookie"),
    ]
  }

  /// A file that the console itself has made.
  static func file(_ bytes: [UInt8], type: String, filename: String) -> HTTPServerResponse {
    HTTPServerResponse(
      status: 200, headers: [Header("content-type", type), Header("cache-control", "no-store")] + headers(filename),
      body: bytes)
  }

  /// With a name that is one on every system: of letters, digits, `-`, `_` and `.`, and not hidden. Where the given one has
  /// other letters, browsers read them behind `filename*`.
  static func disposition(_ filename: String) -> String {
    let given = safe(filename) { $0.properties.isAlphabetic || $0.properties.numericType != nil }
    let plain = safe(filename) { _ in false }
    return "attachment; filename=\"\(plain)\"" + (given == plain ? "" : "; filename*=UTF-8''\(Link.escaped(given))")
  }

  private static func safe(_ name: String, _ isKept: (Unicode.Scalar) -> Bool) -> String {
    var text = ""
    for scalar in name.unicodeScalars.suffix(longestName) {
      let isPlain =
        scalar.isASCII
        && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
          || "-_.".unicodeScalars.contains(scalar))
      text.unicodeScalars.append(isPlain || !scalar.isASCII && isKept(scalar) ? scalar : "-")
    }
    let shown = String(text.drop { $0 == "." || $0 == "-" })
    return shown.isEmpty ? "download" : shown
  }
}
