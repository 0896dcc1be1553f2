import Domain

/// `webpush`, protocols/fcm.md section 3.3.
enum WebBlock {
  /// RFC 8030: a topic has at most 32 characters of base64url.
  static let buttonLimit = 2

  static func members(_ message: Message, _ notification: Notification?) -> [JSONMember] {
    var headers: [JSONMember] = []
    headers.set("TTL", String(message.ttl))
    headers.set("Urgency", message.effectivePriority.rawValue)
    if let key = message.collapseKey, WebTopic.isValid(key) { headers.set("Topic", key) }
    var members: [JSONMember] = []
    members.set("headers", members: headers)
    guard let notification else { return members }
    members.set("notification", members: shown(notification, tag: message.collapseKey))
    if let link = notification.link, isWebLink(link) {
      members.set("fcm_options", members: [JSONMember("link", .string(link))])
    }
    return members
  }

  /// FCM takes no other for browsers.
  static func isWebLink(_ link: String) -> Bool { link.lowercased().hasPrefix("https://") }

  /// What browsers show beside title, body and image, which are common to all.
  private static func shown(_ notification: Notification, tag: String?) -> [JSONMember] {
    var members: [JSONMember] = []
    let web = notification.web
    members.set("icon", web?.icon)
    members.set("badge", web?.badge)
    members.set("tag", web?.tag ?? tag)
    members.set("requireInteraction", web?.requireInteraction.map(JSONValue.bool))
    members.set("silent", web?.silent.map(JSONValue.bool))
    let actions = notification.buttons.prefix(buttonLimit).map { button in
      var action = [JSONMember("action", .string(button.id)), JSONMember("title", .string(button.text))]
      action.set("icon", button.icon)
      return JSONValue.object(action)
    }
    if !actions.isEmpty { members.set("actions", .array(Array(actions))) }
    return members
  }
}
