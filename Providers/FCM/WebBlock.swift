import Domain

/// `webpush`, section 3.3.
enum WebBlock {
  /// RFC 8030: a topic has at most 32 characters of base64url.
  static let topicLimit = 32
  static let buttonLimit = 2

  static func members(_ message: Message, _ notification: Notification?, _ warnings: inout [RenderWarning])
    -> [JSONMember]
  {
    let priority = message.priority ?? (message.kind == .alert ? .high : .normal)
    var headers: [JSONMember] = []
    headers.set("TTL", String(message.ttl))
    headers.set("Urgency", priority.rawValue)
    if let key = message.collapseKey, isTopic(key) { headers.set("Topic", key) }
    var members: [JSONMember] = []
    members.set("headers", members: headers)
    guard let notification else { return members }
    if !notification.buttons.isEmpty {
      let actions = notification.buttons.prefix(buttonLimit).map { button in
        var action = [JSONMember("action", .string(button.id)), JSONMember("title", .string(button.text))]
        action.set("icon", button.icon)
        return JSONValue.object(action)
      }
      members.set("notification", members: [JSONMember("actions", .array(actions))])
    }
    if let link = notification.link, link.hasPrefix("https://") {
      members.set("fcm_options", members: [JSONMember("link", .string(link))])
    }
    return members
  }

  private static func isTopic(_ key: String) -> Bool {
    (1...topicLimit).contains(key.utf8.count)
      && key.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}
