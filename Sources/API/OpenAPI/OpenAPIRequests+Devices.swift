import Domain
import Intake
import Store

/// Devices and their tags.
extension OpenAPIRequests {
  static let tags = list(text(Tag.maximumBytes), maximum: Tag.maximumPerDevice)
  static let tagEdit = closed([], [("add", tags), ("remove", tags), ("replace", tags)])
  static let userTags = closed(["tags"], [("tags", tags)])

  static let device = closed(
    ["provider", "token"],
    [
      ("id", deviceID),
      (
        "installation",
        text(
          InstallationID.longest, pattern: "^[!-.0-~]{\(InstallationID.shortest),}$",
          "Replaces `id`: a random secret that the app created for this installation. The installation's next token "
            + "of the same kind replaces the previous one.")
      ),
    ] + tokenFields + [
      ("platform", text(32, pattern: "^[A-Za-z0-9_]+$")), ("app_version", text(64)),
      ("language", text(35, "A BCP 47 tag.")), ("tz", text(64, "An IANA zone name.")),
      (
        "user",
        .make([
          ("type", .array(["string", "null"])), ("maxLength", .integer(256)),
          (
            "description",
            "null removes the device from its user. With `Fanfare-Identity`: leave it out, or repeat the token's user."
          ),
        ])
      ),
      ("tags", tags),
      (
        "attributes",
        .make([
          ("type", "object"),
          ("additionalProperties", .make([("type", .array(["string", "number", "boolean"]))])),
        ])
      ),
      ("enabled", flag("Default: true for a new device; unchanged for a known one.")), ("activity_id", text(256)),
      ("last_seen_at", time()),
      (
        "authorization",
        .make([
          ("oneOf", .array([choice(Permission.self), list(choice(Permission.self), maximum: 16)])),
          ("description", "Which notifications the system allows the app: one status, and additional permissions."),
        ])
      ),
    ])
  /// A line of an import, and of an export.
  static let importedDevice = [
    ("registered_at", time("When the app registered it, not in the future. Default: now.")),
    (
      "status",
      .make([
        ("type", "string"), ("enum", .array(StoredDevice.Status.allCases.map { .string($0.rawValue) })),
        ("description", "As an export writes it: `disabled` is `enabled: false`; a line with `dead` is skipped."),
      ])
    ),
    ("tombstone", part("As an export writes it; it is ignored.")),
    ("user_tags", list(text(), maximum: Tag.maximumPerDevice)),
  ].reduce(device) { adding($1.0, $1.1, to: $0) }
}
