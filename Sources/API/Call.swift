import Domain
import HTTPServer
import Intake
import JSON
import Store

/// One authenticated request on its way through an operation.
struct Call {
  static let maximumDepth = 32

  let request: HTTPServerRequest
  /// From the path.
  let parameters: [String]
  /// Who asks; absent on open endpoints.
  let key: APIKey?
  let now: WallTime

  /// The tenant; an endpoint that needs a key has one.
  var app: AppID {
    guard let key else { preconditionFailure("an open endpoint has no app") }
    return key.app
  }

  /// True if the key may do `scope`.
  func may(_ scope: Scope) -> Bool { key?.scopes.contains(scope) == true || key?.scopes.contains(.admin) == true }

  func document() throws(Problem) -> JSONValue {
    do throws(JSONFault) {
      return try JSON.parse(request.body, maximumDepth: Self.maximumDepth)
    } catch {
      let place = error.offset.map { " at byte \($0)" } ?? ""
      throw Problem(.malformedJSON, "The body cannot be read as JSON\(place): \(error.detail)")
    }
  }

  /// `?limit`, 1…1000.
  func limit() throws(Problem) -> Int {
    guard let text = request.query("limit") else { return 100 }
    guard let limit = Int(text), (1...1_000).contains(limit) else {
      throw Problem(.invalidParameter, "`limit` must be a whole number of 1…1000")
    }
    return limit
  }

  func accepts(_ type: String) -> Bool {
    guard let accept = request.header("accept") else { return false }
    return accept.split(separator: ",").contains { part in
      let name = part.prefix { $0 != ";" }
      return name.lowercased().filter { $0 != " " } == type
    }
  }
}

/// Answers for what the store or Intake could not do.
extension Problem {
  init(_ error: StoreError) {
    switch error {
    case .unavailable(let reason, let seconds):
      self.init(
        .storeUnavailable, "Redis cannot take this now (\(reason)); try again, a send with the same `Idempotency-Key`",
        retryAfter: seconds)
    case .leaseLost:
      self.init(.storeUnavailable, "Another process took over a part of the store; try again", retryAfter: 1)
    case .unusable(let reason):
      self.init(.storeUnavailable, "The store cannot be used: \(reason)", retryAfter: 30)
    }
  }

  init(_ refusal: Refusal, _ code: ProblemCode) {
    let count = refusal.violations.count
    self.init(
      code, count == 1 ? refusal.violations[0].detail : "\(count) faults; see `violations`",
      violations: refusal.violations)
  }
}
