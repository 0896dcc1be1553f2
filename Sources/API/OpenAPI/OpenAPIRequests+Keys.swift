import Domain
import Intake
import Store

/// API keys.
extension OpenAPIRequests {
  private static let keyFields: [(String, JSONValue)] = [
    ("name", text(KeyReader.longestName, "What the key is for.")),
    ("scopes", list(choice(Scope.self), maximum: Scope.allCases.count)),
    (
      "expires_at",
      .make([
        ("type", .array(["string", "null"])), ("format", "date-time"),
        ("description", "When the key expires. Default, and null: never."),
      ])
    ),
    (
      "addresses",
      .make([
        ("type", "array"), ("items", text(64)), ("maxItems", .integer(Int64(KeyReader.mostAddresses))),
        (
          "description",
          .string(
            "Addresses and networks, such as `192.0.2.7`, `10.0.0.0/8` or `2001:db8::/32`, from which the key is valid. "
              + "Default, and an empty list: all.")
        ),
      ])
    ),
  ]
  static let newKey = closed(["name", "scopes"], keyFields)
  static let keyEdit = closed(anyOf: keyFields.map(\.0), keyFields)
  static let keyRotation = closed(
    [], [("keep", whole(KeyReader.keep, "Seconds that the former secret stays valid. Default: a day."))])
}
