import Audience
import Domain
import Intake

/// Schemas of what clients send. A test holds their fields against Intake's.
package enum OpenAPIRequests {
  static let schemas: [JSONMember] = plain.map { JSONMember($0.key, described($0.value, as: $0.key)) }

  private static let plain: [JSONMember] = [
    JSONMember("Message", message), JSONMember("BulkMessage", bulkMessage),
    JSONMember("Replay", replay), JSONMember("Schedule", schedule), JSONMember("DraftSending", draftSending),
    JSONMember("QuietHours", quietHours),
    JSONMember("Cap", cap), JSONMember("Recipients", recipients), JSONMember("Token", token),
    JSONMember("Channel", channel),
    JSONMember("Notification", notification), JSONMember("Sound", sound), JSONMember("Button", button),
    JSONMember("LocalizedText", localized), JSONMember("LiveActivity", liveActivity),
    JSONMember("WebLook", web), JSONMember("FileProvider", fileProvider), JSONMember("MDM", mdm),
    JSONMember("Overrides", overrides), JSONMember("APNsOverrides", apnsOverrides),
    JSONMember("FCMOverrides", fcmOverrides), JSONMember("Durability", durability),
    JSONMember("ErrorBrake", errorBrake),
    JSONMember("Variant", variant),
    JSONMember("DeviceRegistration", device), JSONMember("ImportedDevice", importedDevice),
    JSONMember("TagEdit", tagEdit), JSONMember("UserTags", userTags), JSONMember("ChannelRequest", channelRequest),
    JSONMember("DraftToKeep", draft), JSONMember("Test", test), JSONMember("TestListToKeep", testList),
    JSONMember("AudienceToCount", audienceToCount), JSONMember("AudienceToKeep", audienceToKeep),
    JSONMember("KeyToMake", newKey), JSONMember("KeyEdit", keyEdit), JSONMember("KeyRotation", keyRotation),
  ]

  // MARK: Objects

  private static let message = closed(
    ["to"],
    [
      ("to", .reference("Recipients")),
      ("kind", choice(Kind.self)),
      ("notification", .reference("Notification")),
      (
        "data",
        free()
      ),
      ("content_available", flag()),
      ("mutable_content", flag()),
      ("encrypted_body", text(5_120)),
      ("live_activity", .reference("LiveActivity")),
      ("file_provider", .reference("FileProvider")),
      ("mdm", .reference("MDM")),
      ("priority", choice(Priority.self)),
      (
        "ttl",
        whole(0...Int64(Message.maximumTTL))
      ),
      (
        "collapse_key",
        text(64)
      ),
      ("ordered", flag()),
      ("send_at", text(64, sendAtNote)),
      ("send_at_local", text(64, sendAtLocalNote)),
      ("error_brake", .reference("ErrorBrake")),
      ("rate_per_second", whole(1...Message.maximumRate)),
      (
        "quiet_hours",
        .make([
          (
            "oneOf",
            .array([.reference("QuietHours"), .make([("type", "boolean"), ("const", .bool(false))])])
          ), ("description", "Replaces the app's quiet hours; false: no quiet hours."),
        ])
      ),
      ("cap", .reference("Cap")),
      ("variants", list(.reference("Variant"), maximum: Message.maximumVariants)),
      ("holdout", percent("Percentage of devices that get nothing. With the weights of `variants` it adds up to 100.")),
      ("reach", choice(Reach.self)),
      ("onesignal_targeting", choice(OneSignalTargeting.self)),
      ("topic", text(64)),
      ("name", text(Message.longestName)),
      ("labels", part("Up to 32 names, each with a string, a number or a boolean; stored with the message.")),
      ("analytics_label", text(50, pattern: "^[a-zA-Z0-9._~%-]+$")),
      ("providers", list(text(32), maximum: 16)),
      (
        "keep_receipts",
        flag()
      ),
      ("durability", .reference("Durability")),
      ("overrides", .reference("Overrides")),
    ])

  private static let sendAtNote = "When to send, with its offset: 2026-12-01T09:00:00+01:00. At most 90 days ahead."
  private static let sendAtLocalNote = "When to send by each device's own clock, without offset: 2026-12-01T09:00:00."
  private static let schedule = closed(
    anyOf: ["send_at", "send_at_local"],
    [
      ("send_at", text(64, sendAtNote)), ("send_at_local", text(64, sendAtLocalNote)),
      (
        "version",
        whole(
          1...Int64(Int32.max), "The version that you read; the change is refused if the message has another version.")
      ),
    ])
  private static let draftSending = closed(
    [],
    [
      ("send_at", text(64, sendAtNote + " It replaces the time of the draft.")),
      ("send_at_local", text(64, sendAtLocalNote + " It replaces the time of the draft.")),
    ])
  private static let timeOfDay = text(5, pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$")
  private static let quietHours = closed(
    ["from", "to"],
    [
      ("from", timeOfDay), ("to", timeOfDay),
      ("zone", text(64, "One IANA zone for all devices. Default: each device's own zone.")),
      ("else", choice(QuietHours.Action.self)),
    ])
  private static let cap = closed(
    ["max", "per"],
    [("max", whole(1...Int64(Cap.maximum))), ("per", choice(Cap.Period.self))])

  private static let expression = text(
    AudienceExpression.maximumBytes, "Tags and facts: `plan:pro && (lang:de || lang:fr) && !seen:>30d`.")
  private static let filters = list(part("One of OneSignal's filters."), maximum: 200)
  private static let everyone: JSONValue = .make([("type", "boolean"), ("const", .bool(true))])

  private static let audienceToCount = oneOf(
    ["audience", "filters", "everyone"],
    [
      ("audience", expression), ("filters", filters), ("everyone", everyone), ("reach", choice(Reach.self)),
      ("providers", list(text(32), maximum: 16)),
      (
        "message",
        part("The message to forecast, without `to`, `reach` and `providers`. Default: a plain alert.")
      ),
    ])
  private static let audienceToKeep = oneOf(["audience", "filters"], [("audience", expression), ("filters", filters)])

  /// Exactly one of `ways` must be there.
  private static func oneOf(_ ways: [String], _ properties: [(String, JSONValue)]) -> JSONValue {
    guard case .object(let members) = closed([], properties) else { return .null }
    let choices = ways.map { JSONValue.make([("required", .array([.string($0)]))]) }
    return .object(members + [JSONMember("oneOf", .array(choices))])
  }

  private static let replay = closed(
    [],
    [
      (
        "outcomes",
        .make([
          ("type", "array"), ("minItems", .integer(1)), ("description", "Default: failed and expired."),
          (
            "items",
            .make([
              ("type", "string"),
              ("enum", .array(Outcome.allCases.filter { $0 != .accepted }.map { .string($0.rawValue) })),
            ])
          ),
        ])
      ),
      (
        "reasons",
        .make([
          ("type", "array"), ("items", text(512)), ("minItems", .integer(1)), ("maxItems", .integer(64)),
          ("description", "Reasons as in the message's `counts`. Default: any."),
        ])
      ),
      (
        "after",
        text(256, "`next_after` of the previous replay, if that replay was partial; with its `outcomes` and `reasons`.")
      ),
    ])

  /// A line of a bulk send.
  private static let bulkMessage = adding(
    "idempotency_key", text(255, "Like the header `Idempotency-Key` of a single send, for this line."), to: message)

  static func adding(_ name: String, _ field: JSONValue, to object: JSONValue) -> JSONValue {
    guard var members = object.object, var properties = object["properties"]?.object else { return .null }
    properties.append(JSONMember(name, field))
    members.set("properties", .object(properties))
    return .object(members)
  }

  private static let recipients: JSONValue = {
    let properties: [(String, JSONValue)] = [
      ("devices", list(deviceID, maximum: RequestBounds.targets)),
      ("users", list(text(256), maximum: RequestBounds.targets)),
      ("tokens", list(.reference("Token"), maximum: RequestBounds.targets)),
      ("audience", expression),
      ("filters", filters),
      ("activity", text(256)),
      ("channel", .reference("Channel")),
      ("everyone", everyone),
    ]
    guard case .object(let members) = closed([], properties) else { return .null }
    return .object(
      members + [JSONMember("minProperties", .integer(1)), JSONMember("maxProperties", .integer(1))])
  }()

  static let tokenFields: [(String, JSONValue)] = [
    ("provider", text(32)),
    (
      "token",
      .make([
        ("type", .array(["string", "object"])), ("maxLength", .integer(Int64(TokenRules.longest))),
        (
          "description",
          .string(
            "APNs: hex. OneSignal: a subscription id or `alias:<label>:<id>`. Web Push: the browser's subscription, "
              + "`{endpoint, keys}`, as an object or its text. Others: no spaces, slashes, line breaks.")
        ),
      ])
    ),
    ("environment", choice(Environment.self)),
    (
      "bundle_id",
      text(
        300, pattern: "^[A-Za-z0-9.:-]+$",
        "The app of an APNs token. For other tokens leave it out, or repeat the value that a device shows.")
    ),
    ("token_kind", words(TokenKind.allCases.filter(\.isOfDevice).map(\.rawValue))),
    ("live_activity_token", text(512, "FCM: the device's Live Activity token, or its push-to-start token.")),
  ]
  private static let token = closed(["provider", "token"], tokenFields)

  private static let channelRequest = closed(
    [],
    [
      ("bundle_id", text(155, pattern: "^[A-Za-z0-9.-]+$")), ("environment", choice(Environment.self)),
      ("message_storage", choice(MessageStorage.self)),
    ])
  private static let channel = closed(
    ["id"],
    [
      ("id", text(256, pattern: "^[A-Za-z0-9+/=_-]+$")),
      ("bundle_id", text(155, pattern: "^[A-Za-z0-9.-]+$")), ("environment", choice(Environment.self)),
    ])

  private static let notification = closed(
    [],
    [
      ("title", text(4_096)), ("subtitle", text(4_096)), ("body", text(4_096)),
      ("image", https), ("link", link), ("category", text(256)), ("thread_id", text(256)),
      ("badge", whole(0...Int64(Int32.max))),
      ("sound", .make([("oneOf", .array([text(256), .reference("Sound")]))])),
      ("interruption_level", choice(InterruptionLevel.self)),
      ("relevance_score", share),
      ("title_key", text(256)), ("title_args", list(text(), maximum: 32)),
      ("subtitle_key", text(256)), ("subtitle_args", list(text(), maximum: 32)),
      ("body_key", text(256)), ("body_args", list(text(), maximum: 32)),
      ("launch_image", text(256)), ("target_content_id", text(256)), ("filter_criteria", text(256)),
      ("android_channel", text(256)), ("android_visibility", choice(AndroidVisibility.self)),
      ("android_tag", text(256)), ("android_count", whole(0...Int64(Int32.max))), ("android_ticker", text(256)),
      ("icon", text(2_048)),
      ("color", text(pattern: "^#[0-9a-fA-F]{6}$")),
      ("buttons", list(.reference("Button"), maximum: 3)),
      ("web", .reference("WebLook")),
      (
        "localized",
        .make([("type", "object"), ("additionalProperties", .reference("LocalizedText"))])
      ),
    ])
  private static let sound = closed([], [("name", text(256)), ("critical", flag()), ("volume", share)])
  private static let button = closed(
    ["id", "text"], [("id", text(64)), ("text", text(128)), ("icon", text(2_048)), ("url", link)])
  private static let web = closed(
    [],
    [
      ("icon", https), ("badge", https), ("require_interaction", flag()), ("silent", flag()), ("tag", text(256)),
    ])
  private static let localized = closed(
    [], [("title", text(4_096)), ("subtitle", text(4_096)), ("body", text(4_096))])
  private static let liveActivity = closed(
    ["event"],
    [
      ("event", choice(LiveActivity.Event.self)), ("activity_id", text(256)),
      ("content_state", free()), ("attributes_type", text(256)),
      ("attributes", free()),
      ("timestamp", whole(0...4_102_444_800)),
      ("stale_date", whole(0...4_102_444_800)), ("dismissal_date", whole(0...4_102_444_800)),
      ("relevance_score", .make([("type", "number")])),
      ("input_push_token", flag()),
      (
        "input_push_channel",
        text(256, pattern: "^[A-Za-z0-9+/=_-]+$")
      ),
    ])
  private static let fileProvider = closed(
    ["container_identifier"], [("container_identifier", text(256)), ("domain", text(256))])
  private static let mdm = closed(["push_magic"], [("push_magic", text(256))])
  private static let overrides = closed(
    [],
    [
      ("apns", .reference("APNsOverrides")), ("fcm", .reference("FCMOverrides")),
      ("onesignal", free("", .oneSignal)),
    ])
  private static let apnsOverrides = closed(
    [],
    [
      ("aps", free()),
      (
        "headers",
        .make([
          ("type", "object"), ("maxProperties", .integer(Int64(HeaderBounds.count))), ("additionalProperties", text()),
          ("propertyNames", .make([("pattern", "^[a-z0-9!#$%&'*+.^_`|~-]+$")])),
        ])
      ),
    ])
  private static let fcmOverrides = closed(
    [],
    [
      ("android", free()), ("webpush", free()), ("apns", free()),
      ("validate_only", flag()),
    ])
  private static let variant = closed(
    ["name", "weight"],
    [
      ("name", text(32, pattern: "^[!-.0-~]+$")), ("weight", percent("Of the devices.")),
      ("notification", part("Members that replace the message's.")),
      ("data", free()),
    ])
  private static let durability = closed(
    [],
    [
      (
        "replicas",
        whole(0...16)
      )
    ])

  private static let errorBrake = closed(
    [], [("share", share), ("minimum", whole(1...Int64(ErrorBrake.minimums.upperBound)))])

  private static let draft = closed(
    ["message"],
    [
      ("name", text(128)),
      ("message", part("Like `Message`, but it may be incomplete; the fields that it has must be valid.")),
    ])
  private static let test = closed(
    ["lists"],
    [
      ("lists", list(text(64), maximum: 16)),
      ("variant", text(32, "One of the draft's variants. Default: all of them, each as a separate message.")),
    ])
  private static let testList = closed(
    [],
    [
      ("devices", list(deviceID, maximum: TestRecipients.maximum)),
      ("users", list(text(256), maximum: TestRecipients.maximum)),
      ("tokens", list(.reference("Token"), maximum: TestRecipients.maximum)),
    ])
}
