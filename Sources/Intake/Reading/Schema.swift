/// The members that one object of a request may have. The API's description of itself is checked against these.
package struct Schema: Sendable {
  /// How the object is called in a message.
  package let name: String
  package let fields: [String]
  /// The fields by their length in bytes: a name is compared with two or three, which takes less than its hash.
  private let byLength: [[String]]

  init(_ name: String, _ fields: [String]) {
    self.name = name
    self.fields = fields
    var byLength = [[String]](repeating: [], count: (fields.map(\.utf8.count).max() ?? 0) + 1)
    for field in fields { byLength[field.utf8.count].append(field) }
    self.byLength = byLength
  }

  func has(_ field: String) -> Bool {
    let length = field.utf8.count
    return length < byLength.count && byLength[length].contains(field)
  }

  /// The body of `POST /v1/messages`, and the message of a draft.
  package static let message = Schema(
    "message",
    [
      "to", "kind", "notification", "data", "content_available", "mutable_content", "encrypted_body", "live_activity",
      "file_provider", "mdm", "priority", "ttl", "collapse_key", "ordered", "send_at", "send_at_local",
      "rate_per_second", "error_brake", "quiet_hours", "cap", "variants", "holdout",
      "reach", "onesignal_targeting", "topic", "name", "labels", "analytics_label", "providers", "keep_receipts",
      "durability",
      "overrides",
    ])
  /// `to`: a request has exactly one of them.
  package static let recipients = Schema(
    "to", ["devices", "users", "tokens", "audience", "filters", "activity", "channel", "everyone"])
  /// One of `to.tokens`.
  package static let token = Schema(
    "token", ["provider", "token", "environment", "bundle_id", "token_kind", "live_activity_token"])
  package static let channel = Schema("to.channel", ["id", "bundle_id", "environment"])
  /// The body of a request that makes a broadcast channel.
  package static let channelRequest = Schema("channel", ["bundle_id", "environment", "message_storage"])
  package static let notification = Schema(
    "notification",
    [
      "title", "subtitle", "body", "image", "link", "category", "thread_id", "badge", "sound", "interruption_level",
      "relevance_score", "title_key", "title_args", "subtitle_key", "subtitle_args", "body_key", "body_args",
      "launch_image", "target_content_id", "filter_criteria", "android_channel", "android_visibility", "android_tag",
      "android_count", "android_ticker", "icon", "color", "buttons", "web", "localized",
    ])
  package static let web = Schema("notification.web", ["icon", "badge", "require_interaction", "silent", "tag"])
  package static let sound = Schema("sound", ["name", "critical", "volume"])
  package static let button = Schema("button", ["id", "text", "icon", "url"])
  /// One language of `notification.localized`.
  package static let localized = Schema("localized", ["title", "subtitle", "body"])
  package static let liveActivity = Schema(
    "live_activity",
    [
      "event", "activity_id", "content_state", "attributes_type", "attributes", "timestamp", "stale_date",
      "dismissal_date", "relevance_score", "input_push_token", "input_push_channel",
    ])
  package static let fileProvider = Schema("file_provider", ["container_identifier", "domain"])
  package static let mdm = Schema("mdm", ["push_magic"])
  package static let overrides = Schema("overrides", ["apns", "fcm", "onesignal"])
  package static let apnsOverrides = Schema("overrides.apns", ["aps", "headers"])
  package static let fcmOverrides = Schema("overrides.fcm", ["android", "webpush", "apns", "validate_only"])
  package static let quietHours = Schema("quiet_hours", ["from", "to", "zone", "else"])
  package static let cap = Schema("cap", ["max", "per"])
  /// What may change of a message until it starts.
  package static let schedule = Schema("schedule", ["send_at", "send_at_local", "version"])
  /// When a draft is to be sent.
  package static let draftSending = Schema("the body", ["send_at", "send_at_local"])
  /// The body of a request that says all in its path.
  static let nothing = Schema("the body", [])
  package static let replay = Schema("replay", ["outcomes", "reasons", "after"])
  /// One of `variants`.
  package static let variant = Schema("variant", ["name", "weight", "notification", "data"])
  package static let errorBrake = Schema("error_brake", ["share", "minimum"])
  package static let durability = Schema("durability", ["replicas"])
  /// The body of a registration.
  package static let device = Schema(
    "device",
    [
      "id", "provider", "token", "token_kind", "environment", "bundle_id", "platform", "app_version", "language", "tz",
      "user", "tags", "attributes", "enabled", "live_activity_token", "activity_id", "last_seen_at",
      "authorization", "installation",
    ])
  /// A line of `POST /v1/devices/bulk`: also what an export says of a device beside its registration.
  package static let importedDevice = Schema(
    "device", device.fields + ["registered_at", "status", "user_tags", "tombstone"])

  /// An expression that is counted.
  package static let audience = Schema(
    "audience", ["audience", "filters", "everyone", "reach", "providers", "message"])
  /// An expression that is kept under a name.
  package static let namedAudience = Schema("audience", ["audience", "filters"])

  package static let draft = Schema("draft", ["name", "message"])
  package static let test = Schema("test", ["lists", "variant"])
  /// The body of `PUT /v1/test_lists/{name}`.
  package static let testList = Schema("test list", ["devices", "users", "tokens"])

  /// The body of `POST /v1/keys`.
  package static let newKey = Schema("key", ["name", "scopes", "expires_at", "addresses"])
  /// A change of an API key.
  package static let keyEdit = Schema("key", newKey.fields)
  package static let keyRotation = Schema("rotation", ["keep"])

  /// A change of a device's tags.
  package static let tagEdit = Schema("tags", ["add", "remove", "replace"])
  /// All tags of a user.
  package static let userTags = Schema("tags", ["tags"])

  /// Every object whose members are checked: for the list of fields and the API's description.
  package static let all = [
    message, recipients, token, channel, notification, sound, button, web, localized, liveActivity, fileProvider, mdm,
    overrides, apnsOverrides, fcmOverrides, variant, durability, errorBrake, device, importedDevice, channelRequest,
    audience,
    namedAudience, replay, quietHours, cap, schedule,
    tagEdit,
    userTags, draft, test, testList,
    newKey, keyEdit, keyRotation,
  ]

  /// Where a member that is unknown here belongs, if clients are likely to look for it here.
  func belongs(_ field: String) -> String? {
    switch name {
    case "message":
      if Self.notification.has(field) { return "notification.\(field)" }
      if Self.recipients.has(field) { return "to.\(field)" }
      if Self.liveActivity.has(field) { return "live_activity.\(field)" }
      return nil
    default: return nil
    }
  }

  /// The object of a message beside which a member belongs that clients write into it.
  func standsBeside(_ field: String) -> String? {
    ["notification", "to"].contains(name) && Self.message.has(field) ? name : nil
  }
}
