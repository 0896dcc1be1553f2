import Domain
import HTTPServer
import Intake
import JSON
package import Store

/// One authenticated request on its way through an operation. A class, so that handing it on copies nothing.
final class Call {
  static let maximumDepth = 32
  /// A target has six members at most: lists that are somewhat too long are still told what is wrong with them.
  static let limits = JSONLimits(depth: maximumDepth, values: 25 * RequestBounds.targets)

  let request: HTTPServerRequest
  /// From the path.
  let parameters: [String]
  /// Who asks; absent on open endpoints.
  let key: APIKey?
  let now: WallTime
  /// Of the key; nil on open endpoints.
  let allowance: Allowance?
  /// Of the store: cursors are known by it.
  let cursorSecret: [UInt8]
  /// Shared by all lines and checks of the request.
  let suggestions = SuggestionBudget()
  let notices = NoticeBudget()
  let attributes = KnownAttributes()
  /// What it has stored, whose outcome it may wait for.
  private(set) var sent: AcceptedMessage?

  init(
    request: HTTPServerRequest, parameters: [String], key: APIKey?, now: WallTime, allowance: Allowance? = nil,
    cursorSecret: [UInt8] = []
  ) {
    (self.request, self.parameters, self.key, self.now) = (request, parameters, key, now)
    (self.allowance, self.cursorSecret) = (allowance, cursorSecret)
  }

  /// The tenant; an endpoint that needs a key has one.
  var app: AppID {
    guard let key else { preconditionFailure("an open endpoint has no app") }
    return key.app
  }

  /// Of the key; an endpoint that needs a key has one.
  var keyID: String { key?.id ?? "" }

  /// The key belongs to one person or program, as far as is known: one behind a link of `fanfare console` is made anew for
  /// each link.
  var isSomebody: Bool { key.map { $0.name != APIKey.nameOfLinks } ?? false }

  /// True if the key may do `scope`.
  func may(_ scope: Scope) -> Bool { key?.may(scope) == true }

  /// The answer to a send that is stored, and may be waited for.
  func accepted(_ message: AcceptedMessage) -> HTTPServerResponse {
    sent = message
    return Answer.accepted(message)
  }

  /// Takes tokens before something is done, or throws what the client is told.
  func take(_ use: LimitedUse, _ count: Int) async throws(Problem) {
    guard let allowance, try !allowance.takeNow(use, count) else { return }
    try await allowance.take(use, count)
  }

  /// Does what counts an audience, or throws where too many of the key or the app are at work.
  func counting<Value>(_ work: () async throws(Problem) -> Value) async throws(Problem) -> Value {
    guard let allowance else { return try await work() }
    return try await allowance.counting(work)
  }

  /// Of a large body: what it was found to be.
  private var known: Result<JSONValue, Problem>?

  /// Parses a large body beforehand, so that `document` need not.
  func parse(in bodies: LargeBodies) async {
    guard bodies.areLarge(request.body.count) else { return }
    known = await bodies.read(request.body.count) { [self] in
      Result { () throws(Problem) in try document() }
    }
  }

  func document() throws(Problem) -> JSONValue {
    if let known { return try known.get() }
    do throws(JSONFault) {
      return try JSON.parse(request.body, Self.limits)
    } catch {
      throw Problem(error, in: "body")
    }
  }

  /// What the body says, or all that is wrong with it.
  func read<Value>(
    _ code: ProblemCode, _ read: (JSONValue) throws(Refusal) -> Value
  ) throws(Problem) -> Value {
    let document = try document()
    do throws(Refusal) {
      return try read(document)
    } catch {
      throw Problem(error, code)
    }
  }

  /// `?limit`, 1…1000.
  func limit() -> Int {
    guard let text = request.query("limit") else { return 100 }
    guard let limit = Whole.read(text, in: 1...1_000) else {
      preconditionFailure("a query is checked before it is read")
    }
    return limit
  }

  /// False where it is missing.
  func flag(_ name: String) -> Bool { request.query(name) == "true" }

  /// Words of a parameter that are parted by commas.
  func words(_ name: String) -> Set<String>? {
    request.query(name).map { Set($0.split(separator: ",").map(String.init)) }
  }

  /// A time that was checked before.
  func time(_ name: String) -> WallTime? { request.query(name).flatMap { WallTime(rfc3339: $0) } }

  /// Without its parameters, in small letters.
  static func mediaType(_ header: String) -> String {
    header.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
  }

  /// What it says of the encoding of a text, in small letters and without quotes.
  static func charset(_ header: String) -> String? {
    guard header.utf8.contains(UInt8(ascii: ";")) else { return nil }
    for parameter in header.lowercased().split(separator: ";").dropFirst() {
      let parts = parameter.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\"" } }
      if parts.count == 2, parts[0] == "charset" { return parts[1] }
    }
    return nil
  }
}

/// Answers for what the store or Intake could not do.
extension Problem {
  package init(_ error: StoreError) {
    switch error {
    case .unavailable(let reason, let seconds):
      self.init(
        .storeUnavailable,
        "Redis cannot serve this request now (\(reason)); try again; repeat a send with the same `Idempotency-Key`",
        retryAfter: seconds)
    case .leaseLost:
      self.init(.storeUnavailable, "Another process took over this partition of the store; try again", retryAfter: 1)
    case .unusable(let reason):
      self.init(.storeUnavailable, "The store cannot be used: \(reason)", retryAfter: 30)
    }
  }

  /// `whole`: the body, or a line of it.
  init(_ fault: JSONFault, in whole: String) {
    if let pointer = fault.crowded {
      self.init(
        .bodyTooLarge, "The \(whole) is too large: \(fault.detail)",
        violations: [Violation(pointer, .tooMany, fault.detail)])
      return
    }
    let isEmpty = fault.detail == JSONFault.empty
    self.init(
      .malformedJSON,
      isEmpty ? "The \(whole) is empty: send a JSON object" : "The \(whole) is not valid JSON: \(fault.detail)")
  }

  /// A single fault is told at once, with the place that it stands at.
  init(_ refusal: Refusal, _ code: ProblemCode) {
    let violations = refusal.violations
    let isCut = violations.last?.code == Violation.Code.moreViolations.rawValue
    let count = isCut ? "\(violations.count - 1) faults and more" : "\(violations.count) faults"
    self.init(
      code, violations.count == 1 ? violations[0].sentence : "\(count); see `violations`", violations: violations)
  }

  /// With as many of its violations as one request is told.
  var bounded: Problem {
    let told = violations.count { $0.code != Violation.Code.moreViolations.rawValue }
    return told > RequestBounds.violations ? self.told(within: FaultBudget()) : self
  }

  /// With as many of its violations as `faults` still allows.
  func told(within faults: FaultBudget) -> Problem {
    guard !violations.isEmpty else { return self }
    var problem = Problem(Refusal(violations: faults.add(violations)), code)
    (problem.retryAfter, problem.headers) = (retryAfter, headers)
    return problem
  }
}

extension Violation {
  /// The detail, behind the name of the field where it does not name it itself: `to.users[3]: …`
  fileprivate var sentence: String { FieldName.sentence(detail, at: pointer) }
}
