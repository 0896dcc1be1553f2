import Domain
import HTTPServer
package import Store

/// One method of one path: who may call it, what it takes and answers, and what carries it out. All that is known of an
/// operation stands in its route. The router, the checks before an operation and /openapi.json are made of these.
package final class Endpoint: Sendable {
  /// Who may call an operation. `open` needs no key.
  package enum Access: Sendable {
    case open
    /// A key with any of these scopes, or `admin`.
    case key(Set<Scope>)
  }

  /// What a body holds, by the name of its schema, and what it may be declared as.
  struct Body: Sendable {
    var schema: String
    var forms: [ListForm]
    var mayBeMissing: Bool
    /// Reads a whole body without any effect, or throws all that is wrong with it. Nil: its lines are read one by one.
    var check: Check?

    typealias Check = @Sendable (Resources) -> (Call) async throws(Problem) -> Void

    /// Of NDJSON or CSV.
    init(_ schema: String, in forms: [ListForm]) {
      (self.schema, self.forms, mayBeMissing) = (schema, forms, false)
    }

    /// Of JSON. `reading`: what its operation begins with.
    init<Reading>(
      _ schema: String, mayBeMissing: Bool = false,
      reading: @escaping @Sendable (Resources) -> (Call) async throws(Problem) -> Reading
    ) {
      (self.schema, self.mayBeMissing, forms) = (schema, mayBeMissing, [.json])
      check = { resources in { call throws(Problem) in _ = try await reading(resources)(call) } }
    }

    var types: [String] { forms.map(\.mediaType) }
  }

  /// Headers that only some operations take.
  enum RequestHeader: Sendable {
    case idempotencyKey
    /// `If-Match`.
    case match
    /// `Fanfare-Identity`.
    case identity
    /// `Prefer: wait=5`.
    case prefer
  }

  /// An answer that is no problem.
  struct Success: Sendable {
    var status: Int
    var description: String
    /// Media type and schema; nil: text.
    var content: [(type: String, schema: String?)]

    init(_ status: Int, _ description: String, _ content: [(String, String?)]) {
      (self.status, self.description, self.content) = (status, description, content.map { (type: $0, schema: $1) })
    }

    static func json(_ status: Int, _ description: String, _ schema: String) -> Self {
      Self(status, description, [("application/json", schema)])
    }
    /// A page, or the whole as NDJSON or CSV.
    static func list(_ description: String, _ page: String, _ item: String) -> Self {
      Self(200, description, [("application/json", page + "Page"), ("application/x-ndjson", item), ("text/csv", nil)])
    }
    static func empty(_ status: Int, _ description: String) -> Self { Self(status, description, []) }
  }

  /// What of an operation the audit has.
  enum Audit: Sendable {
    case none
    /// An entry that Redis has before the operation begins, and that is ended with it. `compared`: with digests of its
    /// object before and behind.
    case act(compared: Bool)
    /// An entry within a second behind it, where something may have been sent.
    case send
    /// As an act, where the whole of a list is asked for.
    case export
  }

  typealias Handler = @Sendable (Resources) -> (Call) async throws(Problem) -> HTTPServerResponse

  /// Its name in /openapi.json; nil: it comes with a later version, and is answered 501.
  package let operation: String?
  package let method: String
  /// Segments in braces are parameters.
  package let path: String
  package let access: Access
  /// Query parameters; others are refused, as a mistyped `dry_run` must not send.
  package let query: [String]
  package let summary: String
  let body: Body?
  let headers: [RequestHeader]
  /// What `?format=` takes here.
  let forms: [ListForm]
  let successes: [Success]
  /// Beside those that any operation may answer.
  private let ownProblems: Set<ProblemCode>
  let handler: Handler?
  let audit: Audit

  /// `audit`: nil where it follows from the method: all that changes something is an act, a whole list an export.
  /// `problems`: those of its own, beside what any operation answers, and any that takes a body.
  init(
    _ operation: String?, _ method: String, _ path: String, _ access: Access, query: [String] = [], _ summary: String,
    body: Body? = nil, headers: [RequestHeader] = [], forms: [ListForm] = ListForm.allCases,
    answers: [Success] = [], problems: Set<ProblemCode> = [], audit: Audit? = nil, handler: Handler?
  ) {
    self.operation = operation
    self.method = method
    self.path = path
    self.access = access
    self.query = query
    hasPages = query.contains("cursor")
    hasDryRun = if case .key([.send]) = access { method == "POST" && query.contains("dry_run") } else { false }
    self.summary = summary
    self.body = body
    self.headers = headers
    self.forms = forms
    successes = answers
    ownProblems = problems
    self.handler = handler
    self.audit = audit ?? Self.usualAudit(method, access, query)
  }

  /// What a route that says nothing has: no operation that changes something is left out by being forgotten.
  private static func usualAudit(_ method: String, _ access: Access, _ query: [String]) -> Audit {
    guard case .key = access else { return .none }
    guard method == "GET" else { return .act(compared: true) }
    return query.contains("format") ? .export : .none
  }

  static func later(_ method: String, _ path: String, _ access: Access, _ summary: String) -> Endpoint {
    Endpoint(nil, method, path, access, summary, problems: [.notYet], handler: nil)
  }

  /// Paths that take NDJSON end so.
  static let bulkEnding = "/bulk"
  /// Paths that count an audience end so.
  static let countEnding = "/count"
  static let metrics = "metrics"
  static let readiness = "readiness"

  /// A list in pages. As a whole it is an export, which a key may do without reading pages, and the other way round.
  let hasPages: Bool

  /// It can show what it would send, and sends nothing then. Whoever may write drafts may look. Asked with each request.
  let hasDryRun: Bool

  /// It says all in its path and query: a field in a body is a mistake, such as a `dry_run` that belongs into the query.
  var refusesFields: Bool { body == nil && method == "POST" }

  /// The problems that it may answer with. What is open has only its own.
  var problems: Set<ProblemCode> {
    guard case .key = access else { return ownProblems }
    let always: Set<ProblemCode> = [
      .badRequest, .unauthorized, .forbidden, .invalidParameter, .requestTimeout, .headTooLarge, .internalError,
      .overloaded, .storeUnavailable, .tooManyFailedKeys, .tooMuchAtOnce, .rateLimited, .beyondRateLimit,
    ]
    return always.union(ownProblems)
      .union(body == nil && !refusesFields ? [] : [.malformedJSON, .unsupportedMediaType, .bodyTooLarge])
      .union(refusesFields ? [.invalidBody] : [])
  }

  /// Parameters that may be given several times.
  static let repeated: Set<String> = ["map", "set"]
  /// … and those that take several words, parted by commas.
  static let listed: Set<String> = ["state", "status", "provider", "token_kind"]

  /// What `?state=` takes here: states of messages, or of deliveries.
  var states: [String] {
    path == Self.messagesPath
      ? MessageState.allCases.map(\.rawValue)
      : DeliveryState.allCases.map(\.rawValue) + Outcome.allCases.map(\.rawValue)
  }

  /// Literal paths stand before the patterns that would take them too.
  package static let all: [Endpoint] =
    messages + drafts + audiences + devices + prunes + users + channels + tags + keys + audits + statuses + service
}
