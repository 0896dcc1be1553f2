import Domain

/// `apns` of a Live Activity: the payload is built as for APNs itself (protocols/fcm.md section 3.4). Its token stands
/// last in the block and is each device's own.
enum AppleActivity {
  static let tokenKey = "live_activity_token"

  static func members(
    _ message: Message, _ activity: LiveActivity, _ startedAt: WallTime, _ warnings: inout [RenderWarning]
  ) -> [JSONMember] {
    var payload = [JSONMember("aps", .object(aps(activity, message.notification, &warnings)))]
    payload.set(message.data)
    warn(about: message, activity, &warnings)
    return [
      JSONMember("headers", .object(AppleBlock.headers(message, startedAt, &warnings))),
      JSONMember("payload", .object(payload)),
    ]
  }

  private static func aps(
    _ activity: LiveActivity, _ notification: Notification?, _ warnings: inout [RenderWarning]
  ) -> [JSONMember] {
    var aps = [
      JSONMember("timestamp", .integer(activity.timestamp)), JSONMember("event", .string(activity.event.rawValue)),
    ]
    if activity.event != .end || !activity.contentState.isEmpty {
      aps.set("content-state", .object(activity.contentState))
    }
    if activity.event == .start {
      aps.set("attributes-type", activity.attributesType)
      aps.set("attributes", .object(activity.attributes))
      if activity.inputPushToken { aps.set("input-push-token", 1) }
      aps.set("input-push-channel", activity.inputPushChannel)
    }
    aps.set("stale-date", activity.staleDate.map(JSONValue.integer))
    aps.set("dismissal-date", activity.dismissalDate.map(JSONValue.integer))
    aps.set("relevance-score", activity.relevanceScore.map(JSONValue.double))
    if let notification { aps.set("alert", members: said(notification, &warnings)) }
    return aps
  }

  /// Texts or their keys, and the sound with them.
  private static func said(_ notification: Notification, _ warnings: inout [RenderWarning]) -> [JSONMember] {
    func text(_ text: String?, _ key: String?, _ arguments: [String], _ field: String) -> JSONValue? {
      guard let key else { return text.map(JSONValue.string) }
      if text != nil {
        warnings.append(RenderWarning("/notification/\(field)", "fcm: its key is sent in its place", isLeftOut: true))
      }
      return .object([
        JSONMember("loc-key", .string(key)), JSONMember("loc-args", .array(arguments.map(JSONValue.string))),
      ])
    }
    var alert: [JSONMember] = []
    alert.set("title", text(notification.title, notification.titleKey, notification.titleArgs, "title"))
    alert.set("body", text(notification.body, notification.bodyKey, notification.bodyArgs, "body"))
    alert.set("sound", notification.sound?.name)
    return alert
  }

  private static func warn(about message: Message, _ activity: LiveActivity, _ warnings: inout [RenderWarning]) {
    if activity.activityID != nil {
      warnings.append(RenderWarning("/live_activity/activity_id", "fcm: the token names the activity", isLeftOut: true))
    }
    if message.priority == .low {
      warnings.append(RenderWarning("/priority", "fcm: a Live Activity goes with priority 5 instead"))
    }
  }
}
