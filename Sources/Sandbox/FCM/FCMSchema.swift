/// The message resource as tables: every field of the sheet with its form.
enum FCMSchema {
  indirect enum Form: Sendable {
    case string
    case bool
    case int32
    case float
    case duration
    case timestamp
    /// Values, and the type's name in error texts.
    case choice(Set<String>, type: String)
    case texts
    /// Any JSON object.
    case object
    case list(Form)
    case message([String: Form])
  }

  /// `{"message": …, "validate_only": …}`
  static let request: [String: Form] = ["message": .message(message), "validate_only": .bool]

  static let message: [String: Form] = [
    "name": .string, "data": .texts, "notification": .message(notification), "android": .message(android),
    "android_v2": .message(androidV2), "webpush": .message(webpush), "apns": .message(apns),
    "fcm_options": .message(labelled), "fid": .string, "token": .string, "topic": .string, "condition": .string,
  ]
  static let notification: [String: Form] = ["title": .string, "body": .string, "image": .string]
  static let labelled: [String: Form] = ["analytics_label": .string]

  private static let androidCommon: [String: Form] = [
    "collapse_key": .string, "ttl": .duration, "restricted_package_name": .string, "data": .texts,
    "fcm_options": .message(labelled), "direct_boot_ok": .bool, "bandwidth_constrained_ok": .bool,
    "restricted_satellite_ok": .bool,
  ]
  static let android = androidCommon.merging([
    "priority": .choice(
      ["NORMAL", "HIGH", "normal", "high"], type: "AndroidConfig.AndroidMessagePriority"),
    "notification": .message(androidNotification),
  ]) { _, new in new }
  static let androidV2 = androidCommon.merging([
    "remote_notification": .message([
      "notification": .message(androidNotificationV2), "mutable_content": .bool, "use_as_v1_data_message": .bool,
    ]),
    "background_sync": .message([:]),
  ]) { _, new in new }

  private static let androidNotificationCommon: [String: Form] = [
    "title": .string, "body": .string, "icon": .string, "color": .string, "sound": .string, "tag": .string,
    "click_action": .string, "body_loc_key": .string, "body_loc_args": .list(.string), "title_loc_key": .string,
    "title_loc_args": .list(.string), "channel_id": .string, "ticker": .string, "sticky": .bool,
    "event_time": .timestamp, "local_only": .bool,
    "notification_priority": .choice(
      [
        "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX",
      ], type: "AndroidNotification.NotificationPriority"),
    "default_sound": .bool, "default_vibrate_timings": .bool, "default_light_settings": .bool,
    "vibrate_timings": .list(.duration),
    "visibility": .choice(
      ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"], type: "AndroidNotification.Visibility"),
    "notification_count": .int32, "light_settings": .message(lightSettings), "image": .string,
  ]
  static let androidNotification = androidNotificationCommon.merging([
    "proxy": .choice(
      ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"], type: "AndroidNotification.Proxy"),
    "bypass_proxy_notification": .bool,
  ]) { _, new in new }
  static let androidNotificationV2 = androidNotificationCommon.merging(["id": .int32]) { _, new in new }
  static let lightSettings: [String: Form] = [
    "color": .message(["red": .float, "green": .float, "blue": .float, "alpha": .float]),
    "light_on_duration": .duration, "light_off_duration": .duration,
  ]

  static let webpush: [String: Form] = [
    "headers": .texts, "data": .texts, "notification": .object,
    "fcm_options": .message(["link": .string, "analytics_label": .string]),
  ]
  static let apns: [String: Form] = [
    "headers": .texts, "payload": .object, "fcm_options": .message(["analytics_label": .string, "image": .string]),
    "live_activity_token": .string,
  ]
}
