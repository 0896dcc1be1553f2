package import Domain
import Intake
import JSON
import Store

/// The API's description of itself (OpenAPI 3.1), made from the same route table that answers.
package enum OpenAPI {
  /// What `/openapi.json` answers; built once, on first use.
  package static let document: JSONValue = .make([
    ("openapi", "3.1.0"), ("info", info), ("security", .array([.make([("key", .array([]))])])), ("paths", paths),
    ("components", components),
  ])

  private static let about =
    "One push API for APNs, FCM, OneSignal and Web Push. `accepted` means that the provider accepted a push, not that it was "
    + "shown. Unknown request fields are refused; clients must ignore unknown fields of answers. "
    + "A known path answers any other method with 405, a problem document and `Allow`. The paths that end in `/bulk` take "
    + "and return NDJSON: one JSON document a line, each in the schema that is given here. Generated clients cannot "
    + "stream them: write the lines yourself."
  private static let info: JSONValue = .make([
    ("title", "Fanfare"), ("version", .string(Release.version)), ("description", .string(about)),
  ])

  private static var components: JSONValue {
    let scopes = Scope.allCases.map(\.rawValue).joined(separator: ", ")
    let key: JSONValue = .make([
      ("type", "http"), ("scheme", "bearer"), ("description", .string("An API key, `fan_…`. The scopes are \(scopes)")),
    ])
    return .make([
      ("securitySchemes", .make([("key", key)])),
      ("schemas", .object(OpenAPIRequests.schemas + OpenAPIAnswers.schemas)),
      ("responses", .object(problemResponses)),
    ])
  }

  /// Compact, as it is sent.
  package static let encoded = document.encoded

  private static var paths: JSONValue {
    var paths: [(String, JSONValue)] = []
    for path in Endpoint.all.map(\.path) where !paths.contains(where: { $0.0 == path }) {
      let methods = Endpoint.all.filter { $0.path == path }
      paths.append((path, .make(methods.map { ($0.method.lowercased(), operation($0)) })))
    }
    return .make(paths)
  }

  private static func operation(_ endpoint: Endpoint) -> JSONValue {
    var members: [(String, JSONValue)] = [("summary", .string(endpoint.summary))]
    if let name = endpoint.operation {
      members.append(("operationId", .string(name)))
    } else {
      members.append(("description", .string("Comes with a later version.")))
    }
    switch endpoint.access {
    case .open: members.append(("security", .array([])))
    case .key(let scopes): members.append(("x-scopes", .array(scopes.map(\.rawValue).sorted().map { .string($0) })))
    }
    let parameters = self.parameters(of: endpoint)
    if !parameters.isEmpty { members.append(("parameters", .array(parameters))) }
    if let body = endpoint.body {
      members.append(
        (
          "requestBody",
          .make([
            ("required", .bool(!body.mayBeMissing)),
            (
              "content",
              .make(
                body.types.map { type in
                  let isTable = type == ListForm.table.mediaType
                  return (type, .make([("schema", isTable ? .make([("type", "string")]) : .reference(body.schema))]))
                })
            ),
          ])
        ))
    }
    members.append(("responses", responses(of: endpoint)))
    return .make(members)
  }

  private static func parameters(of endpoint: Endpoint) -> [JSONValue] {
    var parameters: [JSONValue] = endpoint.path.split(separator: "/").filter { $0.hasPrefix("{") }.map { segment in
      .make([
        ("name", .string(String(segment.dropFirst().dropLast()))), ("in", "path"), ("required", .bool(true)),
        ("schema", .make([("type", "string")])),
      ])
    }
    for name in endpoint.query {
      let schema: JSONValue =
        switch name {
        case "limit":
          .make([
            ("type", "integer"), ("minimum", .integer(1)), ("maximum", .integer(1_000)), ("default", .integer(100)),
          ])
        case "hours":
          .make([
            ("type", "integer"), ("minimum", .integer(1)), ("maximum", .integer(48)), ("default", .integer(24)),
          ])
        case "format":
          .make([
            ("type", "string"), ("enum", .array(endpoint.forms.map { .string($0.rawValue) })),
            ("description", .string(formatNote(of: endpoint))),
          ])
        case "from", "to": .make([("type", "string"), ("format", "date-time")])
        case "map", "set":
          .make([
            ("type", "array"), ("items", .make([("type", "string"), ("pattern", "^[^:]+:.+$")])),
            (
              "description",
              .string(
                name == "map"
                  ? "For a CSV body: `COLUMN:FIELD` maps a column to a field, `COLUMN:-` ignores a column."
                  : "For a CSV body: `FIELD:VALUE` sets a field for all devices.")
            ),
          ])
        case "dry_run": .make([("type", "boolean")])
        case "wait":
          .make([
            ("type", "integer"), ("minimum", .integer(1)), ("maximum", .integer(Int64(WantedWait.longest))),
            ("description", "Seconds that the request waits for the end of a small message, as `Prefer: wait=`."),
          ])
        case "keep_missing":
          .make([
            ("type", "boolean"),
            ("description", "A device keeps the fields that its line lacks. Default: a line replaces the device."),
          ])
        case "label": .make([("type", "string"), ("pattern", "^[^:].*:"), ("examples", .array(["campaign:spring"]))])
        case "dead": .make([("type", "boolean")])
        case "environment":
          .make([("type", "string"), ("enum", .array(Environment.allCases.map { .string($0.rawValue) }))])
        case "cursor": .make([("type", "string"), ("minLength", .integer(1)), ("pattern", "^[A-Za-z0-9_-]+$")])
        case "bundle_id", "credential", "message", "name", "tag", "user":
          .make([("type", "string"), ("minLength", .integer(1))])
        case "token":
          .make([
            ("type", "string"), ("minLength", .integer(1)), ("maxLength", .integer(Int64(TokenRules.longest))),
            ("description", "The whole token, with `provider`: the device that holds it."),
          ])
        case "status": words(StoredDevice.Status.allCases.map(\.rawValue))
        case "token_kind": words(TokenKind.allCases.map(\.rawValue))
        case "state": words(endpoint.states)
        case "operation":
          .make([("type", "string"), ("enum", .array(AuditedOperations.names.map { .string($0) }))])
        case "provider": .make([("type", "string"), ("pattern", "^[a-z]+(,[a-z]+)*$")])
        default: .make([("type", "string")])
        }
      parameters.append(.make([("name", .string(name)), ("in", "query"), ("schema", schema)]))
    }
    return parameters + headers(of: endpoint)
  }

  private static func headers(of endpoint: Endpoint) -> [JSONValue] {
    var parameters: [JSONValue] = []
    if endpoint.headers.contains(.match) {
      parameters.append(
        .make([
          ("name", "If-Match"), ("in", "header"),
          ("schema", .make([("type", "string"), ("pattern", "^([*]|\"[1-9][0-9]{0,8}\"|[1-9][0-9]{0,8})$")])),
          (
            "description",
            "The `etag` of the draft that you read, or `*`. The answer is 412 if the draft has another version."
          ),
        ]))
    }
    if endpoint.headers.contains(.identity) {
      parameters.append(
        .make([
          ("name", .string(RequestIdentity.name)), ("in", "header"),
          ("schema", .make([("type", "string"), ("maxLength", .integer(Int64(IdentityVerifier.longestToken)))])),
          (
            "description",
            .string(
              "An identity token: a short-lived JWT in which the app's backend names the device's user. A `register` "
                + "key can set a user only with such a token.")
          ),
        ]))
    }
    if endpoint.headers.contains(.idempotencyKey) {
      parameters.append(
        .make([
          ("name", "Idempotency-Key"), ("in", "header"),
          (
            "schema",
            .make([
              ("type", "string"), ("minLength", .integer(1)), ("maxLength", .integer(255)), ("pattern", "^[ -~]+$"),
            ])
          ),
          ("description", "For 24 hours, a repeat with the same key and body returns the first message's id."),
        ]))
    }
    if endpoint.headers.contains(.prefer) {
      parameters.append(
        .make([
          ("name", "Prefer"), ("in", "header"), ("schema", .make([("type", "string")])),
          (
            "description",
            .string(
              "`wait=5` (RFC 7240): the request waits so many seconds, at most \(WantedWait.longest), for the end of a "
                + "message to at most \(OutcomeWaits.mostTargets) targets that starts at once. If it is completed in "
                + "time, the answer is 200 with its report and `Preference-Applied`, otherwise 202.")
          ), ("example", "wait=5"),
        ]))
    }
    return parameters
  }

  private static func formatNote(of endpoint: Endpoint) -> String {
    "Replaces `Accept`. NDJSON and CSV return the whole list"
      + (endpoint.hasPages ? ", which needs the scope `export`." : ".")
  }

  /// One of these, or several with commas between.
  private static func words(_ words: [String]) -> JSONValue {
    let any = "(" + words.joined(separator: "|") + ")"
    return .make([("type", "string"), ("pattern", .string("^\(any)(,\(any))*$"))])
  }

  private static func responses(of endpoint: Endpoint) -> JSONValue {
    var responses: [(String, JSONValue)] = []
    for answer in endpoint.successes {
      var members: [(String, JSONValue)] = [("description", .string(answer.description))]
      if !answer.content.isEmpty {
        members.append(
          (
            "content",
            .make(
              answer.content.map { type, schema in
                (type, .make([("schema", schema.map { .reference($0) } ?? .make([("type", "string")]))]))
              })
          ))
      }
      responses.append((String(answer.status), .make(members)))
    }
    for status in Set(endpoint.problems.map(\.status)).sorted() {
      responses.append((String(status), .make([("$ref", .string("#/components/responses/Problem\(status)"))])))
    }
    return .make(responses)
  }

  private static var problemResponses: [JSONMember] {
    Set(ProblemCode.allCases.map(\.status)).sorted().map { status in
      let codes = ProblemCode.allCases.filter { $0.status == status }
      let text = codes.map { "`\($0.rawValue)`: \($0.title)" }.joined(separator: ". ")
      var members: [(String, JSONValue)] = [("description", .string(text))]
      if status == ProblemCode.rateLimited.status { members.append(("headers", rateLimitHeaders)) }
      members.append(("content", .make([("application/problem+json", .make([("schema", .reference("Problem"))]))])))
      return JSONMember("Problem\(status)", .make(members))
    }
  }
}

extension OpenAPI {
  /// Of 429. `RateLimit` and `RateLimit-Policy` come also with other answers, once half of a quota is used.
  fileprivate static var rateLimitHeaders: JSONValue {
    func header(_ type: String, _ description: String) -> JSONValue {
      .make([("description", .string(description)), ("schema", .make([("type", .string(type))]))])
    }
    return .make([
      ("Retry-After", header("integer", "Seconds until the request may be repeated.")),
      (
        "RateLimit",
        header("string", "What is left of each limit and for how many seconds: `\"key-requests\";r=0;t=7`.")
      ),
      ("RateLimit-Policy", header("string", "Quota and window of each limit: `\"key-requests\";q=600;w=60`.")),
    ])
  }
}

extension JSONValue: ExpressibleByStringLiteral {
  package init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue {
  static func make(_ members: [(String, JSONValue)]) -> JSONValue {
    .object(members.map { JSONMember($0.0, $0.1) })
  }
  static func reference(_ schema: String) -> JSONValue {
    .make([("$ref", .string("#/components/schemas/\(schema)"))])
  }
}
