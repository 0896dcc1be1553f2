import Domain

/// Live Activities in `aps` (protocols/apns.md section 5): the same for an activity's token, a push-to-start token and
/// a channel.
extension APNsPayload {
  static func activity(
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
    if activity.activityID != nil {
      warnings.append(
        RenderWarning("/live_activity/activity_id", "apns: the token names the activity", isLeftOut: true))
    }
    return aps
  }

  /// Title and body are texts or keys, never both, and the sound goes with them.
  private static func said(_ notification: Notification, _ warnings: inout [RenderWarning]) -> [JSONMember] {
    var alert: [JSONMember] = []
    alert.set("title", text(notification.title, notification.titleKey, notification.titleArgs, "title", &warnings))
    alert.set("body", text(notification.body, notification.bodyKey, notification.bodyArgs, "body", &warnings))
    alert.set("sound", notification.sound?.name)
    return alert
  }

  private static func text(
    _ text: String?, _ key: String?, _ arguments: [String], _ field: String, _ warnings: inout [RenderWarning]
  ) -> JSONValue? {
    guard let key else { return text.map(JSONValue.string) }
    if text != nil {
      warnings.append(RenderWarning("/notification/\(field)", "apns: its key is sent in its place", isLeftOut: true))
    }
    return .object([
      JSONMember("loc-key", .string(key)), JSONMember("loc-args", .array(arguments.map(JSONValue.string))),
    ])
  }
}
