import Domain
import Store

/// Schemas of API keys.
extension OpenAPIAnswers {
  static let keySchemas: [JSONMember] = [
    JSONMember("APIKey", open(required, fields)), JSONMember("APIKeyPage", page("APIKey")),
    JSONMember(
      "NewSecret",
      open(
        ["secret"] + required,
        [
          (
            "secret",
            .make([
              ("type", "string"), ("pattern", "^fan_[0-9A-Za-z]{36}$"),
              ("description", "What requests send. It is shown only this once; only its hash is stored."),
            ])
          )
        ] + fields)),
  ]

  private static let required = ["id", "app", "name", "scopes", "addresses", "created_at", "secrets"]
  private static let fields: [(String, JSONValue)] = [
    ("id", text), ("app", text), ("name", text),
    ("scopes", .make([("type", "array"), ("items", words(Scope.allCases.map(\.rawValue)))])),
    ("addresses", .make([("type", "array"), ("items", text)])), ("created_at", time), ("expires_at", time),
    (
      "last_used_at",
      .make([("type", "string"), ("format", "date-time"), ("description", "To the minute. Missing: never.")])
    ),
    (
      "secrets",
      .make([
        ("type", "array"), ("description", "One, or two for some time after a rotation; the newest first."),
        (
          "items",
          open(
            ["created_at"],
            [
              ("created_at", time),
              (
                "expires_at",
                .make([
                  ("type", "string"), ("format", "date-time"), ("description", "For a former secret: when it expires."),
                ])
              ),
            ])
        ),
      ])
    ),
  ]
}
