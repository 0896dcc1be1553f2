import Domain
import JSON

/// protocols/onesignal.md section 9: Live Activities have calls of their own. A start goes to subscriptions or aliases
/// as a notification does; an update or end goes to the activity that the path names, and so to all who have it.
extension OneSignalAccount {
  func renderActivity(_ message: Message, _ activity: LiveActivity) throws(RenderFault) -> Rendering {
    var warnings: [RenderWarning] = []
    var faults = RenderFaults()
    var members = [JSONMember("event", .string(activity.event.rawValue))]
    var path = "/apps/\(appID)/live_activities/"
    if activity.event == .start {
      path = "/apps/\(appID)/activities/activity/" + Self.pathStep(activity.attributesType ?? "")
      if activity.activityID == nil {
        faults.add(
          RenderFault(
            pointer: "/live_activity/activity_id", code: RenderFault.requiredCode,
            detail: "onesignal: give the activity a name of your own: updates and ends are sent to it"))
      }
      members.set("activity_id", activity.activityID)
      members.set("event_attributes", .object(activity.attributes))
    }
    members.set("name", message.analyticsLabel ?? activity.activityID ?? "live_activity \(activity.event.rawValue)")
    members.set("event_updates", .object(activity.contentState))
    if let notification = message.notification {
      faults.check { () throws(RenderFault) in
        try Self.write(notification, of: activity, to: &members, &warnings)
      }
    }
    members.set("stale_date", activity.staleDate.map(JSONValue.integer))
    members.set("dismissal_date", activity.dismissalDate.map(JSONValue.integer))
    members.set("priority", message.effectivePriority == .high ? 10 : 5)
    if let score = activity.relevanceScore {
      if (0...1).contains(score) {
        members.set("ios_relevance_score", .double(score))
      } else {
        warnings.append(
          RenderWarning("/live_activity/relevance_score", "onesignal: only 0 to 1 is taken", isLeftOut: true))
      }
    }
    Self.warn(about: message, activity, &warnings)
    merge(message.overrides.oneSignal, into: &members, &faults)
    try faults.refuse()
    return Self.rendering(path, members, isOpen: activity.event == .start, warnings)
  }

  private static func write(
    _ notification: Notification, of activity: LiveActivity, to members: inout [JSONMember],
    _ warnings: inout [RenderWarning]
  ) throws(RenderFault) {
    OneSignalTexts(notification, &warnings).write(to: &members)
    if members["contents"] == nil, activity.event == .start {
      throw .textRequired("the start of an activity needs a text")
    }
    // Both are required, and a text alone is said by both.
    if activity.event == .start, members["headings"] == nil, let contents = members["contents"] {
      members.set("headings", contents)
    }
    members.set("ios_sound", notification.sound?.name)
    if notification.sound != nil, members["headings"] == nil {
      warnings.append(RenderWarning("/notification/sound", "onesignal: heard only with a title and a body"))
    }
    let keys = [
      ("title_key", notification.titleKey != nil), ("title_args", !notification.titleArgs.isEmpty),
      ("body_key", notification.bodyKey != nil), ("body_args", !notification.bodyArgs.isEmpty),
    ]
    for (field, isGiven) in keys where isGiven {
      warnings.append(
        RenderWarning(
          "/notification/\(field)", "onesignal: no keys of texts in a Live Activity; give the text itself",
          isLeftOut: true))
    }
  }

  private static func warn(
    about message: Message, _ activity: LiveActivity, _ warnings: inout [RenderWarning]
  ) {
    let absent: [(isGiven: Bool, pointer: String, note: String)] = [
      (activity.inputPushChannel != nil, "/live_activity/input_push_channel", "no field for a channel"),
      (activity.inputPushToken, "/live_activity/input_push_token", "asked for by OneSignal itself"),
      (!message.data.isEmpty, "/data", "a Live Activity carries no data beside its state"),
      (message.collapseKey != nil, "/collapse_key", "no field for it in a Live Activity"),
      (message.ttl != Message.defaultTTL, "/ttl", "no field for it in a Live Activity"),
    ]
    for (isGiven, pointer, note) in absent where isGiven {
      warnings.append(RenderWarning(pointer, "onesignal: \(note)", isLeftOut: true))
    }
    if activity.event != .start, activity.activityID != nil {
      warnings.append(
        RenderWarning("/live_activity/activity_id", "onesignal: the target names the activity, this only the call"))
    }
  }

  /// What follows the path of updates.
  static func activityPath(_ activity: String) -> String { pathStep(activity) + "/notifications" }

  /// As one step of a path: nothing in it can leave the step.
  static func pathStep(_ text: String) -> String {
    let hex = Array("0123456789ABCDEF".utf8)
    var step: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
        step.append(byte)
      // A step of dots alone would lead elsewhere.
      case UInt8(ascii: ".") where text.utf8.contains { $0 != byte }: step.append(byte)
      default: step += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
      }
    }
    return String(decoding: step, as: UTF8.self)
  }
}
