import Domain
import Intake
import Store

/// Schemas of what the API answers. A test holds their fields against real answers.
enum OpenAPIAnswers {
  static let schemas: [JSONMember] =
    draftSchemas + keySchemas + statusSchemas + [
      JSONMember("Problem", problem), JSONMember("Violation", violation), JSONMember("Warning", warning),
      JSONMember("Accepted", accepted), JSONMember("Completed", completed),
      JSONMember("DryRunOrCompleted", .make([("anyOf", .array([.reference("DryRun"), .reference("Completed")]))])),
      JSONMember("MessageResult", messageResult), JSONMember("DryRun", dryRun),
      JSONMember("RequestSample", sample),
      JSONMember("MessageReport", report),
      JSONMember("MessagePage", page("MessageReport")), JSONMember("Delivery", delivery),
      JSONMember("Attempt", attempt),
      JSONMember("DeliveryPage", page("Delivery", more: [("not_listed", notListed)])), JSONMember("Device", device),
      JSONMember("DevicePage", page("Device")),
      JSONMember("Registered", registered), JSONMember("LineResult", lineResult), JSONMember("User", user),
      JSONMember("TimelineEntry", timelineEntry),
      JSONMember("Timeline", page("TimelineEntry")),
      JSONMember("Tags", tags),
      JSONMember("TagCount", tagCount), JSONMember("TagPage", page("TagCount")),
      JSONMember("PruneList", open(["items"], [("items", list("PruneReview"))])),
      JSONMember("PruneReview", pruneReview),
      JSONMember("PrunesApplied", prunesApplied), JSONMember("PrunesDiscarded", prunesDiscarded),
      JSONMember("PrunesUndone", open(["revived", "kept"], [("revived", count), ("kept", count)])),
      JSONMember("UserDeleted", userDeleted), JSONMember("NamedAudience", namedAudience),
      JSONMember("AudienceDeleted", open(["name", "warnings"], [("name", text), ("warnings", list("Warning"))])),
      JSONMember("BroadcastChannel", channel), JSONMember("BroadcastChannelPage", page("BroadcastChannel")),
      JSONMember("NamedAudiencePage", page("NamedAudience")),
      JSONMember("AudienceCount", audienceCount),
      JSONMember("AuditEntry", auditEntry), JSONMember("AuditPage", page("AuditEntry")),
      JSONMember("Health", open(["status"], [("status", words(["ok"]))])), JSONMember("Readiness", readiness),
    ]

  // MARK: Shapes

  static func open(_ required: [String], _ properties: [(String, JSONValue)]) -> JSONValue {
    .make([
      ("type", "object"), ("required", .array(required.map { .string($0) })), ("properties", .make(properties)),
    ])
  }
  static let text: JSONValue = .make([("type", "string")])
  static let count: JSONValue = .make([("type", "integer"), ("minimum", .integer(0))])
  static let number: JSONValue = .make([("type", "number")])
  static let flag: JSONValue = .make([("type", "boolean")])
  static let time: JSONValue = .make([("type", "string"), ("format", "date-time")])
  static func list(_ schema: String) -> JSONValue {
    .make([("type", "array"), ("items", .reference(schema))])
  }
  static func words(_ words: [String]) -> JSONValue {
    .make([("type", "string"), ("enum", .array(words.map { .string($0) }))])
  }
  static func page(_ schema: String, more: [(String, JSONValue)] = []) -> JSONValue {
    open(
      ["items", "next_cursor"],
      [
        ("items", list(schema)),
        (
          "next_cursor",
          .make([("type", .array(["string", "null"])), ("description", "null on the last page; others may be empty.")])
        ),
        (
          "partial",
          .make([
            ("type", "boolean"),
            (
              "description",
              .string(
                "true: the search for this page ended before the page was full, perhaps while it was still empty. "
                  + "Request the next page with `next_cursor`.")
            ),
          ])
        ),
      ] + more)
  }

  // MARK: Objects

  private static let notListed: JSONValue = .make([
    ("type", "object"), ("required", .array([.string("reason"), .string("count")])),
    (
      "description",
      "On the last page: members of an audience that are not listed yet, because the time of their part has not come."
    ),
    ("properties", .make([("reason", text), ("count", count), ("first_at", time), ("last_at", time)])),
  ])

