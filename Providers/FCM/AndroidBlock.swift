import Domain

/// `android`, protocols/fcm.md section 3.1.
enum AndroidBlock {
  static func members(_ message: Message, _ notification: Notification?) -> [JSONMember] {
    var members: [JSONMember] = []
    members.set("priority", message.effectivePriority == .high ? "HIGH" : "NORMAL")
    members.set("ttl", "\(message.ttl)s")
    members.set("collapse_key", message.collapseKey)
    if let notification { members.set("notification", members: shown(notification, tag: message.collapseKey)) }
    return members
  }

  /// `tag`: a newer message of the same collapse key, or a second copy, replaces what is shown.
  private static func shown(_ notification: Notification, tag: String?) -> [JSONMember] {
    var members: [JSONMember] = []
    members.set("channel_id", notification.androidChannel)
    members.set("icon", notification.icon)
    members.set("color", notification.color)
    members.set("sound", notification.sound?.name)
    members.set("tag", notification.androidTag ?? tag)
    members.set("notification_count", notification.androidCount ?? notification.badge)
    members.set("visibility", notification.androidVisibility?.rawValue.uppercased())
    members.set("ticker", notification.androidTicker)
    members.set("title_loc_key", notification.titleKey)
    members.set("title_loc_args", strings: notification.titleArgs)
    members.set("body_loc_key", notification.bodyKey)
    members.set("body_loc_args", strings: notification.bodyArgs)
    switch notification.interruptionLevel {
    case .passive: members.set("notification_priority", "PRIORITY_LOW")
    case .timeSensitive, .critical: members.set("notification_priority", "PRIORITY_MAX")
    case .active, nil: break
    }
    return members
  }
}
