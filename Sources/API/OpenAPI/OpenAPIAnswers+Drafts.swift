import Domain
import Store

/// Schemas of counts, drafts and test lists.
extension OpenAPIAnswers {
  static let draftSchemas: [JSONMember] = [
    JSONMember("Draft", draft), JSONMember("DraftSummary", draftSummary),
    JSONMember("DraftPage", page("DraftSummary")),
    JSONMember("DraftCount", draftCount), JSONMember("Forecast", forecast),
    JSONMember("Tests", open(["items"], [("items", list("TestSent"))])),
    JSONMember("TestSent", testSent), JSONMember("TestList", testList),
    JSONMember("TestListPage", open(["items"], [("items", list("TestList"))])),
  ]

  private static let draftFields: [(String, JSONValue)] = [
    ("id", text), ("name", text), ("version", count), ("created_at", time), ("updated_at", time), ("copy_of", text),
    ("sending_as", text), ("edited_by", text), ("approved_by", text), ("approved_at", time),
  ]
  private static let draftSummary = open(["id", "version", "created_at", "updated_at"], draftFields)
  private static let draft = open(
    ["id", "version", "created_at", "updated_at", "message", "missing", "warnings"],
    draftFields + [
      ("message", .make([("type", "object")])), ("missing", list("Violation")), ("warnings", list("Warning")),
    ])
  private static let testSent = open(
    ["id", "state", "targets", "warnings"],
    [
      ("variant", text), ("id", text), ("state", words(MessageState.allCases.map(\.rawValue))), ("targets", count),
      ("warnings", list("Warning")),
    ])
  private static let testList = open(
    ["name"],
    [
      ("name", text), ("devices", texts), ("users", texts),
      ("tokens", .make([("type", "array"), ("items", .reference("Token"))])),
    ])
  private static let countFields: [(String, JSONValue)] = [
    ("total", count),
    (
      "by_provider",
      .make([
        ("type", "array"), ("items", open(["provider", "count"], [("provider", text), ("count", count)])),
      ])
    ),
    (
      "by_platform",
      .make([
        ("type", "array"), ("items", open(["count"], [("platform", text), ("count", count)])),
      ])
    ),
  ]
  static let audienceCount = open(
    ["audience", "reach", "total", "by_provider", "by_platform", "forecast", "warnings"],
    [("audience", text), ("reach", words(Reach.allCases.map(\.rawValue)))] + countFields + [
      ("forecast", .reference("Forecast")), ("warnings", list("Warning")),
    ])
  /// What a message would come to.
  private static let forecast = open(
    ["device_count", "targets", "excluded", "would_be_sent", "by_provider", "estimated"],
    [
      ("device_count", count), ("targets", count),
      (
        "excluded",
        .make([
          ("type", "array"),
          (
            "items",
            open(
              ["reason", "count", "detail"],
              [
                ("outcome", words(Outcome.allCases.map(\.rawValue))), ("reason", text), ("count", count),
                ("detail", text),
              ])
          ),
        ])
      ),
      ("would_be_sent", count),
      (
        "by_provider",
        .make([
          ("type", "array"), ("items", open(["provider", "count"], [("provider", text), ("count", count)])),
        ])
      ),
      (
        "waiting",
        .make([
          ("type", "array"),
          (
            "items",
            open(
              ["reason", "count", "first_at", "last_at"],
              [("reason", text), ("count", count), ("first_at", time), ("last_at", time)])
          ),
        ])
      ),
      ("clock_passed", count), ("estimated", flag), ("sample_size", count),
    ])
  private static let draftCount = open(
    ["forecast", "warnings"],
    [
      ("starts_at", time), ("starts_at_local", text), ("starts_at_zone", text), ("forecast", .reference("Forecast")),
      ("approval", open(["above", "is_needed"], [("above", count), ("is_needed", flag)])),
      ("warnings", list("Warning")),
    ])
}