  private static let channel = open(
    ["id", "environment"],
    [
      ("id", text), ("environment", words(Environment.allCases.map(\.rawValue))), ("bundle_id", text),
      ("message_storage", words(MessageStorage.allCases.map(\.rawValue))),
    ])
  private static let lineResult = open(
    ["line"],
    [
      ("line", count), ("id", text), ("registration", text), ("moved_from", text),
      ("reason", text), ("dry_run", flag), ("warnings", list("Warning")),
      ("problem", .reference("Problem")),
    ])
  private static let messageResult = open(
    ["line"],
    [
      ("line", count), ("id", text), ("state", words(MessageState.allCases.map(\.rawValue))), ("targets", count),
      ("next_after", text), ("warnings", list("Warning")), ("replayed", flag), ("problem", .reference("Problem")),
    ])
  private static let dryRun = open(
    ["dry_run", "targets", "forecast", "requests", "warnings"],
    [
      ("dry_run", flag), ("targets", count), ("starts_at", time), ("starts_at_local", text), ("starts_at_zone", text),
      ("forecast", .reference("Forecast")), ("requests", list("RequestSample")),
      ("warnings", list("Warning")),
    ])
  private static let sample = open(
    ["provider", "credential", "token_kind", "method", "url", "headers", "body", "bytes"],
    [
      ("provider", text), ("credential", text), ("variant", text), ("device", text),
      ("token_kind", words(TokenKind.allCases.map(\.rawValue))), ("method", text), ("url", text),
      ("headers", .make([("type", "object"), ("additionalProperties", text)])), ("body", .make([("type", "object")])),
      ("bytes", count), ("bytes_left", count),
    ])
  private static let problem = open(
    ["type", "title", "status", "code", "detail", "retryable"],
    [
      ("type", words(ProblemCode.allCases.map(\.type))), ("title", text), ("status", count),
      ("code", words(ProblemCode.allCases.map(\.rawValue))), ("detail", text), ("retryable", flag),
      ("violations", list("Violation")), ("id", text),
      ("violated_policies", .make([("type", "array"), ("items", text)])),
    ])
  private static let violation = open(
    ["pointer", "code", "detail"],
    [
      ("pointer", text), ("parameter", text),
      (
        "code",
        .make([
          ("type", "string"),
          ("examples", .array(Violation.Code.allCases.map { .string($0.rawValue) })),
        ])
      ), ("detail", text), ("column", count),
    ])
  private static let warning = open(
    ["pointer", "code", "detail"], [("pointer", text), ("code", text), ("detail", text)])
  private static let accepted = open(["id", "state", "targets", "warnings"], acceptedFields)
  private static let completed = open(
    ["id", "state", "targets", "warnings", "report"], acceptedFields + [("report", .reference("MessageReport"))])
  private static let acceptedFields: [(String, JSONValue)] = [
    ("id", text), ("state", words(MessageState.allCases.map(\.rawValue))), ("targets", count),
    ("starts_at", time), ("starts_at_zone", text), ("replay_of", text), ("next_after", text),
    ("warnings", list("Warning")),
  ]
  private static let report = open(
    ["id", "kind", "state", "accepted_at", "targets", "progress", "outcomes", "counts"],
    [
      ("id", text), ("name", text), ("topic", text), ("audience", text),
      (
        "audience_expression",
        .make([
          ("type", "string"),
          ("description", "The audience with its named audiences as they were when the message was accepted."),
        ])
      ), ("kind", words(Kind.allCases.map(\.rawValue))),
      ("state", words(MessageState.allCases.map(\.rawValue))), ("accepted_at", time), ("starts_at", time),
      ("starts_at_local", text), ("starts_at_zone", text), ("version", count), ("completed_at", time),
      ("duration_ms", count), ("replay_of", text),
      (
        "replayed_by",
        .make([
          ("type", "array"), ("items", text),
          ("description", "Its replays and the replays of these, a hundred at most, oldest first. Not in lists."),
        ])
      ), ("draft_of", text), ("test_of", text), ("targets", count),
      ("labels", .make([("type", "object")])), ("no_recipients", flag),
      ("first_attempt_at", time), ("last_outcome_at", time),
      (
        "outcomes_per_second",
        .make([
          ("type", "number"),
          ("description", "Measured: ended deliveries a second, from the first attempt to the last outcome so far."),
        ])
      ),
      ("predicted_end_at", time),
      (
        "pace_per_second",
        .make([("type", "integer"), ("description", "The message's own `rate_per_second`: the limit that was set.")])
      ), ("paused_at", time), ("paused_reason", text),
      ("sent", count), ("not_sent", count),
      (
        "progress",
        open(
          ["final", "retrying", "pending", "blocked"],
          [("final", count), ("retrying", count), ("pending", count), ("blocked", count)])
      ),
      (
        "blocked_by",
        .make([
          ("type", "array"), ("items", open(["reason", "count"], [("reason", text), ("count", count)])),
        ])
      ),
      (
        "waiting_for",
        .make([
          ("type", "array"),
          ("description", "Conditions of credentials, and how many deliveries wait or are retried because of them."),
          (
            "items",
            open(
              ["credential", "state", "reason", "began_at", "count"],
              [
                ("credential", text), ("state", words(CredentialCondition.State.allCases.map(\.rawValue))),
                ("reason", text), ("began_at", time), ("next_try_at", time), ("not_before_at", time),
                ("count", count),
              ])
          ),
        ])
      ),
      (
        "waiting_for_time",
        open(
          ["reason", "count"],
          [("reason", text), ("count", count), ("first_at", time), ("last_at", time)])
      ),
      (
        "outcomes",
        open(Outcome.allCases.map(\.rawValue), Outcome.allCases.map { ($0.rawValue, count) })
      ),
      (
        "counts",
        .make([
          ("type", "array"),
          (
            "items",
            open(
              ["provider", "outcome", "count"],
              [
                ("provider", text), ("outcome", words(Outcome.allCases.map(\.rawValue))), ("reason", text),
                ("platform", text), ("variant", text), ("count", count),
              ])
          ),
        ])
      ),
      (
        "variants",
        .make([
          ("type", "array"),
          (
            "items",
            open(
              ["name", "weight", "final", "outcomes"],
              [
                ("name", text), ("weight", number), ("final", count),
                ("outcomes", open(Outcome.allCases.map(\.rawValue), Outcome.allCases.map { ($0.rawValue, count) })),
              ])
          ),
        ])
      ), ("holdout", number),
      (
        "warnings",
        .make([("type", "array"), ("items", .reference("Warning")), ("description", "Where its time was changed.")])
      ), ("dry_run", flag), ("forecast", .reference("Forecast")),
    ])
  private static let deliveryFields: [(String, JSONValue)] = [
    ("device", text), ("provider", text), ("platform", text), ("variant", text),
    ("state", words(DeliveryState.allCases.map(\.rawValue) + Outcome.allCases.map(\.rawValue))),
    ("reason", text), ("provider_id", text), ("request_id", text), ("next_attempt_at", time), ("overtaken", flag),
    ("attempts", list("Attempt")), ("attempts_omitted", count),
    ("earliest_attempt_at", time), ("latest_attempt_at", time), ("moved_to", text),
  ]
  private static let delivery = open(["state", "overtaken", "attempts"], deliveryFields + [("user", text)])
  private static let timelineEntry = open(
    ["message", "kind", "accepted_at", "to", "state", "overtaken", "attempts"],
    [
      ("message", text), ("name", text), ("kind", words(Kind.allCases.map(\.rawValue))), ("accepted_at", time),
      ("to", words(["listed", "audience"])),
    ] + deliveryFields)
  private static let attempt = open(
    ["attempted_at", "verdict", "http_status"],
    [("attempted_at", time), ("verdict", text), ("reason", text), ("http_status", count)])

  private static let deviceFields: [(String, JSONValue)] = [
    ("id", text), ("provider", text), ("token", text), ("token_kind", words(TokenKind.allCases.map(\.rawValue))),
    ("environment", words(Environment.allCases.map(\.rawValue))), ("bundle_id", text), ("platform", text),
    ("app_version", text), ("language", text), ("tz", text), ("user", text),
    ("tags", .make([("type", "array"), ("items", text)])), ("attributes", .make([("type", "object")])),
    ("enabled", flag), ("live_activity_token", text), ("activity_id", text),
    ("user_tags", .make([("type", "array"), ("items", text)])),
    ("registered_at", time),
    ("last_seen_at", time), ("authorization", .make([("type", "array"), ("items", text)])),
    ("status", words(StoredDevice.Status.allCases.map(\.rawValue))),
    (
      "tombstone",
      open(["reason", "dead_at"], [("reason", text), ("dead_at", time), ("credential", text), ("message", text)])
    ),
  ]
  private static let device = open(
    [
      "id", "provider", "token", "token_kind", "environment", "tags", "attributes", "enabled", "registered_at",
      "status",
    ], deviceFields)
  /// A `register` key is told id, registration and warnings only.
  private static let registered = open(
    ["id", "registration", "warnings"],
    deviceFields + [
      ("registration", words(["created", "updated", "revived", "moved"])), ("moved_from", text),
      ("warnings", list("Warning")),
    ])
  private static let user = open(
    ["user", "tags", "devices"], [("user", text), ("tags", texts), ("devices", list("Device"))])
  static let texts: JSONValue = .make([("type", "array"), ("items", text)])
  private static let tags = open(
    ["tags", "warnings"], [("id", text), ("user", text), ("tags", texts), ("warnings", list("Warning"))])
  private static let tagCount = open(["tag", "device_count"], [("tag", text), ("device_count", count)])
  private static let userDeleted = open(
    ["user", "devices_deleted"], [("user", text), ("devices_deleted", count)])
  private static let namedAudience = open(
    ["name", "audience"], [("name", text), ("audience", text), ("warnings", list("Warning"))])
  private static let readiness = open(
    ["status", "reasons"],
    [
      ("status", words(["ready", "degraded", "unavailable"])),
      (
        "reasons",
        .make([
          ("type", "array"),
          (
            "items",
            open(
              ["code", "detail"],
              [
                (
                  "code",
                  words([
                    "store_unavailable", "credential_waiting", "credential_failing", "credential_unreachable",
                    "credential_blocked", "prunes_held", "partitions_unowned",
                    "configuration_refused", "certificate_refused", "clock_skew",
                  ])
                ), ("detail", text),
              ])
          ),
        ])
      ), ("partition_count", count), ("unowned_count", count),
      (
        "workers",
        .make([
          ("type", "array"),
          (
            "items",
            open(
              ["worker", "partitions"],
              [
                ("worker", text), ("host", text), ("process", count), ("heartbeat_age_ms", count),
                ("partitions", .make([("type", "array"), ("items", count)])),
              ])
          ),
        ])
      ),
      (
        "waiting_prunes",
        .make([("type", "array"), ("items", open(["credential", "count"], [("credential", text), ("count", count)]))])
      ),
    ])
}
